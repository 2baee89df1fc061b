// The equations of recurrence.glsl for the next row of a column, in any Number. E is at least 0
// here, as F may be, which changes no H. x is M, or max(M, E), in which no best score ends either.
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
#else
Number aligned(Number m, Number e) { return max(m, e); }

Number highest(Number x, Number e, Number f) { return max(x, f); }
#endif

// From x, E and F of a cell to its H, E of the next column and F of the next row.
void finish_row(out Number h, inout Number e, inout Number f, Number x, Costs cost) {
    h = highest(x, e, f);
    Number opened = reduced(h, cost.open);
    e = floored(max(e - cost.extend, opened));
    f = max(f - cost.extend, opened);
}
