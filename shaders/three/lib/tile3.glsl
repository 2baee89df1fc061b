// A tile: the columns of sub-tables of a work group, LANES_J x LANES_K, and some rows of them. A
// patch is what it has along j and k. What is the same whether tiles wait for one another or not:
// where they are, their sides in shared memory, and what they leave. Needs `sides`, HELD: at
// least the cells of a plane, and COMING: steps whose sides from tiles before are in shared memory.
#include "three/lib/cube.glsl"

const int LANES = LANES_J * LANES_K;
const ivec2 WIDTH = ivec2(LANES_J, LANES_K) * SIDE;
uniform int first_row, last_row;  // of all tiles of a dispatch, or of those that follow one another
uniform int first_kept;  // the row from which on there are directions
uniform ivec2 kept_number;  // of the planes to begin with and to keep, -1: none
Triple triple;
ivec3 tile;  // its first row, its numbers along j and k
int tile_end;

ivec2 patches() { return (ivec2(triple.m, triple.n) + WIDTH - 1) / WIDTH; }

int patch_number() { return tile.y * patches().y + tile.z; }

ivec2 columns() { return patches() * ivec2(LANES_J, LANES_K); }

// Rows of sub-tables, of a triple or of those whose sides are there at once.
int side_rows() { return min(last_row, (triple.l + DEEP - 1) / DEEP * DEEP) - first_row; }

bool outside() {
    return tile.x < first_row || tile.x >= tile_end || any(greaterThanEqual(tile.yz, patches()));
}

int sub_tables_in_tile() { return (tile_end - tile.x) / DEEP; }

ivec3 sub_table(int I, int J, int K) {
    return ivec3(tile.x / DEEP + I, tile.yz * ivec2(LANES_J, LANES_K) + ivec2(J, K));
}

// Sides in shared memory: those that come from tiles before, and those that lanes leave, of this
// step and the one before. A row has the sides that a lane hands to the next one, of all lanes side
// by side; along j also that of the neighbouring cell.
const int J_WORDS = (ACROSS + PER_WORD - 1) / PER_WORD, K_WORDS = (SIDE + PER_WORD - 1) / PER_WORD;
const int J_ROW = J_WORDS * LANES_K, K_ROW = K_WORDS * LANES_J;
const int J_STEP = DEEP * J_ROW, K_STEP = DEEP * K_ROW;
const int K_LANE = K_ROW + 32 / LANES_K;  // lanes use other banks of memory
const int K_COMING = COMING * J_STEP, J_BETWEEN = K_COMING + COMING * K_STEP;
const int K_BETWEEN = J_BETWEEN + 2 * LANES_J * J_STEP;
shared Side lane_sides[K_BETWEEN + 2 * DEEP * LANES_K * K_LANE];

int j_between(int J, int now, int x) {
    return J_BETWEEN + (((now & 1) * DEEP + x) * LANES_J + J) * J_ROW;
}

int k_between(int K, int now, int x) {
    return K_BETWEEN + (((now & 1) * DEEP + x) * LANES_K + K) * K_LANE;
}

void fill_sides() {
    for (int x = int(gl_LocalInvocationIndex); x < lane_sides.length(); x += WORKGROUP)
        lane_sides[x] = j_side(border_cell());
}

void load_borders(inout Cell here[HELD], int j, int k) {
    Side j_words[J_WORDS], k_words[K_WORDS];
    for (int w = 0; w < J_WORDS; ++w) j_words[w] = lane_sides[j + w * LANES_K];
    for (int w = 0; w < K_WORDS; ++w) k_words[w] = lane_sides[k + w * LANES_J];
    for (int z = 0; z < ACROSS; ++z) here[z] = from_j(part(j_words[z / PER_WORD], z % PER_WORD));
    for (int y = 0; y < SIDE; ++y)
        here[(y + 1) * ACROSS] = from_k(part(k_words[y / PER_WORD], y % PER_WORD));
}

