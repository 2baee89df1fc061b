#version 430
// Schedule: sub-tables (Sudo et al. 2012, section 6.4, "GPUI"). The table is divided into
// sub-tables of DEEP x SIDE x SIDE cells (section 6.4.2, figure 11: 4 x 4 x 4). An invocation, the
// paper's thread, computes a row of them along i, one after the other (section 6.4.1, figure 9); a
// work group, its block, has LANES_J x LANES_K of these rows, so that blocks lie on a plane across
// i (figure 10). A work group computes together the sub-tables (I, J, K) with I + J + K = `now`,
// and a dispatch the tiles whose numbers add up to `wave.x`: a tile has TILE_ROWS of the rows of
// cells, where the paper has all. A plane of cells is in registers. Shared memory has, instead of
// whole sub-tables, their sides: these are all that the next ones need, and all that is kept
// between dispatches.
layout(local_size_x = WORKGROUP) in;
#include "three/lib/triples.glsl"
#include "three/lib/recurrence3.glsl"
#include "three/lib/cube.glsl"

layout(std430, binding = SIDES_BINDING) buffer Sides { Side sides[]; };
const int HELD = ACROSS * ACROSS, COMING = TILE_ROWS / DEEP + max(LANES_J, LANES_K) - 1;
#include "three/lib/tile3.glsl"

uniform ivec3 wave;  // what the numbers of a tile add up to, and the first ones along j and k
shared int letters_of_rows[TILE_ROWS];

// Figure 10: a block runs in the step that its numbers add up to.
void take_tile() {
    triple = triples[gl_WorkGroupID.z];
    tile.yz = wave.yz + ivec2(gl_WorkGroupID.xy);
    tile.x = first_row + (wave.x - tile.y - tile.z) * TILE_ROWS;
    tile_end = min(tile.x + TILE_ROWS, first_row + side_rows());
}

// Sides of a tile along j and k come from places where it leaves its own for the next tile.
const int J_TILE = (TILE_ROWS / DEEP + LANES_K - 1) * J_STEP;
const int K_TILE = (TILE_ROWS / DEEP + LANES_J - 1) * K_STEP;

ivec2 side_places() {
    ivec2 number = (tile.x - first_row) / TILE_ROWS * patches().yx + tile.zy;
    return ivec2(triple.j_sides, triple.k_sides) + number * ivec2(J_TILE, K_TILE);
}

void load_sides() {
    int t = int(gl_LocalInvocationIndex);
    ivec2 at = side_places();
    for (int x = t; x < J_TILE && tile.y > 0; x += LANES) lane_sides[x] = sides[at.x + x];
    for (int x = t; x < K_TILE && tile.z > 0; x += LANES) lane_sides[K_COMING + x] = sides[at.y + x];
    for (int x = t; x < TILE_ROWS; x += LANES)
        letters_of_rows[x] = letter(triple.a, triple.l, tile.x + x);
}

void store_sides() {
    int t = int(gl_LocalInvocationIndex);
    ivec2 at = side_places();
    for (int x = t; x < J_TILE; x += LANES) sides[at.x + x] = lane_sides[x];
    for (int x = t; x < K_TILE; x += LANES) sides[at.y + x] = lane_sides[K_COMING + x];
}

// Where the sides of row x of a sub-table come from, and where it leaves them: the last lanes leave
// theirs where the first ones got theirs, for the next tile.
ivec2 sides_before(int I, int J, int K, int x) {
    int now = I + J + K, j = ((I + K) * DEEP + x) * J_ROW, k = ((I + J) * DEEP + x) * K_ROW;
    return ivec2(K + (J == 0 ? j : j_between(J - 1, now - 1, x)),
                 J + (K == 0 ? K_COMING + k : k_between(K - 1, now - 1, x)));
}

ivec2 sides_behind(int I, int J, int K, int x) {
    int now = I + J + K, j = ((I + K) * DEEP + x) * J_ROW, k = ((I + J) * DEEP + x) * K_ROW;
    return ivec2(K + (J == LANES_J - 1 ? j : j_between(J, now, x)),
                 J + (K == LANES_K - 1 ? K_COMING + k : k_between(K, now, x)));
}

// Figure 11: the cells of sub-table (I, J, K), plane after plane, each from its seven neighbours
// (figure 7). On entry `before` is the plane above the sub-table, on return its last plane. Returns
// the best cell.
Best compute(int I, int J, int K, Lane lane, inout Cell before[HELD], Best best) {
    Cell here[HELD];
    uint words[WORDS];
    int highest = 0;
    for (int w = 0; w < WORDS; ++w) words[w] = 0u;
    load_mask(triple.mask, sub_table(I, J, K), columns());
    for (int x = 0; x < DEEP; ++x) {
        int row = I * DEEP + x, i = tile.x + row;
        RowScores scores = row_scores(lane, letters_of_rows[row]);
        ivec2 from = sides_before(I, J, K, x), to = sides_behind(I, J, K, x);
        load_borders(here, from.x, from.y);
        for (int y = 0; y < SIDE; ++y) {
            for (int z = 0; z < SIDE; ++z) {
                int at = (y + 1) * ACROSS + z + 1, j = at - ACROSS;  // one back along j
                here[at] = next_cell(lane, scores, triple.l - i, x, y, z, before[j - 1], before[j],
                                     before[at - 1], here[j - 1], before[at], here[j],
                                     here[at - 1], words, highest);
            }
        }
        store_borders(here, to.x, to.y);
        store_table(lane, i, here);
        before = here;
    }
    store_directions(words, sub_table(I, J, K));
    bool higher = highest >= max(best.x, 1) * NUMBERS;
    return higher ? better(best, best_of(highest, tile.x + I * DEEP, lane.j, lane.k)) : best;
}

void main() {
    int t = int(gl_LocalInvocationIndex), J = t / LANES_K, K = t % LANES_K;
    take_tile();
    if (outside()) return;
    load_scores();
    fill_sides();
    barrier();
    load_sides();
    barrier();
    Lane lane = lane_at(triple, (tile.y * LANES_J + J) * SIDE, (tile.z * LANES_K + K) * SIDE);
    Best best = best_of_tiles_above();
    Cell before[HELD];
    load_plane(before);
    int sub_tables = sub_tables_in_tile();
    for (int now = 0; now < sub_tables + LANES_J + LANES_K - 2; ++now) {  // a step of figure 9
        int I = now - J - K;
        if (uint(I) < uint(sub_tables)) best = compute(I, J, K, lane, before, best);
        barrier();
    }
    store_plane(before);
    store_sides();
    store_best(best);
}
