// The gap along the row as a prefix maximum (Khajeh-Saeed et al. 2010; Lin et al. 2015, equations
// 4, 6 and 7), for schedules that compute a row in several dispatches. With H' = begin().h, all of
// a row but E, and in place of H, because a gap never opens inside a gap:
//   P(j) = max over k <= j of H'(k) - (j - k) * gap_extend,     E(j + 1) = P(j) - gap_open
// In Lin et al. F is extend_down() (equation 2), U is H' (equation 3), H is finish() (equation 5),
// Ge is gap_extend, and Gs + Ge gap_open. Columns lie side by side, so that invocations read
// neighbouring words (their figure 3).
// As H' >= 0, P >= 0: what has decayed below 0 does not count, and no difference leaves int32.
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"

int gap_after(int p) { return extend_gap(p, border_cell().e); }

// Of each pair H' and what the scan makes of it, for the row above and for this row by turns, and
// F.
layout(std430, binding = ROWS_BINDING) buffer Rows { int values[]; };
uniform int stride;  // columns of the longest target
uniform int row;

int h_place(uint p, int row, int j) { return (int(p) * 5 + (row & 1)) * stride + j; }
int scan_place(uint p, int turn, int j) { return (int(p) * 5 + 2 + (turn & 1)) * stride + j; }
int f_place(uint p, int j) { return (int(p) * 5 + 4) * stride + j; }

// Of each block of a row its largest P behind its last column, and the carry into it: P before its
// first column.
layout(std430, binding = CARRIES_BINDING) buffer Carries { int carries[]; };
uniform int blocks;  // of the longest target

int total_place(uint p, int block) { return int(p) * 2 * blocks + block; }
int carry_place(uint p, int block) { return (int(p) * 2 + 1) * blocks + block; }

// With POSITIONAL_GAPS gap costs become those of a row of the query; none above the first one.
#ifdef POSITIONAL_GAPS
void at_row_of(Pair pair, int i) { at_row(row_costs(profiled(query_letter(pair, max(i, 0)))).xy); }
#else
#define at_row_of(pair, i)
#endif
