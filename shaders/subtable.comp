#version 430
// Schedule: sub-tables of DEEP x SIDE x SIDE cells (Sudo et al. 2012, section 6.4, "GPUI": 4 each).
// An invocation computes a column of them along i, one after the other. A work group has LANES_J x
// LANES_K columns; the sub-tables (I, J, K) with I + J + K = `now` are computed together, and their
// sides are handed on in shared memory. A work group does DEPTH sub-tables of each column, a tile;
// a dispatch computes the tiles whose three numbers add up to `wave`. Between tiles only sides are
// kept, which are planes of the table.
layout(local_size_x = WORKGROUP) in;
#include "lib/triples.glsl"
#include "lib/recurrence3.glsl"
#include "lib/ends3.glsl"
#include "lib/sides3.glsl"
#include "lib/scoring3.glsl"
#include "lib/best3.glsl"
#include "lib/directions3.glsl"
#include "lib/mask3.glsl"
#include "lib/lane3.glsl"
#include "lib/tile3.glsl"
#include "lib/tile3_sides.glsl"
#include "lib/tile3_results.glsl"

void main() {
    int t = int(gl_LocalInvocationIndex), J = t / LANES_K, K = t % LANES_K;
    triple = triples[gl_WorkGroupID.z];
    tile = ivec3(0, wave.yz + ivec2(gl_WorkGroupID.xy));
    tile.x = first_tile + wave.x - tile.y - tile.z;
    if (tile.x < first_tile || outside(tile)) return;
    load_scores();
    load_tile_letters();
    load_sides();
    Lane lane = lane_at(triple, (tile.y * LANES_J + J) * SIDE, (tile.z * LANES_K + K) * SIDE);
    Cell before[ACROSS * ACROSS], here[ACROSS * ACROSS];
    load_plane(before);
    Best best = best_of_tiles_above();
    barrier();
    for (int now = 0; now < DEPTH + LANES_J + LANES_K - 2; ++now) {
        int at = now - J - K;
        if (uint(at) < uint(DEPTH)) {
            int highest = 0;
            uint words[WORDS];
            for (int w = 0; w < WORDS; ++w) words[w] = 0u;
            load_mask(triple.mask, sub_table(at, J, K), columns());
            for (int x = 0; x < DEEP; ++x) {
                int row = at * DEEP + x;
                load_borders(here, now, J, K, row);
                int ahead = triple.l - first_row() - row;
                int found = next_plane(lane, tile_letters[row], x, ahead, before, here, words);
                highest = max(highest, found);
                store_borders(here, now, J, K, row);
                store_cells(lane, first_row() + row, here);
                before = here;
            }
            if (highest >= best.x * NUMBERS)
                best = better(best, best_of(highest, first_row() + at * DEEP, lane.j, lane.k));
            keep(words, at, J, K);
        }
        barrier();
    }
    store_plane(before);
    store_sides();
    store_best(best);
}
