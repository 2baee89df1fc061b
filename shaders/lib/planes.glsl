// Whole cells in storage buffers: four diagonal planes, by j and k; with TABLE also H of all cells.
// Needs Triple (triples.glsl) and Cell (recurrence3.glsl).
#ifdef LINEAR
layout(std430, binding = SIDES_BINDING) buffer Planes { int planes[]; };

Cell stored_cell(uint at) { return Cell(planes[at]); }

void store(uint at, Cell c) { planes[at] = c.h; }
#else
layout(std430, binding = SIDES_BINDING) buffer Planes { ivec4 planes[]; };

Cell stored_cell(uint at) {
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
    return min(min(i, j), k) < 0 ? border_cell() : stored_cell(place_of(triple, i, j, k));
}

#ifdef TABLE
layout(std430, binding = DIRECTIONS_BINDING) writeonly buffer Table { int table[]; };

void store_cell(Triple triple, int i, int j, int k, Cell c) {
    store(place_of(triple, i, j, k), c);
    table[uint((i * triple.m + j) * triple.n + k)] = c.h;
}
#else
void store_cell(Triple triple, int i, int j, int k, Cell c) { store(place_of(triple, i, j, k), c); }
#endif
