#version 430
// Schedule: sub-tables of DEEP x SIDE x SIDE cells (Sudo et al. 2012, section 6.4, "GPUI": 4 each).
// An invocation computes a column of them along i, one after the other. A work group has LANES_J x
// LANES_K columns; the sub-tables (I, J, K) with I + J + K = `now` are computed together, and their
// sides are handed on in shared memory. A work group does the sub-tables of some rows, a tile, and
// hands its sides to the work groups behind it. These wait for each side (POLLING), so that one
// dispatch computes all tiles of some rows; or there is a dispatch for all tiles that do not need
// one another. Between dispatches only sides are kept, which are planes of the table.
layout(local_size_x = WORKGROUP) in;
#include "lib/triples.glsl"
#include "lib/recurrence3.glsl"
#include "lib/cube.glsl"
#include "lib/tile3.glsl"
#include "lib/tile3_order.glsl"
#include "lib/tile3_planes.glsl"
#include "lib/tile3_sides.glsl"
#include "lib/tile3_places.glsl"
#include "lib/tile3_bringing.glsl"
#include "lib/tile3_results.glsl"

void main() {
    int t = int(gl_LocalInvocationIndex), J = t / LANES_K, K = t % LANES_K;
    take_tile();
    if (outside()) return;
    int taker = t - FIRST_TAKER, giver = t - FIRST_GIVER, sub_tables = sub_tables_in_tile();
    bool takes = uint(taker) < uint(HELPERS), gives = uint(giver) < uint(HELPERS);
    in_vain = false;
    load_scores();
    fill_sides();
    find_places();
    barrier();
    Cell before[HELD], here[HELD];
    if (takes) begin_bringing(before, taker);
    barrier();
    Lane lane = lane_at(triple, (tile.y * LANES_J + J) * SIDE, (tile.z * LANES_K + K) * SIDE);
    Best best = best_of_tiles_above();
    if (t < LANES) load_plane(before);
    int now = 0, steps = sub_tables + LANES_J + LANES_K - 2 + POLLING;
    for (; now < steps; ++now) {
        int at = t < LANES ? now - J - K : -1;
        bool computes = uint(at) < uint(sub_tables);
        if (POLLING == 1 && gives) pass_on(giver, now);
        if (computes) {
            int highest = 0;
            uint words[WORDS];
            for (int w = 0; w < WORDS; ++w) words[w] = 0u;
            load_mask(triple.mask, sub_table(at, J, K), columns());
            for (int x = 0; x < DEEP; ++x) {
                int row = at * DEEP + x;
                RowScores scores = row_scores(lane, letter_of_row(row));
                int ahead = triple.l - tile.x - row;
                load_borders(here, now, J, K, x);
                highest = max(highest, next_plane(lane, scores, x, ahead, before, here, words));
                store_borders(here, now, J, K, x);
                store_cells(lane, tile.x + row, here);
                before = here;
            }
            if (highest >= max(best.x, 1) * NUMBERS)
                best = better(best, best_of(highest, tile.x + at * DEEP, lane.j, lane.k));
            keep(words, at, J, K);
        }
        if (takes) bring(before, taker, now);
        barrier();
    }
    if (now < steps) in_vain = true;  // a driver ends loops
    if (t < LANES) store_plane(before);
    store_sides();
    store_best(best);
}
