#version 430
// Schedule: a row at a time, E by a prefix maximum over blocks of WORKGROUP columns (Lin, Zhong and
// Lin 2015, section 1.3). This is all of a row but the adjustment between blocks,
// scan_carries.comp: it ends the row above by the fine adjustment (algorithm 5), computes F and H',
// and sweeps UP and DOWN (algorithms 2 and 3). The paper shifts H' by (n - j) * gap_extend; here n
// is the end of the block, so that rows of any length stay inside int32.
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#include "lib/gap_scan.glsl"
#include "lib/up_down.glsl"
#include "lib/row_columns.glsl"
#include "lib/carries.glsl"

int prefix_above(uint p, int j) {
    int k = j % WORKGROUP;
    int inside = values[scan_place(p, row - 1, j)] + decay(WORKGROUP - k);
    return max(inside, carries[carry_place(p, j / WORKGROUP)] - decay(k));
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
    // A block begins beside a column of H = 0, as the table does: that hides no gap.
    Prefix prefix = prefix_maximum(c.h - decay(WORKGROUP - 1 - t), -decay(WORKGROUP));
    if (j < pair.target_length) values[scan_place(p, row, j)] = prefix.before;
    if (t == 0) carries[total_place(p, block)] = prefix.total;
}
