// A tile: the columns of sub-tables of a work group, and some rows of them. A patch is what it has
// along j and k. Needs LANES_J, LANES_K, POLLING, triples.glsl, cube.glsl and cube.glsl.
#if POLLING == 1
#define SIDES_ARE coherent volatile
#else
#define SIDES_ARE
#endif
layout(std430, binding = SIDES_BINDING) SIDES_ARE buffer Sides { Side sides[]; };
uniform int first_row, last_row;  // of all tiles of a dispatch, or of those that follow one another
uniform int first_kept;  // the row from which on there are directions

const int LANES = LANES_J * LANES_K;
const ivec2 WIDTH = ivec2(LANES_J, LANES_K) * SIDE;
Triple triple;
ivec3 tile;  // its first row, its numbers along j and k
int tile_end;

ivec2 patches() { return (ivec2(triple.m, triple.n) + WIDTH - 1) / WIDTH; }

ivec2 columns() { return patches() * ivec2(LANES_J, LANES_K); }

// Rows of sub-tables, of a triple or of those whose sides are there at once.
int whole_rows(int x) { return (x + DEEP - 1) / DEEP * DEEP; }

int side_rows() { return min(last_row, whole_rows(triple.l)) - first_row; }

bool outside() {
    return tile.x < first_row || tile.x >= tile_end || any(greaterThanEqual(tile.yz, patches()));
}

int sub_tables_in_tile() { return (tile_end - tile.x) / DEEP; }

ivec3 sub_table(int at, int J, int K) {
    return ivec3(tile.x / DEEP + at, tile.yz * ivec2(LANES_J, LANES_K) + ivec2(J, K));
}
