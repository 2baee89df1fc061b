#version 430
// Schedule: plain anti-diagonals over global memory, the method that Scan 2014 compares with
// (section III, figure 5): one dispatch per diagonal, one invocation per cell, which depends on the
// cells left, up and corner (figure 4); three diagonals take turns.
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"

layout(std430, binding = ROWS_BINDING) buffer Diagonals {
    ivec4 cells[];  // H, E, F, by pair and row
};
#include "lib/candidates.glsl"
uniform int diagonal;
uniform int first_row;  // on the diagonal of the longest target
uniform int stride;     // rows of the longest query

int place(uint p, int d, int i) { return (int(p) * 3 + d % 3) * stride + i; }

ivec4 cell_at(uint p, int i, int j) {
    Cell border = border_cell();
    bool inside = i >= 0 && j >= 0;
    return inside ? cells[place(p, i + j, i)] : ivec4(border.h, border.e, border.f, 0);
}

void main() {
    uint p = gl_WorkGroupID.y;
    int i = first_row + int(gl_GlobalInvocationID.x), j = diagonal - i;
    Pair pair = pair_at(p);
    load_scores();
    if (i >= pair.query_length || j < 0 || j >= pair.target_length) return;
    ivec4 corner = cell_at(p, i - 1, j - 1), left = cell_at(p, i, j - 1), up = cell_at(p, i - 1, j);
    int s = score(profiled(query_letter(pair, i)), target_letter(pair, j));
    at_row(row_costs(profiled(query_letter(pair, i))).xy);
    Cell c = cell(left_cell(corner.x, 0), left_cell(left.x, left.y), upper_cell(up.x, up.z), s);
    cells[place(p, diagonal, i)] = ivec4(c.h, c.e, c.f, 0);
    offer(int(p) * stride + i, c.m, i, j);
}
