// GLOBAL_MODE in lanes: both sequences as a whole. Instead of H lanes have
//   H(i,j) + gap_extend * (i + j + 2) + origin,
// of E and F the same. So gaps cost only where they open, and values stay small: floats are exact
// from -LIMIT to LIMIT, and `origin` is near -LIMIT. In a row H never falls by more than a gap opens
// for, so that a lane which looks at its rows in the last column of a target sees whether any value
// was too high there; then the score is TOO_HIGH.
//
// The last row of a query is the last one of a lane: before its first letter are rows of no letter,
// with the H of row -1. The last step may go beyond the last column of a target, where there are no
// letters: along the diagonal a letter of the query is put behind its end there, and nothing gains.
// So the best end of an alignment that leaves letters of the query behind is in the last column of
// the step, or in the last row. For the scores of no letter see `with_none` of rows.py.
//
// POSITIONAL_GAPS: lanes have H itself, in integers. Rows of no letter have the gap costs of the first
// letter, so that E there is H of row -1. The profile has H left of each row. In place of what it
// tells of a second query it has H left of the row above the lane, and the costs of row -1.
// Needs best_scores.
#include "lib/query_profile.glsl"
#include "lib/recurrence_column.glsl"

#ifdef POSITIONAL_GAPS
const int RAISED = 0;
ivec2 left_deletion;
uniform ivec2 right_insertion, right_deletion;  // FREE, or what the costs of no row exceed
#define up_to max

Number open_at(Costs costs, int r) {
    costs_at_row(costs, r);
    return costs.open;
}
#else
#define RAISED gap_extend
#define up_to min
#define open_at(costs, r) costs.open
uniform ivec2 left_insertion, left_deletion, right_insertion, right_deletion;  // open, extend
#endif
uniform int ends_in_any_row;  // 1 where gaps behind the last column cost less than those inside
const int TOO_HIGH = 1 << 30;

int origin() {
#if NUMBER == 0
    return 0;
#else
    return left_insertion.x + left_deletion.x + 4 * gap_open - LIMIT;
#endif
}

int above_of(int j) {
    return origin() + RAISED - left_deletion.x + j * (RAISED - left_deletion.y);
}

// H left of row r of a lane.
#ifdef POSITIONAL_GAPS
Number left_of(RowsOfLane rows, int r) {
    int at = max(r, 0), place = lane_in_chain() + (LETTERS - 4) * STRIDE + at / 4 * CHAIN;
    uvec4 word = query_profile_at(0, HEADS + place);
    return r < 0 ? rows.place[1] : int(word[at % 4]);  // NVIDIA's compiler rejects an index of -1
}
#else
int left_of(int i) {
    if (i < -1) return above_of(-1);  // so that the next one is above_of(0)
    return origin() + (i + 1) * RAISED - gap_cost(left_insertion, i + 1);
}

Number left_of(RowsOfLane rows, int r) {
    return number(left_of(rows.first[0] + r), left_of(rows.first[1] + r));
}
#endif

ivec2 lengths_of(Columns columns) {
    return ivec2(columns.lengths[0], columns.lengths[TARGETS - 1]);
}

// The borders of the table as a lane meets them: H of row -1 in the next column, what a column adds
// to it, and the last one; H of the last row of the lane in the column before, and of a gap behind it.
struct Edge { Bits above, slope, last, before, gap; };

Edge edge_of(RowsOfLane rows, Columns columns) {
    ivec2 n = lengths_of(columns);
#ifdef POSITIONAL_GAPS
    left_deletion = ivec2(rows.first[1], rows.letters[1]);
#endif
    int slope = RAISED - left_deletion.y;
    return Edge(bits(number(above_of(0), above_of(0))),
                bits(number(slope, slope)),
                bits(number(above_of(n.x - 1), above_of(n.y - 1))),
                bits(left_of(rows, ROWS - 1)),
                bits(number(LOWEST, LOWEST)));
}

// What is above a lane in the next column: the row before, or the border where its query begins.
Border above_lane(inout Edge edge, Border above, Number open) {
    Number h = from_bits(edge.above);
    edge.above = bits(up_to(h + from_bits(edge.slope), from_bits(edge.last)));
    Border border = Border(bits(h), bits(h - open));
    return Border(above.h & going_on | border.h & ~going_on,
                  above.f & going_on | border.f & ~going_on);
}

// H of the last row of a lane, or of a gap behind it, in the next column.
Bits ends_in_last_row(inout Edge edge, Border below) {
    int open = right_deletion.x - RAISED, extend = right_deletion.y - RAISED;
    Number gap = from_bits(edge.gap) - number(extend, extend);
    gap = max(gap, from_bits(edge.before) - number(open, open));
    edge.gap = bits(gap);
    edge.before = below.h;
    return bits(max(gap, from_bits(below.h)));
}

// Take the scores of the targets of a slot that end in word k; `ends` is what ends_in_last_row() has
// returned for its columns.
void end_targets(int slot, int k, Columns columns, RowsOfLane rows, Bits h[ROWS],
                 Border below[STEP], Bits ends[STEP]) {
    ivec2 n = lengths_of(columns);
    for (int x = 0; x < RESULTS; ++x) {
        int last = n[x] - 1, first = rows.first[x], m = rows.letters[x];
        if (last < 0 || k != last / STEP || first >= m || first + ROWS <= 0) continue;
        int best = NO_SCORE, top = NO_SCORE;
        for (int r = 0; r < ROWS; ++r) {
            int here = value(from_bits(h[r]), x), rest = m - 1 - first - r;
            top = max(top, here);
            if (ends_in_any_row == 1 && rest < m)
                best = max(best, here + rest * RAISED - gap_cost(right_insertion, rest));
        }
        int end = NO_SCORE;
        for (int c = 0; c < STEP; ++c) {
            if (c == last % STEP) end = value(from_bits(ends[c]), x);
            else if (c > last % STEP && ends_in_any_row == 1)
                end = max(end, value(from_bits(below[c].h), x));
        }
        bool lasts = first + ROWS == m;
        if (lasts) best = max(best, end);
        best -= origin() + (m + n[x]) * RAISED;
        int gaps = -gap_cost(left_deletion, n[x]) - gap_cost(right_insertion, m);
        if (lasts) best = max(best, gaps);
        bool too_high = false;
#if NUMBER != 0
        if (lasts) top = max(top, end);
        too_high = top > LIMIT - 2 * gap_open;
        if (too_high) best = TOO_HIGH;
#endif
        if (lasts || ends_in_any_row == 1 || too_high)
            atomicMax(best_scores[place_of_score(slot, rows.place[x], x)], best);
    }
}
