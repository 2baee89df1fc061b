// What cells tell their neighbours along one of the axes: H, and X of the columns that go that way.
// PACKED, for linear gaps and scores below 2^16: H of two cells in a word.
#ifdef PACKED
const int PER_WORD = 2;
#else
const int PER_WORD = 1;
#endif

#ifdef LINEAR
#define Side int

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
#define Side ivec4

Side joined(Side first, Side second) { return first; }

Side part(Side word, int x) { return word; }

Side i_side(Cell c) { return Side(c.h, c.ab, c.ac, c.a); }

Side j_side(Cell c) { return Side(c.h, c.ab, c.bc, c.b); }

Side k_side(Cell c) { return Side(c.h, c.ac, c.bc, c.c); }

Cell from_i(Side s) { return Cell(s.x, s.y, s.z, 0, s.w, 0, 0); }

Cell from_j(Side s) { return Cell(s.x, s.y, 0, s.z, 0, s.w, 0); }

Cell from_k(Side s) { return Cell(s.x, 0, s.y, s.z, 0, 0, s.w); }
#endif
