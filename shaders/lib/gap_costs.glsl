// Gap costs: the first position of a gap costs `gap_open`, each further one `gap_extend`; query
// letters opposite a gap (F, insertions) have costs of their own, mostly the same. POSITIONAL_GAPS:
// all costs are those of the row that at_row() was called for last, given as row_costs() of
// scoring.glsl returns them.
#ifdef POSITIONAL_GAPS
int gap_open, gap_extend;
#define insertion_open gap_open
#define insertion_extend gap_extend

void at_row(ivec2 costs) {
    gap_open = costs.x;
    gap_extend = costs.y;
}
#else
uniform int gap_open, gap_extend, insertion_open, insertion_extend;
#define at_row(costs)
#endif
uniform int farthest;  // columns over which the decay of a gap still fits

int decay(int columns) { return columns > farthest ? 0x7fffffff : columns * gap_extend; }

int gap_cost(ivec2 cost, int positions) {
    return positions > 0 ? cost.x + (positions - 1) * cost.y : 0;
}
