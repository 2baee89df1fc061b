// The sweep of sweep.glsl for score and ends alone, in fewer operations: E and F are those of the
// next column and row, and open from x = max(M, E) (recurrence_column.glsl). Where gaps along the
// row cost something, no E is the best score, so that x is as good as M to find it.
// Needs pairs.glsl, scoring.glsl, recurrence.glsl and best.glsl, and definitions of these: H and F
// of column j above the strip, and where those of columns j to j + STEP - 1 of its last row go.
ivec2 above_strip(int j);
void below_strip(int j, int end, ivec2 hf[STEP]);

#define NUMBER 0
#define SHORT_CHAIN
#include "lib/number.glsl"
#include "lib/recurrence_column.glsl"
#include "lib/span.glsl"
#include "lib/lane.glsl"
#include "lib/row_scores.glsl"
#include "lib/best_of_step.glsl"
#include "lib/windows.glsl"

shared int to_beat;  // the best score of the work group so far, at least 1

// Steps begin ... stop - 1 of a sweep over columns first ... end - 1; `begin` is a multiple of
// WORKGROUP, and if it is not 0 the lane is as the steps before have left it.
void sweep(Pair pair, int first, int end, int begin, int stop, inout Lane lane, inout Best best) {
    int t = int(gl_LocalInvocationIndex), steps = steps_over(end - first);
    Costs costs = costs();
    Step aside;
    aside.score = 0;
    if (t == 0) to_beat = max(best.score, 1);
    Windows windows = first_windows(pair, first, end, begin, lane);
    for (int k = begin; k < stop; ++k) {
        if ((k & (WORKGROUP - 1)) == 0) next_windows(windows, pair, first, end, k);
        if (uint(k - t) < uint(steps)) {
            int at = first + (k - t) * STEP, place = t == 0 ? above_place(k) : below_place(k - 1, t - 1);
            int highest = 0, ended[STEP * ROWS], diagonal[STEP], f[STEP], beat = to_beat;
            RowScores scores[STEP];
            for (int c = 0; c < STEP; ++c) {
                ivec2 top = above[place + c];
                diagonal[c] = lane.corner;
                lane.corner = top.x;
                f[c] = top.y;
                scores[c] = row_scores_with(letter_at(k - t, c));
            }
            for (int r = 0; r < ROWS; ++r)
                for (int c = 0; c < STEP; ++c) {
                    int x = aligned(diagonal[c] + row_score(lane, scores[c], r), lane.e[r]);
                    diagonal[c] = lane.h[r];
                    finish_row(lane.h[r], lane.e[r], f[c], x, costs);
                    lane.below[c] = ivec2(lane.h[r], f[c]);
                    Cell here = Cell(lane.h[r], 0, 0, x, x);
                    ended[c * ROWS + r] = last_here(pair, here, lane.row + r, at + c);
                    highest = max(highest, ended[c * ROWS + r]);
                }
            for (int c = 0; c < STEP; ++c) above[below_place(k, t) + c] = lane.below[c];
            if (t == WORKGROUP - 1) below_strip(at, end, lane.below);
            if (highest >= beat) {
                Step here = Step(highest, at, ended);
                atomicMax(to_beat, take_step(best, aside, here, lane, end));
            }
        }
        barrier();
    }
#ifdef ENDS
    if (aside.score > 0) best = best_of_cells(best, aside, lane, end);
#endif
}
