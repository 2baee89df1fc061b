// A side: H of a cell, and X of the columns that leave it along one axis, for its neighbour there.
// PACKED 1, for scores below 2^16: two values in a word; with LINEAR gaps they are H of two cells.
// PACKED 2, for `opens` below 2^10 - 1 and any score: a word for H, and one for the three X. As H -
// opens <= X <= H, it has by how much they are less.
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

Cell on_border(Cell c, bool j, bool k) { return c; }

Cell for_side(Cell c, bool j, bool k) { return c; }

Side i_side(Cell c) { return c.h; }

Side j_side(Cell c) { return c.h; }

Side k_side(Cell c) { return c.h; }

Cell from_i(Side s) { return Cell(s); }

Cell from_j(Side s) { return Cell(s); }

Cell from_k(Side s) { return Cell(s); }
#else
#include "lib/sides3_affine.glsl"
#endif
