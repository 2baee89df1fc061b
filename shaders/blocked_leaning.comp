#version 430
// Schedule: blocked anti-diagonals of leaning tiles, for score and ends. In blocked.comp the
// invocations of a tile start and stop one after another; here a tile is STEPS steps of the sweep
// of a whole strip, a parallelogram in which all are busy. The last invocation of a strip is
// WORKGROUP - 1 steps behind its first one, so that the tiles of a dispatch are independent if each
// strip is STEPS + WORKGROUP steps behind the one above it. The state of an invocation between two
// tiles stays in lanes.
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#include "lib/leaning_sweep.glsl"
#include "lib/leaning_tiles.glsl"
#include "lib/best_of_group.glsl"
#include "lib/prune.glsl"

uniform int time;       // the step that strip 0 would begin with
uniform int first_row;  // I of the first work group
uniform int tile_rows;

void main() {
    int strip = first_row + int(gl_WorkGroupID.x), row = strip * WORKGROUP * ROWS;
    Pair pair = pair_at(0u);
    int n = pair.target_length, begin = time - strip * (STEPS + WORKGROUP);
    int stop = min(begin + STEPS, steps_over(n) + WORKGROUP - 1);
    begin = max(begin, 0);
    Lane lane = lane_at_border(pair, row + int(gl_LocalInvocationIndex) * ROWS);
    for (int r = 0; r < ROWS; ++r) lane.e[r] = floored(lane.h[r] - gap_open);
    if (begin > 0) load_lane(lane, strip);
    // Only cells that beat the best of the tiles before count.
    Best best = better(best_from(best_cells[strip]), at_least(best_cells[tile_rows].x));
    int ahead = min(pair.query_length - row, n - max(begin - WORKGROUP + 1, 0) * STEP);
    if (cannot_improve(highest_around(lane, begin, stop, n), ahead, best_cells[tile_rows].x)) {
        leave_out(lane, begin, stop, n);
    } else {
        load_scores();
        load_row_scores(lane);
        sweep(pair, 0, n, begin, stop, lane, best);
    }
    store_lane(lane, strip);
    best = best_of_group(best);
    if (gl_LocalInvocationIndex == 0u) {
        best_cells[strip] = stored(best);
        atomicMax(best_cells[tile_rows].x, best.score);
    }
}
