// Gap costs: the first position of a gap costs `gap_open`, each further one `gap_extend`.
// LINEAR: both are the same. SEPARATE: query letters opposite a gap (F, insertions) have costs of
// their own. POSITIONAL_GAPS: the costs are those of the row that at_row() was called for last, given
// as row_costs() of scoring.glsl returns them.
// Needs nothing.
#ifdef POSITIONAL_GAPS
int gap_open, gap_extend;

void at_row(ivec2 costs) {
    gap_open = costs.x;
    gap_extend = costs.y;
}
#else
#define at_row(costs)
uniform int gap_open;
#ifdef LINEAR
#define gap_extend gap_open
#else
uniform int gap_extend;
#endif
#endif
#ifdef SEPARATE
uniform int insertion_open, insertion_extend;
#else
#define insertion_open gap_open
#define insertion_extend gap_extend
#endif
