// The cells of a sweep by the recurrence as it is written, so that their direction bits can be kept
// and single pairs be forbidden; leaning.glsl has those for score and ends alone.
// Needs, with DIRECTIONS, a definition of this: the position of the direction word of column j.
#include "lib/sweep.glsl"
#include "lib/directions.glsl"
uint direction_place(int j);

// Pairs that no alignment may have (Waterman and Eggert 1987): their M is minus infinity, while
// gaps may pass. A mask has, for each lane of ROWS rows and one of no rows behind them, where its
// part begins, and where the last one ends; then these parts: the column and the row in the lane of
// each forbidden pair, by columns, and behind them the largest int twice. As a sweep goes right, a
// step asks for its own forbidden cells, which mostly are none, before it computes them. Without
// MASKED nothing is forbidden.
// Needs a definition of this: a word of the masks.
#ifdef MASKED
int mask_word(uint at);

const int NEVER = -0x7fffffff - 1;  // as a score: below 0 whatever H it is added to

uint forbidden_place;  // of the next forbidden cell of the lane, and its column
int forbidden_column;

// Before a sweep of a lane from column `first` on.
void find_forbidden(Pair pair, int row, int first) {
    uint part = pair.mask + uint(min(row, pair.query_length + ROWS - 1) / ROWS);
    uint low = uint(mask_word(part)), high = uint(mask_word(part + 1u)) - 2u;
    while (low < high) {
        uint middle = low + ((high - low) >> 2 << 1);
        if (mask_word(middle) < first) low = middle + 2u;
        else high = middle;
    }
    forbidden_place = low;
    forbidden_column = mask_word(low);
}

// Bits of the forbidden cells of a step, column by column from j on.
uint forbidden_cells(int j) {
    uint cells = 0u;
    while (forbidden_column < j + STEP) {
        cells |= 1u << ((forbidden_column - j) * ROWS + mask_word(forbidden_place + 1u));
        forbidden_place += 2u;
        forbidden_column = mask_word(forbidden_place);
    }
    return cells;
}

int unless_forbidden(uint cells, int place, int s) {
    return (cells >> place & 1u) != 0u ? NEVER : s;
}
#endif

Step cells(Pair pair, int j, int end, int k, inout Lane lane) {
    int t = int(gl_LocalInvocationIndex), place = place_above(k, t);
    uint words[STEP];
    ivec2 top[STEP];
    Step now;
    now.score = 0;
    now.j = j;
    for (int c = 0; c < STEP; ++c) top[c] = last_rows[place + c];
#ifdef MASKED
    uint forbidden = forbidden_cells(j);
#endif
    for (int c = 0; c < STEP; ++c) {
        int letter = letter_at(k - t, c);
        Cell up = upper_cell(top[c].x, top[c].y), diagonal = upper_cell(lane.corner, 0);
        lane.corner = top[c].x;
        words[c] = 0u;
        for (int r = 0; r < ROWS; ++r) {
            Cell left = left_cell(lane.h[r], lane.e[r]);
            at_cells_of(lane.costs[r]);
            int s = score(lane.letters[r], letter);
#ifdef MASKED
            s = unless_forbidden(forbidden, c * ROWS + r, s);
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
