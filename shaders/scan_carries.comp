#version 430
// Schedule: the adjustment between the blocks of a row (Lin, Zhong and Lin 2015, algorithm 4,
// figure 6): a work group a pair turns the largest P of each block into what enters the next one.
// The paper goes from block to block and adjusts each cell; here a prefix maximum goes over
// WORKGROUP blocks at a time, and scan_blocks.comp adjusts the cells.
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/scan.glsl"

shared int reached[WORKGROUP];

void main() {
    uint p = gl_WorkGroupID.y;
    at_row_of(pair_at(p), row);
    int t = int(gl_LocalInvocationIndex), carry = border_cell().h;
    int end = (pair_at(p).target_length + BLOCK - 1) / BLOCK;
    for (int first = 0; first < end; first += WORKGROUP) {
        int block = first + t;
        int x = block < end ? carries[total_place(p, block)] : 0;
        for (int d = 1; d < WORKGROUP; d *= 2) {
            reached[t] = x;
            barrier();
            if (t >= d) x = max(x, reached[t - d] - decay(d * BLOCK));
            barrier();
        }
        x = max(x, carry - decay((t + 1) * BLOCK));
        reached[t] = x;
        barrier();
        if (block < end) carries[carry_place(p, block)] = t > 0 ? reached[t - 1] : carry;
        carry = reached[WORKGROUP - 1];
        barrier();
    }
}
