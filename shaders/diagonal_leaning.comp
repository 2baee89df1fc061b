#version 430
// Schedule: that of diagonal.comp, for score and ends alone, by the cells of leaning.glsl: a work
// group per pair, strip by strip. The loop over the anti-diagonals is sweep() of sweep.glsl.
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#include "lib/leaning.glsl"

layout(std430, binding = ROW_ABOVE_BINDING) buffer RowAbove { ivec2 row_above[]; };
layout(std430, binding = BEST_BINDING) buffer BestCells { ivec4 best_cells[]; };
uniform int first_pair;
uniform int next_strip;

Pair pair;

ivec2 above_strip(int j) {
    if (next_strip > 0) return row_above[pair.row_above + uint(j)];
    int h = above_of(pair, j);
    return ivec2(h, max(h - insertion_open, 0));
}

void below_strip(int j, int end, ivec2 hf[STEP]) {
    for (int c = 0; c < STEP; ++c)
        if (j + c < end) row_above[pair.row_above + uint(j + c)] = hf[c];
}

void main() {
    uint p = gl_WorkGroupID.x + uint(first_pair);
    pair = pair_at(p);
    int t = int(gl_LocalInvocationIndex), row = (next_strip * WORKGROUP + t) * ROWS;
    int n = pair.target_length;
    load_scores();
    Best best = best_from(best_cells[p]);
    if (row - t * ROWS < pair.query_length) {
        Lane lane = leaning_lane_at_border(pair, row);
        sweep(pair, 0, n, 0, steps_over(n) + WORKGROUP - 1, lane, best);
    }
    best = best_of_group(best);
    if (t == 0) best_cells[p] = stored(best);
}
