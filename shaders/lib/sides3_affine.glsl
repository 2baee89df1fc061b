// Sides with affine gaps, see sides3.glsl.
#ifdef PACKED
#define Side ivec2

bool is_empty(Side s) { return any(equal(s, ivec2(EMPTY))); }

#if PACKED == 1
Side side(int h, int x, int y, int z) {
    return Side(h | x + opens << 16, y + opens | z + opens << 16);
}

ivec4 values(Side s) {
    uvec2 high = uvec2(s) >> 16;
    return ivec4(s.x & 65535, int(high.x) - opens, (s.y & 65535) - opens, int(high.y) - opens);
}
#else
Side side(int h, int x, int y, int z) {
    return Side(h, (h - x) + (h - y << 10) + (h - z << 20));
}

ivec4 values(Side s) {
    return ivec4(s.x, s.x - ivec3(s.y & 1023, s.y >> 10 & 1023, s.y >> 20));
}
#endif
#else
#define Side ivec4

bool is_empty(Side s) { return any(equal(s, ivec4(EMPTY))); }

Side side(int h, int x, int y, int z) { return Side(h, x, y, z); }

ivec4 values(Side s) { return s; }
#endif

// A cell that lies behind the borders in j and k, or on one of them: then it was made of a side, and
// there is `none` in place of each X that it does not have and no one asks for.
Cell own_of(Cell c, bool j, bool k, int none) {
    return Cell(c.h, k ? c.ab : none, j ? c.ac : none, c.bc, j && k ? c.a : none, k ? c.b : none,
                j ? c.c : none);
}

Cell on_border(Cell c, bool j, bool k) { return own_of(c, j, k, 0); }

#if defined(PACKED) && PACKED == 2
Cell for_side(Cell c, bool j, bool k) { return own_of(c, j, k, c.h); }
#else
Cell for_side(Cell c, bool j, bool k) { return c; }
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
