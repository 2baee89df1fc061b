#version 430
// Schedule: a step of the single-stage prefix maximum (Scan 2014, figures 6 and 7): each
// column looks `reach` columns to the left, twice as far in every step, log2 of n steps for n
// columns. In the names of figure 7 `values` is d_E, and in iteration I `reach` is 2^(I - 1) and
// decay(reach) is gap_extend times that; d_H is read and written by scan_single.comp.
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/scan.glsl"

uniform int turn;
uniform int reach;

void main() {
    uint p = gl_WorkGroupID.y;
    int j = int(gl_GlobalInvocationID.x);
    if (j >= pair_at(p).target_length) return;
    at_row_of(pair_at(p), row);
    int x = values[scan_place(p, turn, j)];
    if (j >= reach)
        x = max(x, values[scan_place(p, turn, j - reach)] - decay(reach));
    values[scan_place(p, turn + 1, j)] = x;
}
