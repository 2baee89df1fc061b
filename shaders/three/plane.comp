#version 430
// Schedule: plain wavefront (Sudo et al. 2012, section 6.3, "GPUN"). A cell depends on seven others
// (figure 7), so that those of a diagonal plane, i + j + k = `diagonal`, are computed together
// (figure 8): one dispatch per plane, one invocation per cell. Nothing is kept in registers or
// shared memory. Four planes take turns in memory, by j and k; with TABLE also H of all cells.
layout(local_size_x = LANES, local_size_y = LANES) in;
#include "three/lib/triples.glsl"
#include "three/lib/recurrence3.glsl"

layout(std430, binding = BEST_BINDING) buffer BestCells {
    ivec2 best_cells[];  // H and i, for each j and k
};
#ifdef TABLE
layout(std430, binding = DIRECTIONS_BINDING) writeonly buffer Table { int table[]; };
#endif
uniform int diagonal;
uniform ivec2 first_cell;

#ifdef LINEAR
layout(std430, binding = SIDES_BINDING) buffer Planes { int planes[]; };

Cell load(uint at) { return Cell(planes[at]); }

void store(uint at, Cell c) { planes[at] = c.h; }
#else
layout(std430, binding = SIDES_BINDING) buffer Planes { ivec4 planes[]; };

Cell load(uint at) {
    ivec4 two = planes[2u * at], one = planes[2u * at + 1u];
    return Cell(two.x, two.y, two.z, two.w, one.x, one.y, one.z);
}

void store(uint at, Cell c) {
    planes[2u * at] = ivec4(c.h, c.ab, c.ac, c.bc);
    planes[2u * at + 1u] = ivec4(c.a, c.b, c.c, 0);
}
#endif

uint place_of(Triple triple, int i, int j, int k) {
    return triple.i_sides + uint((((i + j + k) & 3) * triple.m + j) * triple.n + k);
}

Cell cell_at(Triple triple, int i, int j, int k) {
    return min(min(i, j), k) < 0 ? border_cell() : load(place_of(triple, i, j, k));
}

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
    store(place_of(triple, i, j, k), here);
#ifdef TABLE
    table[uint((i * triple.m + j) * triple.n + k)] = here.h;
#endif
    uint place = triple.best + uint(j * triple.n + k);
    int h = is_end(ivec3(triple.l - i, triple.m - j, triple.n - k)) ? here.h : 0;
    if (i == 0 || h > best_cells[place].x) best_cells[place] = ivec2(h, i);
}
