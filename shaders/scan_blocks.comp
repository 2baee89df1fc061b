#version 430
// Schedule: a row at a time, E by a prefix maximum over blocks of WORKGROUP columns (Lin, Zhong and
// Lin 2015, section 1.3). This is all of a row but the adjustment between blocks,
// scan_carries.comp: it finishes the row above by the fine adjustment (algorithm 5), computes F and
// H', and sweeps UP and DOWN (algorithms 2 and 3). Algorithm 1, the loop over rows, is in
// glsw/engines/scan.py. The paper shifts H' by (n - j) * gap_extend; here n
// is the end of the block, so that rows of any length stay inside int32.
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#include "lib/row_columns.glsl"

int prefix_above(uint p, int j) {
    int k = j % WORKGROUP;
    int inside = values[scan_place(p, row - 1, j)] + decay(WORKGROUP - k);
    return max(inside, carries[carry_place(p, j / WORKGROUP)] - decay(k));
}

// Prefix maximum over a block by an UP and a DOWN sweep in shared memory (algorithms 2 and 3,
// figures 4 and 5: `swept` is shareEij, `total` is BLOCKEij); every invocation must call it.
// WORKGROUP is a power of two.
struct Prefix { int before, total; };  // maximum over the invocations before this one, and over all

shared int swept[WORKGROUP];

Prefix prefix_maximum(int x, int nothing) {
    uint t = gl_LocalInvocationIndex;
    swept[t] = x;
    for (uint d = 1u; d < uint(WORKGROUP); d *= 2u) {
        barrier();
        uint right = (t + 1u) * 2u * d - 1u;
        if (right < uint(WORKGROUP)) swept[right] = max(swept[right], swept[right - d]);
    }
    barrier();
    int total = swept[WORKGROUP - 1];
    barrier();
    if (t == 0u) swept[WORKGROUP - 1] = nothing;
    for (uint d = uint(WORKGROUP) / 2u; d > 0u; d /= 2u) {
        barrier();
        uint right = (t + 1u) * 2u * d - 1u;
        if (right < uint(WORKGROUP)) {
            int left = swept[right - d];
            swept[right - d] = swept[right];
            swept[right] = max(left, swept[right]);
        }
    }
    barrier();
    return Prefix(swept[t], total);
}

void main() {
    uint p = gl_WorkGroupID.y;
    int block = int(gl_WorkGroupID.x), t = int(gl_LocalInvocationIndex);
    int j = block * WORKGROUP + t;
    Pair pair = pair_at(p);
    load_scores();
    at_row_of(pair, row);
    Cell c = border_cell();
    if (row < pair.query_length && j < pair.target_length) c = begin_column(p, pair, j);
    // The column to the left of a block counts as H = 0: that never exceeds a real gap, as P >= 0.
    Prefix prefix = prefix_maximum(c.h - decay(WORKGROUP - 1 - t), -decay(WORKGROUP));
    if (j < pair.target_length) values[scan_place(p, row, j)] = prefix.before;
    if (t == 0) carries[total_place(p, block)] = prefix.total;
}