void store_borders(Cell here[HELD], int j, int k) {
    for (int w = 0; w < J_WORDS; ++w) {
        int z = w * PER_WORD, next = min(z + 1, ACROSS - 1);
        Cell first = here[SIDE * ACROSS + z];
        lane_sides[j + w * LANES_K] = joined(j_side(for_side(first, true, z > 0)),
                                             j_side(here[SIDE * ACROSS + next]));
    }
    for (int w = 0; w < K_WORDS; ++w) {
        int y = w * PER_WORD, next = min(y + 1, SIDE - 1);
        lane_sides[k + w * LANES_J] =
            joined(k_side(here[(y + 1) * ACROSS + SIDE]), k_side(here[(next + 1) * ACROSS + SIDE]));
    }
}

// Planes of cells across i, which a tile gets from the one above it, as each lane has left them:
// the last ones, and those that are kept. With AGAIN 1 it begins with a kept one.
layout(std430, binding = KEPT_BINDING) buffer Kept { Side kept[]; };
const int PLANE = ACROSS * ACROSS * LANES;

uint plane_place(int number) {
    return uint((number * patches().x * patches().y + patch_number()) * PLANE) +
           gl_LocalInvocationIndex;
}

// The part of a cell that the next plane needs, so that the rest takes no registers.
Cell in_plane(int x, Cell c) { return on_border(c, x >= ACROSS, x % ACROSS > 0); }

void load_plane(inout Cell before[HELD]) {
    for (int x = 0; x < ACROSS * ACROSS; ++x) before[x] = in_plane(x, border_cell());
    if (tile.x == 0) return;
    if (AGAIN == 1 && tile.x == first_kept) {
        uint at = triple.kept + plane_place(kept_number.x);
        for (int x = 0; x < ACROSS * ACROSS; ++x)
            before[x] = in_plane(x, from_i(kept[at + uint(x * LANES)]));
    } else {
        uint at = triple.i_sides + plane_place(0);
        for (int x = 0; x < ACROSS * ACROSS; ++x)
            before[x] = in_plane(x, from_i(sides[at + uint(x * LANES)]));
    }
}

void store_plane(Cell before[HELD]) {
    uint at = triple.i_sides + plane_place(0);
    for (int x = 0; x < ACROSS * ACROSS; ++x)
        sides[at + uint(x * LANES)] = i_side(for_side(before[x], x >= ACROSS, x % ACROSS > 0));
    if (kept_number.y < 0 || tile_end != last_row) return;
    at = triple.kept + plane_place(kept_number.y);
    for (int x = 0; x < ACROSS * ACROSS; ++x)
        kept[at + uint(x * LANES)] = i_side(for_side(before[x], x >= ACROSS, x % ACROSS > 0));
}

// The best cell of a tile, and of those above it.
shared Best candidates[LANES];

uint best_place() { return triple.best + uint(patch_number()); }

Best best_of_tiles_above() { return tile.x == 0 ? NOTHING : best_cells[best_place()]; }

// Every invocation calls it.
void store_best(Best mine) {
    int t = int(gl_LocalInvocationIndex);
    if (t < LANES) candidates[t] = mine;
    barrier();
    for (int half_size = LANES / 2; half_size > 0; half_size /= 2) {
        if (t < half_size) candidates[t] = better(candidates[t], candidates[t + half_size]);
        barrier();
    }
    if (t == 0) best_cells[best_place()] = candidates[0];
}

// With DIRECTIONS those of each sub-table from row first_kept on, with TABLE H of each cell.
layout(std430, binding = DIRECTIONS_BINDING) writeonly buffer Found { uint found[]; };

void store_directions(uint words[WORDS], ivec3 place) {
    place.x -= first_kept / DEEP;
    for (int w = 0; w < WORDS && DIRECTIONS == 1; ++w)
        found[triple.directions + word_place(place.x, place.y, place.z, w, WORDS, columns())] =
            words[w];
}

void store_table(Lane lane, int i, Cell here[HELD]) {
    for (int x = 0; x < SIDE * SIDE && TABLE == 1; ++x) {
        int j = lane.j + x / SIDE, k = lane.k + x % SIDE;
        if (i < triple.l && j < triple.m && k < triple.n)
            found[uint(((i - first_kept) * triple.m + j) * triple.n + k)] =
                uint(here[(x / SIDE + 1) * ACROSS + x % SIDE + 1].h);
    }
}
