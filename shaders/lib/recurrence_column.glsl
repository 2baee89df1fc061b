// The equations of recurrence.glsl for the next row of a column, in any Number. E is at least 0
// here, as F may be, which changes no H. x is M, or max(M, E), in which no best score ends either.
// Floats open gaps from x, not from H: a gap in one sequence directly behind one in the other costs
// the same in the other order, so that E need not start from F. This shortens the longest chain of
// operations; of integers it would lengthen it.
// Needs NUMBER and Number (number.glsl).
#include "lib/gap_costs.glsl"

struct Costs { Number open, extend; };

Costs costs() {
#ifdef LINEAR
    return Costs(number(gap_open, gap_open), number(gap_open, gap_open));
#else
    return Costs(number(gap_open, gap_open), number(gap_extend, gap_extend));
#endif
}

#if NUMBER == 0
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
    f = max(f - cost.extend, opened);
}
