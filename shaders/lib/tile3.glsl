// A tile: the columns of sub-tables of a work group, ROWS cells long, and the planes that it gets
// from its neighbours. Needs WORKGROUP, LANES_J, LANES_K, ROWS and AGAIN (1: from a kept plane on),
// triples.glsl, sides3.glsl and lane3.glsl.
layout(std430, binding = SIDES_BINDING) buffer Sides { Side sides[]; };
layout(std430, binding = KEPT_BINDING) buffer Kept {
    Side kept[];  // across i, after every `spacing` tiles
};
uniform ivec3 wave;      // what the numbers of a tile add up to, and the first ones along j and k
uniform int first_tile;  // along i, of this dispatch and those around it
uniform int last_tile;
uniform int spacing;

const ivec2 WIDTH = ivec2(LANES_J, LANES_K) * SIDE;
const int PLANE = ACROSS * ACROSS * WORKGROUP;
const int DEPTH = ROWS / DEEP;  // sub-tables in a column
Triple triple;
ivec3 tile;
shared int tile_letters[ROWS];

ivec2 patches() { return (ivec2(triple.m, triple.n) + WIDTH - 1) / WIDTH; }

ivec2 columns() { return patches() * ivec2(LANES_J, LANES_K); }

int rows() { return (triple.l + ROWS - 1) / ROWS * ROWS; }

bool outside(ivec3 at) {
    return at.x > last_tile || at.x * ROWS >= triple.l || any(greaterThanEqual(at.yz, patches()));
}

int first_row() { return tile.x * ROWS; }

ivec3 sub_table(int at, int J, int K) {
    return ivec3(tile.x * DEPTH + at, tile.yz * ivec2(LANES_J, LANES_K) + ivec2(J, K));
}

void load_tile_letters() {
    for (int x = int(gl_LocalInvocationIndex); x < ROWS; x += WORKGROUP)
        tile_letters[x] = letter(triple.a, triple.l, first_row() + x);
}

int patch_number() { return tile.y * patches().y + tile.z; }

// The last plane of cells of the tile above, as each lane has left it, with those before them.
uint rolling_plane() {
    return triple.i_sides + uint(patch_number() * PLANE) + gl_LocalInvocationIndex;
}

uint kept_plane(int tiles) {
    int number = (tiles / spacing - 1) * patches().x * patches().y + patch_number();
    return triple.kept + uint(number * PLANE) + gl_LocalInvocationIndex;
}

void load_plane(inout Cell before[ACROSS * ACROSS]) {
    for (int x = 0; x < ACROSS * ACROSS; ++x) before[x] = border_cell();
    if (tile.x == 0) return;
    uint at = rolling_plane();
    if (AGAIN == 1 && tile.x == first_tile) {
        at = kept_plane(tile.x);
        for (int x = 0; x < ACROSS * ACROSS; ++x)
            before[x] = from_i(kept[at + uint(x * WORKGROUP)]);
    } else {
        for (int x = 0; x < ACROSS * ACROSS; ++x)
            before[x] = from_i(sides[at + uint(x * WORKGROUP)]);
    }
}

void store_plane(Cell before[ACROSS * ACROSS]) {
    uint at = rolling_plane();
    for (int x = 0; x < ACROSS * ACROSS; ++x) sides[at + uint(x * WORKGROUP)] = i_side(before[x]);
    if (AGAIN == 1 || (tile.x + 1) % spacing != 0) return;
    at = kept_plane(tile.x + 1);
    for (int x = 0; x < ACROSS * ACROSS; ++x) kept[at + uint(x * WORKGROUP)] = i_side(before[x]);
}
