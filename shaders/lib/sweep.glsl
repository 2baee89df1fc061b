// A strip of WORKGROUP x ROWS rows moves over columns, an anti-diagonal of invocations a step
// (Aymone 2022, section IV): invocation t has ROWS rows, and at step k the STEP columns from
// first + (k - t) * STEP on. Of the three rolling anti-diagonals it keeps its own part of k - 1 (h,
// e) and what it has seen of k - 2 (corner) in registers, and reads the last row of the invocation
// above in shared memory. Columns after the last one, which a step computes too, are never read.
// Needs pairs.glsl, scoring.glsl, recurrence.glsl, best.glsl and directions.glsl, and definitions
// of these: H and F of column j above the strip, where those of its last row go, and the position
// of the direction word of column j.
ivec2 above_strip(int j);
void below_strip(int j, ivec2 hf);
uint direction_place(int j);

#include "lib/mask.glsl"
#include "lib/span.glsl"
#include "lib/lane.glsl"
#include "lib/best_of_step.glsl"
#include "lib/windows.glsl"

shared int to_beat;  // the best score of the work group so far, at least 1

// Steps begin ... stop - 1 of a sweep over columns first ... end - 1; `begin` is a multiple of
// WORKGROUP, and if it is not 0 the lane is as the steps before have left it.
void sweep(Pair pair, int first, int end, int begin, int stop, inout Lane lane, inout Best best) {
    int t = int(gl_LocalInvocationIndex), steps = steps_over(end - first);
    Step aside;
    aside.score = 0;
    if (t == 0) to_beat = max(best.score, 1);
    Windows windows = first_windows(pair, first, end, begin, lane);
    Forbidden next_forbidden = forbidden_from(pair, lane.row, first);
    for (int k = begin; k < stop; ++k) {
        if ((k & (WORKGROUP - 1)) == 0) next_windows(windows, pair, first, end, k);
        if (uint(k - t) < uint(steps)) {
            int at = (k - t) * STEP, place = t == 0 ? above_place(k) : below_place(k - 1, t - 1);
            int highest = to_beat - 1, ended[STEP * ROWS];
            uint words[STEP];
            ivec2 top[STEP];
            for (int c = 0; c < STEP; ++c) top[c] = above[place + c];
            for (int c = 0; c < STEP; ++c) {
                int j = first + at + c, letter = letter_at(k - t, c);
                Cell up = upper_cell(top[c].x, top[c].y), diagonal = upper_cell(lane.corner, 0);
                lane.corner = top[c].x;
                words[c] = 0u;
                for (int r = 0; r < ROWS; ++r) {
                    Cell left = left_cell(lane.h[r], lane.e[r]);
                    at_row(lane.costs[r]);
                    int s = unless_forbidden(next_forbidden, r, j, score(lane.letters[r], letter));
                    Cell here = cell(diagonal, left, up, s);
                    int last = last_here(pair, here, lane.row + r, j);
                    ended[c * ROWS + r] = last;
                    highest = max(highest, last);
                    note(words[c], r, here, left, up);
                    lane.h[r] = here.h;
                    lane.e[r] = here.e;
                    diagonal = left;
                    up = here;
                }
                lane.below[c] = ivec2(up.h, up.f);
            }
            for (int c = 0; c < STEP; ++c) {
                int j = first + at + c;
                above[below_place(k, t) + c] = lane.below[c];
                if (t == WORKGROUP - 1 && j < end) below_strip(j, lane.below[c]);
                keep(j < end, direction_place(j), words[c]);
            }
            if (highest >= to_beat) {
                Step here = Step(highest, first + at, ended);
                atomicMax(to_beat, take_step(best, aside, here, lane, end));
            }
        }
        barrier();
    }
#ifdef ENDS
    if (aside.score > 0) best = best_of_cells(best, aside, lane, end);
#endif
}
