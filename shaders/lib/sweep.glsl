// A strip of WORKGROUP x ROWS rows moves over columns, an anti-diagonal of invocations a step
// (Aymone 2022, section IV, see diagonal.comp): invocation t, a lane, has ROWS rows, and at step k
// the STEP columns from first + (k - t) * STEP on. Columns after the last one, which a step
// computes too, are never read. The cells of a step are those of leaning.glsl, or of upright.glsl.
// Needs definitions of these: H and F of column j above the strip, and where those of columns j to
// j + STEP - 1 of its last row go.
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#include "lib/span.glsl"

#ifdef POSITIONAL_GAPS
ivec3 costs_of_row(Pair pair, int i) { return row_costs(profiled(query_letter(pair, i))); }
#endif

ivec2 above_strip(int j);
void below_strip(int j, int end, ivec2 hf[STEP]);

// The state of an invocation in a sweep: ROWS rows of the query, and of the table the last column
// that it has computed of them, what is above and left of the next one, and its last row.
struct Lane {
    int row, rows, letters[ROWS];  // rows of the table from row on
#ifdef POSITIONAL_GAPS
    ivec3 costs[ROWS];
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
        lane.costs[r] = ivec3(row_costs(lane.letters[r]).xy, rest_of(pair, row + r));
#endif
    }
    return lane;
}

// In shared memory H and F of the last rows of all lanes on two anti-diagonals, an even and an odd
// one, and of WORKGROUP steps the row above the strip; letters of the target, of twice as many
// steps. Small, since NVIDIA's driver gives all work groups of a multiprocessor 48 KiB together.
const int COLUMNS_AHEAD = WORKGROUP * STEP, LETTER_BITS = 32 / STEP;
shared ivec2 last_rows[3 * COLUMNS_AHEAD];
shared int letter_window[2 * WORKGROUP];

// Where in last_rows are those of lane t on anti-diagonal k, and those above its cells there.
int place_on(int k, int t) { return (1 + (k & 1)) * COLUMNS_AHEAD + t * STEP; }

int place_above(int k, int t) {
    return t == 0 ? (k & (WORKGROUP - 1)) * STEP : place_on(k - 1, t - 1);
}

void leave_last_row(int k, int t, Lane lane) {
    for (int c = 0; c < STEP; ++c) last_rows[place_on(k, t) + c] = lane.below[c];
}

int letter_at(int step, int c) {
    uint letters = uint(letter_window[step & (2 * WORKGROUP - 1)]);
    return int(bitfieldExtract(letters, LETTER_BITS * c, LETTER_BITS));
}

int steps_over(int columns) { return (columns + STEP - 1) / STEP; }

// The row above and the letters are loaded WORKGROUP steps before they are needed, by a lane a
// step.
struct Ahead {  // on its way from memory
    ivec2 above[STEP];
    uint word[STEP];
};

Ahead first_ahead(Pair pair, int first, int end, int begin, Lane lane) {
    Ahead next;
    int t = int(gl_LocalInvocationIndex), before = begin - WORKGROUP + t, letters = 0;
    for (int c = 0; c < STEP; ++c) {
        int j = first + (begin + t) * STEP + c;
        next.above[c] = above_strip(min(j, end - 1));
        next.word[c] = target_word(pair, j);
        letters |= target_letter(pair, first + before * STEP + c) << (LETTER_BITS * c);
    }
    letter_window[before & (2 * WORKGROUP - 1)] = letters;
    leave_last_row(begin - 1, t, lane);
    return next;
}

void load_ahead(inout Ahead next, Pair pair, int first, int end, int k) {
    if ((k & (WORKGROUP - 1)) == 0) {
        int t = int(gl_LocalInvocationIndex), letters = 0;
        for (int c = 0; c < STEP; ++c) {
            int j = first + (k + t) * STEP + c, ahead = j + COLUMNS_AHEAD;
            last_rows[t * STEP + c] = next.above[c];
            letters |= letter_in(next.word[c], pair, j) << (LETTER_BITS * c);
            next.above[c] = above_strip(min(ahead, end - 1));
            next.word[c] = target_word(pair, ahead);
        }
        letter_window[(k + t) & (2 * WORKGROUP - 1)] = letters;
        barrier();
    }
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

Step nothing_aside(Best best) {
    Step none;
    none.score = 0;
    if (gl_LocalInvocationIndex == 0u) to_beat = max(best.score, 1);
    return none;
}

// Takes cells with a score to be looked at, and returns a score that is the best so far.
int take(inout Best best, inout Step aside, Step now, Lane lane, int end) {
    bool whole = lane.rows >= ROWS && now.j + STEP <= end;
#ifdef ENDS
    bool done = aside.score > 0 && (!whole || now.score <= aside.score);
    if (done) best = best_of_cells(best, aside, lane, end);
    aside = now;
    return whole ? now.score : best.score;
#else
    if (whole) best.score = max(best.score, now.score);
    else best = best_of_cells(best, now, lane, end);
    return best.score;
#endif
}

Best last_best(Best best, Step aside, Lane lane, int end) {
    return aside.score > 0 ? best_of_cells(best, aside, lane, end) : best;
}

// The cells of a lane on anti-diagonal k, which begin in column j. Above them are those of the lane
// above on the one before, and left of them the lane's own.
Step cells(Pair pair, int j, int end, int k, inout Lane lane);

// Steps begin ... stop - 1 of a sweep over columns first ... end - 1, as in diagonal.comp; `begin`
// is a multiple of WORKGROUP, and if it is not 0 the lane is as the steps before have left it.
void sweep(Pair pair, int first, int end, int begin, int stop, inout Lane lane, inout Best best) {
    int t = int(gl_LocalInvocationIndex), steps = steps_over(end - first);
    Ahead ahead = first_ahead(pair, first, end, begin, lane);
    Step aside = nothing_aside(best);
    for (int k = begin; k < stop; ++k) {
        load_ahead(ahead, pair, first, end, k);
        if (uint(k - t) < uint(steps)) {
            int beat = to_beat;
            Step now = cells(pair, first + (k - t) * STEP, end, k, lane);
            leave_last_row(k, t, lane);
            if (t == WORKGROUP - 1) below_strip(now.j, end, lane.below);
            if (now.score >= beat) atomicMax(to_beat, take(best, aside, now, lane, end));
        }
        barrier();
    }
    best = last_best(best, aside, lane, end);
}
