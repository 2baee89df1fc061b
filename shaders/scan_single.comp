#version 430
// Schedule: a row at a time, E by a single-stage prefix maximum over global memory (Scan 2014:
// "Optimizing Parallel Scan Smith Waterman Algorithm On GPU", section IV). This finishes the row
// above, computes F and H' (phase 1: begin_column() of row_columns.glsl), and stores the input of
// phase 2, which scan_step.comp runs: iteration 0 of figure 6, but for - gap_open, which
// gap_after() takes off at the end.
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#include "lib/row_columns.glsl"

uniform int turn;  // where the last scan ended; the next one begins in the other place

int prefix_above(uint p, int j) { return values[scan_place(p, turn, j)]; }

void main() {
    uint p = gl_WorkGroupID.y;
    int j = int(gl_GlobalInvocationID.x);
    Pair pair = pair_at(p);
    load_scores();
    if (row >= pair.query_length || j >= pair.target_length) return;
    Cell c = begin_column(p, pair, j);
    if (j == 0) values[scan_place(p, turn + 1, 0)] = border_cell().h;
    if (j + 1 < pair.target_length) values[scan_place(p, turn + 1, j + 1)] = c.h;
}
