// A strip of WORKGROUP x ROWS rows moves over columns, an anti-diagonal of invocations a step
// (Aymone 2022, section IV): invocation t has ROWS rows, and at step k the STEP columns from
// first + (k - t) * STEP on. Of the three rolling anti-diagonals it keeps its own part of k - 1 (h,
// e) and what it has seen of k - 2 (corner) in registers, and reads the last row of the invocation
// above in shared memory. Columns after the last one, which a step computes too, are never read.
// Needs pairs.glsl, scoring.glsl, recurrence.glsl and best.glsl, with MASKED mask.glsl, and definitions
// of these: H and F of column j above the strip, and where those of columns j to j + STEP - 1 of its
// last row go. LEANING: leaning.glsl computes the cells; else directions.glsl is needed, and the
// position of the direction word of column j.
ivec2 above_strip(int j);
void below_strip(int j, int end, ivec2 hf[STEP]);
uint direction_place(int j);

#include "lib/span.glsl"

// The state of an invocation in a sweep: ROWS rows of the query, and of the table the last column
// that it has computed of them, what is above and left of the next one, and its last row.
struct Lane {
    int row, rows, letters[ROWS];  // rows of the table from row on
#ifdef POSITIONAL_GAPS
    ivec2 costs[ROWS];
#endif
    int h[ROWS], e[ROWS], corner;
    ivec2 below[STEP];  // H and F of the last row in the last step
};

Lane lane_at_border(Pair pair, int row) {
    Lane lane;
    lane.row = row;
    lane.rows = pair.query_length - row;
    lane.corner = left_of(pair, row - 1);
    for (int c = 0; c < STEP; ++c) lane.below[c] = ivec2(border_cell().h, border_cell().f);
    for (int r = 0; r < ROWS; ++r) {
        lane.h[r] = left_of(pair, row + r);
        lane.e[r] = border_cell().e;
        lane.letters[r] = profiled(query_letter(pair, row + r));
#ifdef POSITIONAL_GAPS
        lane.costs[r] = row_costs(lane.letters[r]);
#endif
    }
    return lane;
}

// Windows of a sweep in shared memory: H and F in the row above of the columns of WORKGROUP steps, on
// two diagonals below each invocation, and letters of the target, of twice as many steps. The next
// part is loaded WORKGROUP steps before it is needed, by an invocation a step.
// Small, since NVIDIA's driver gives all work groups of a multiprocessor 48 KiB together.
const int COLUMNS_AHEAD = WORKGROUP * STEP, LETTER_BITS = 32 / STEP;
shared ivec2 above[3 * COLUMNS_AHEAD];
shared int letter_window[2 * WORKGROUP];

struct Windows {  // the part on its way from memory
    ivec2 above[STEP];
    uint word[STEP];
};

int above_place(int k) { return (k & (WORKGROUP - 1)) * STEP; }

int below_place(int k, int t) { return (1 + (k & 1)) * COLUMNS_AHEAD + t * STEP; }

int letter_at(int step, int c) {
    uint letters = uint(letter_window[step & (2 * WORKGROUP - 1)]);
    return int(bitfieldExtract(letters, LETTER_BITS * c, LETTER_BITS));
}

int steps_over(int columns) { return (columns + STEP - 1) / STEP; }

Windows first_windows(Pair pair, int first, int end, int begin, Lane lane) {
    Windows next;
    int t = int(gl_LocalInvocationIndex), before = begin - WORKGROUP + t, letters = 0;
    for (int c = 0; c < STEP; ++c) {
        int j = first + (begin + t) * STEP + c;
        next.above[c] = above_strip(min(j, end - 1));
        next.word[c] = target_word(pair, j);
        letters |= target_letter(pair, first + before * STEP + c) << (LETTER_BITS * c);
        above[below_place(begin - 1, t) + c] = lane.below[c];
    }
    letter_window[before & (2 * WORKGROUP - 1)] = letters;
    return next;
}

void next_windows(inout Windows next, Pair pair, int first, int end, int k) {
    int t = int(gl_LocalInvocationIndex), letters = 0;
    for (int c = 0; c < STEP; ++c) {
        int j = first + (k + t) * STEP + c, ahead = j + COLUMNS_AHEAD;
        above[above_place(t) + c] = next.above[c];
        letters |= letter_in(next.word[c], pair, j) << (LETTER_BITS * c);
        next.above[c] = above_strip(min(ahead, end - 1));
        next.word[c] = target_word(pair, ahead);
    }
    letter_window[(k + t) & (2 * WORKGROUP - 1)] = letters;
    barrier();
}

