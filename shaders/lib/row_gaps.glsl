// With POSITIONAL_GAPS gap costs become those of a row of the query; none above the first one. It has
// the number of the row that is computed.
// Needs pairs.glsl, recurrence.glsl and what scoring.glsl needs.
#ifdef POSITIONAL_GAPS
#include "lib/scoring.glsl"
uniform int row;

void at_row_of(Pair pair, int i) { at_row(row_costs(profiled(query_letter(pair, max(i, 0))))); }
#else
#define at_row_of(pair, i)
#endif
