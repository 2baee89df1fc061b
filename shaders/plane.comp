#version 430
// Schedule: plain wavefront (Sudo et al. 2012, section 6.3, "GPUN", figures 7 and 8). One dispatch
// per diagonal plane i + j + k, one invocation per cell. Nothing is kept in registers or shared
// memory: a cell reads seven cells of the three planes before. Four planes take turns in memory.
layout(local_size_x = LANES, local_size_y = LANES) in;
#include "lib/triples.glsl"
#include "lib/recurrence3.glsl"
#include "lib/ends3.glsl"
#include "lib/scoring3.glsl"
#include "lib/planes.glsl"

layout(std430, binding = BEST_BINDING) buffer BestCells {
    ivec2 best_cells[];  // H and i, for each j and k
};
uniform int diagonal;
uniform ivec2 first_cell;

void main() {
    Triple triple = triples[gl_WorkGroupID.z];
    int j = first_cell.x + int(gl_GlobalInvocationID.y);
    int k = first_cell.y + int(gl_GlobalInvocationID.x), i = diagonal - j - k;
    load_scores();
    if (i < 0 || i >= triple.l || j >= triple.m || k >= triple.n) return;
    int a = letter(triple.a, triple.l, i), b = letter(triple.b, triple.m, j);
    int c = letter(triple.c, triple.n, k);
    Column s = column(paired(a, b), paired(a, c), paired(b, c));
    Cell here = cell(moves(cell_at(triple, i - 1, j - 1, k - 1), cell_at(triple, i - 1, j - 1, k),
                           cell_at(triple, i - 1, j, k - 1), cell_at(triple, i, j - 1, k - 1),
                           cell_at(triple, i - 1, j, k), cell_at(triple, i, j - 1, k),
                           cell_at(triple, i, j, k - 1), s),
                     least_of(a, b, c));
    store_cell(triple, i, j, k, here);
    uint place = triple.best + uint(j * triple.n + k);
    int h = is_end(ivec3(triple.l - i, triple.m - j, triple.n - k)) ? here.h : 0;
    if (i == 0 || h > best_cells[place].x) best_cells[place] = ivec2(h, i);
}
