// A side: H of a cell, and X of the columns that leave it along one axis, for its neighbour there.
// PACKED, for scores below 2^16: two values per word; with LINEAR gaps they are H of two cells.
// Needs Cell and `opens` (recurrence3.glsl); LINEAR and PACKED may be defined.
#if defined(PACKED) && defined(LINEAR)
const int PER_WORD = 2;
#else
const int PER_WORD = 1;
#endif

#ifdef LINEAR
#define Side int

bool is_empty(Side s) { return s == EMPTY; }

Side joined(Side first, Side second) { return PER_WORD == 1 ? first : first | second << 16; }

Side part(Side word, int x) {
    return PER_WORD == 1 ? word : x == 0 ? word & 65535 : int(uint(word) >> 16);
}

Side i_side(Cell c) { return c.h; }

Side j_side(Cell c) { return c.h; }

Side k_side(Cell c) { return c.h; }

Cell from_i(Side s) { return Cell(s); }

Cell from_j(Side s) { return Cell(s); }

Cell from_k(Side s) { return Cell(s); }
#else
#ifdef PACKED
#define Side ivec2

bool is_empty(Side s) { return any(equal(s, ivec2(EMPTY))); }

Side side(int h, int x, int y, int z) {
    return Side(h | x + opens << 16, y + opens | z + opens << 16);
}

ivec4 values(Side s) {
    uvec2 high = uvec2(s) >> 16;
    return ivec4(s.x & 65535, int(high.x) - opens, (s.y & 65535) - opens, int(high.y) - opens);
}
#else
#define Side ivec4

bool is_empty(Side s) { return any(equal(s, ivec4(EMPTY))); }

Side side(int h, int x, int y, int z) { return Side(h, x, y, z); }

ivec4 values(Side s) { return s; }
#endif

Side joined(Side first, Side second) { return first; }

Side part(Side word, int x) { return word; }

Side i_side(Cell c) { return side(c.h, c.ab, c.ac, c.a); }

Side j_side(Cell c) { return side(c.h, c.ab, c.bc, c.b); }

Side k_side(Cell c) { return side(c.h, c.ac, c.bc, c.c); }

Cell from_i(Side s) {
    ivec4 v = values(s);
    return Cell(v.x, v.y, v.z, 0, v.w, 0, 0);
}

Cell from_j(Side s) {
    ivec4 v = values(s);
    return Cell(v.x, v.y, 0, v.z, 0, v.w, 0);
}

Cell from_k(Side s) {
    ivec4 v = values(s);
    return Cell(v.x, 0, v.y, v.z, 0, 0, v.w);
}
#endif
