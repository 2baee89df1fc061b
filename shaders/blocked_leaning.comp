#version 430
// Schedule: blocked anti-diagonals of leaning tiles, for score and ends. In blocked.comp the
// invocations of a tile start and stop one after another; here a tile is STEPS steps of the sweep
// of a whole strip, a parallelogram in which all are busy. The last invocation of a strip is
// WORKGROUP - 1 steps behind its first one, so that the tiles of a dispatch are independent if each
// strip is STEPS + WORKGROUP steps behind the one above it. The state of an invocation between two
// tiles stays in lanes. Several pairs are computed at once, each with its part of the buffers.
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#include "lib/leaning.glsl"
#include "lib/prune.glsl"

uniform int time;       // the step that strip 0 would begin with
uniform int first_row;  // I of the first work group
uniform int tile_rows;
uniform int row_size;  // columns of the longest target
int row_at, best_at;   // where the parts of the pair begin

layout(std430, binding = ROW_ABOVE_BINDING) buffer RowAbove {
    ivec2 row_above[];  // H above strip I, and F of its first row, column j
};
layout(std430, binding = BEST_BINDING) buffer BestCells {
    ivec4 best_cells[];  // of strip I, then the score to beat
};
layout(std430, binding = COLUMN_LEFT_BINDING) buffer Lanes { ivec2 lanes[]; };

ivec2 above_strip(int j) { return row_above[row_at + j]; }

void below_strip(int j, int end, ivec2 hf[STEP]) {
    for (int c = 0; c < STEP; ++c)
        if (j + c < end) row_above[row_at + j + c] = hf[c];
}

int place_of_lane(int strip) {
    int lane = (int(gl_WorkGroupID.y) * tile_rows + strip) * WORKGROUP;
    return (lane + int(gl_LocalInvocationIndex)) * (ROWS + STEP + 1);
}

void load_lane(inout Lane lane, int strip) {
    int place = place_of_lane(strip);
    for (int r = 0; r < ROWS; ++r) {
        lane.h[r] = lanes[place + r].x;
        lane.e[r] = lanes[place + r].y;
    }
    for (int c = 0; c < STEP; ++c) lane.below[c] = lanes[place + ROWS + c];
    lane.corner = lanes[place + ROWS + STEP].x;
}

void store_lane(Lane lane, int strip) {
    int place = place_of_lane(strip);
    for (int r = 0; r < ROWS; ++r) lanes[place + r] = ivec2(lane.h[r], lane.e[r]);
    for (int c = 0; c < STEP; ++c) lanes[place + ROWS + c] = lane.below[c];
    lanes[place + ROWS + STEP].x = lane.corner;
}

// The highest H from which a path comes into the tile of steps begin ... stop - 1.
int highest_around(Lane lane, int begin, int stop, int end) {
    int highest = lane.corner;
    for (int r = 0; r < ROWS; ++r) highest = max(highest, lane.h[r]);
    for (int c = 0; c < STEP; ++c) highest = max(highest, lane.below[c].x);
    int j = begin * STEP + int(gl_LocalInvocationIndex);
    for (; j < min(stop * STEP, end); j += WORKGROUP)
        highest = max(highest, above_strip(j).x);
    return highest;
}

// Leave a tile as if all its cells were 0, the lowest that H can be.
void leave_out(inout Lane lane, int begin, int stop, int end) {
    lane.corner = 0;
    for (int r = 0; r < ROWS; ++r) lane.h[r] = lane.e[r] = 0;
    for (int c = 0; c < STEP; ++c) lane.below[c] = ivec2(0);
    int j = max(begin - WORKGROUP + 1, 0) * STEP + int(gl_LocalInvocationIndex);
    for (; j < min((stop - WORKGROUP + 1) * STEP, end); j += WORKGROUP) row_above[row_at + j] = ivec2(0);
}

void main() {
    int strip = first_row + int(gl_WorkGroupID.x), row = strip * WORKGROUP * ROWS;
    Pair pair = pair_at(gl_WorkGroupID.y);
    int n = pair.target_length, begin = time - strip * (STEPS + WORKGROUP);
    int stop = min(begin + STEPS, steps_over(n) + WORKGROUP - 1);
    if (row >= pair.query_length || begin >= stop) return;  // a smaller pair than others
    begin = max(begin, 0);
    row_at = int(gl_WorkGroupID.y) * row_size;
    best_at = int(gl_WorkGroupID.y) * (tile_rows + 1);
    Lane lane = leaning_lane_at_border(pair, row + int(gl_LocalInvocationIndex) * ROWS);
    if (begin > 0) load_lane(lane, strip);
    // Only cells that beat the best of the tiles before count.
    int to_exceed = best_at + tile_rows, own = best_at + strip;
    Best best = better(best_from(best_cells[own]), at_least(best_cells[to_exceed].x));
    int ahead = min(pair.query_length - row, n - max(begin - WORKGROUP + 1, 0) * STEP);
    if (cannot_improve(highest_around(lane, begin, stop, n), ahead, best_cells[to_exceed].x)) {
        leave_out(lane, begin, stop, n);
    } else {
        load_scores();
        load_row_scores(lane);
        sweep(pair, 0, n, begin, stop, lane, best);
    }
    store_lane(lane, strip);
    best = best_of_group(best);
    if (gl_LocalInvocationIndex == 0u) {
        best_cells[own] = stored(best);
        atomicMax(best_cells[to_exceed].x, best.score);
    }
}
