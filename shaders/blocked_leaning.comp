#version 430
// Schedule: blocked anti-diagonals of leaning tiles, for score and ends. In blocked.comp the
// invocations of a tile start and stop one after another; here a tile is STEPS steps of the sweep
// of a whole strip, a parallelogram in which all are busy. The row above it comes from the tiles J
// and J + 1 of the strip above (STEPS >= WORKGROUP), so those with J + 2 I = block_diagonal are
// independent. The state of an invocation between two tiles stays in lanes.
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#include "lib/directions.glsl"
#include "lib/sweep.glsl"
#include "lib/best_of_group.glsl"

layout(std430, binding = ROW_ABOVE_BINDING) buffer RowAbove {
    ivec2 row_above[];  // H, F above strip I, column j
};
layout(std430, binding = BEST_BINDING) buffer BestCells {
    ivec4 best_cells[];  // of strip I; then the score to beat
};
layout(std430, binding = COLUMN_LEFT_BINDING) buffer Lanes { ivec2 lanes[]; };
uniform int block_diagonal;
uniform int first_row;  // I of the first work group
uniform int tile_rows;

ivec2 above_strip(int j) { return row_above[j]; }

void below_strip(int j, ivec2 hf) { row_above[j] = hf; }

uint direction_place(int j) { return 0u; }

void main() {
    int t = int(gl_LocalInvocationIndex), strip = first_row + int(gl_WorkGroupID.x);
    Pair pair = pair_at(0u);
    int n = pair.target_length, begin = (block_diagonal - 2 * strip) * STEPS;
    int place = (strip * WORKGROUP + t) * (ROWS + STEP + 1);
    Lane lane = lane_at_border(pair, (strip * WORKGROUP + t) * ROWS);
    if (begin > 0) {
        for (int r = 0; r < ROWS; ++r) {
            lane.h[r] = lanes[place + r].x;
            lane.e[r] = lanes[place + r].y;
        }
        for (int c = 0; c < STEP; ++c) lane.below[c] = lanes[place + ROWS + c];
        lane.corner = lanes[place + ROWS + STEP].x;
    }
    load_scores();
    // Only cells that beat the best of the tiles before count.
    Best best = better(best_from(best_cells[strip]), at_least(best_cells[tile_rows].x));
    sweep(pair, 0, n, begin, min(begin + STEPS, steps_over(n) + WORKGROUP - 1), lane, best);
    for (int r = 0; r < ROWS; ++r) lanes[place + r] = ivec2(lane.h[r], lane.e[r]);
    for (int c = 0; c < STEP; ++c) lanes[place + ROWS + c] = lane.below[c];
    lanes[place + ROWS + STEP].x = lane.corner;
    best = best_of_group(best);
    if (t == 0) {
        best_cells[strip] = stored(best);
        atomicMax(best_cells[tile_rows].x, best.score);
    }
}
