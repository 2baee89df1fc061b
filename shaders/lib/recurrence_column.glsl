// The equations of recurrence.glsl for the next row of a column, in any Number. Locally E is at
// least 0 here, as F may be, which changes no H. x is M, or max(M, E); the best of either is the best
// local score. Floats, and with GLOBAL_MODE all numbers, open gaps from x, not from H: a gap in one
// sequence directly behind one in the other costs the same in the other order, so that E need not
// start from F. This shortens the longest chain of operations. With costs by position the
// order does make a difference. Needs, with POSITIONAL_GAPS, query_profile.glsl and NUMBER 0.
#include "lib/number.glsl"
#include "lib/gap_costs.glsl"

#ifdef POSITIONAL_GAPS
struct Costs { Number open, extend, open_below, extend_below; };  // of a row, and of the next one
#else
struct Costs { Number open, extend; };
#endif

Costs costs() {
#ifdef POSITIONAL_GAPS
    return Costs(number(0, 0), number(0, 0), number(0, 0), number(0, 0));  // see costs_at_row()
#elif defined(GLOBAL_MODE)  // each position of a gap but the first is free, see end_to_end.glsl
    return Costs(number(gap_open - gap_extend, gap_open - gap_extend), number(0, 0));
#else
    return Costs(number(gap_open, gap_open), number(gap_extend, gap_extend));
#endif
}

// POSITIONAL_GAPS: those of the rows of a lane, which the query profile has in place of scores with
// the four last letters: a word of each row, for its E and for F of the row below it.
#ifdef POSITIONAL_GAPS
void costs_at_row(out Costs costs, int r) {
    int letter = LETTERS - 3 + r % 4, place = lane_in_chain() + letter * STRIDE + r / 4 * CHAIN;
    ivec4 word = ivec4(query_profile_at(0, HEADS + place));
    costs = Costs(word.x, word.y, word.z, word.w);
}
#else
#define costs_at_row(costs, r)
#endif

#if NUMBER == 0 && (!defined(GLOBAL_MODE) || defined(POSITIONAL_GAPS))
Number aligned(Number m, Number e) { return m; }

Number highest(Number x, Number e, Number f) { return max(max(x, e), f); }

Number opening(Number x, Number h) { return h; }
#else
Number aligned(Number m, Number e) { return max(m, e); }

Number highest(Number x, Number e, Number f) { return max(x, f); }

Number opening(Number x, Number h) { return x; }
#endif

// From x, E and F of a cell to its H, E of the next column and F of the next row.
void finish_row(out Number h, inout Number e, inout Number f, Number x, Costs cost) {
    h = highest(x, e, f);
    Number opened = reduced(opening(x, h), cost.open);
    e = floored(max(e - cost.extend, opened));
#ifdef POSITIONAL_GAPS
    f = max(f - cost.extend_below, reduced(opening(x, h), cost.open_below));
#else
    f = max(f - cost.extend, opened);
#endif
}