// The best cell of the steps of a lane. With ENDS, a step that may have it is put aside, and looked
// through only if the next such step has no higher score: on the path of a long alignment nearly
// every step has the best score so far.
shared int to_beat;  // the best score of the work group so far, at least 1

struct Step {
    int score, j, ended[STEP * ROWS];  // the highest, and all: column by column from j on
};

// Cells below the last row, or from column `end` on, do not count. Of equal ones the later is best.
Best best_of_cells(Best best, Step one, Lane lane, int end) {
    int score = 0, place = 0;
    for (int d = 0; d < ROWS + STEP - 1; ++d)
        for (int c = 0; c < STEP; ++c) {
            int r = d - c, each = c * ROWS + r;
            if (r < 0 || r >= ROWS) continue;
            if (r < lane.rows && one.j + c < end && one.ended[each] >= score) {
                score = one.ended[each];
                place = each;
            }
        }
    return better(best, score, lane.row + place % ROWS, one.j + place / ROWS);
}

// Takes a step with a score to be looked at, and returns a score that is the best so far.
int take_step(inout Best best, inout Step aside, Step here, Lane lane, int end) {
    bool whole = lane.rows >= ROWS && here.j + STEP <= end;
#ifdef ENDS
    bool done = aside.score > 0 && (!whole || here.score <= aside.score);
    if (done) best = best_of_cells(best, aside, lane, end);
    aside = here;
    return whole ? here.score : best.score;
#else
    if (whole) best.score = max(best.score, here.score);
    else best = best_of_cells(best, here, lane, end);
    return best.score;
#endif
}

// The cells of a lane in step k, which begins in column j; above them are those of the lane above in
// the step before, or of the strip above.
Step cells(Pair pair, int j, int end, int k, inout Lane lane);

// Steps begin ... stop - 1 of a sweep over columns first ... end - 1; `begin` is a multiple of
// WORKGROUP, and if it is not 0 the lane is as the steps before have left it.
void sweep(Pair pair, int first, int end, int begin, int stop, inout Lane lane, inout Best best) {
    int t = int(gl_LocalInvocationIndex), steps = steps_over(end - first);
    Step aside;
    aside.score = 0;
    if (t == 0) to_beat = max(best.score, 1);
    Windows windows = first_windows(pair, first, end, begin, lane);
    for (int k = begin; k < stop; ++k) {
        if ((k & (WORKGROUP - 1)) == 0) next_windows(windows, pair, first, end, k);
        if (uint(k - t) < uint(steps)) {
            int j = first + (k - t) * STEP, beat = to_beat;
            Step here = cells(pair, j, end, k, lane);
            for (int c = 0; c < STEP; ++c) above[below_place(k, t) + c] = lane.below[c];
            if (t == WORKGROUP - 1) below_strip(j, end, lane.below);
            if (here.score >= beat) atomicMax(to_beat, take_step(best, aside, here, lane, end));
        }
        barrier();
    }
#ifdef ENDS
    if (aside.score > 0) best = best_of_cells(best, aside, lane, end);
#endif
}

#ifndef LEANING
Step cells(Pair pair, int j, int end, int k, inout Lane lane) {
    int t = int(gl_LocalInvocationIndex);
    int place = t == 0 ? above_place(k) : below_place(k - 1, t - 1);
    uint words[STEP];
    ivec2 top[STEP];
    Step now;
    now.score = 0;
    now.j = j;
    for (int c = 0; c < STEP; ++c) top[c] = above[place + c];
    for (int c = 0; c < STEP; ++c) {
        int letter = letter_at(k - t, c);
        Cell up = upper_cell(top[c].x, top[c].y), diagonal = upper_cell(lane.corner, 0);
        lane.corner = top[c].x;
        words[c] = 0u;
        for (int r = 0; r < ROWS; ++r) {
            Cell left = left_cell(lane.h[r], lane.e[r]);
            at_row(lane.costs[r]);
            int s = score(lane.letters[r], letter);
#ifdef MASKED
            s = unless_forbidden(r, j + c, s);
#endif
            Cell here = cell(diagonal, left, up, s);
            int last = last_here(pair, here, lane.row + r, j + c);
            now.ended[c * ROWS + r] = last;
            now.score = max(now.score, last);
            note(words[c], r, here, left, up);
            lane.h[r] = here.h;
            lane.e[r] = here.e;
            diagonal = left;
            up = here;
        }
        lane.below[c] = ivec2(up.h, up.f);
    }
    for (int c = 0; c < STEP; ++c) keep(j + c < end, direction_place(j + c), words[c]);
    return now;
}
#endif
