// Where alignments begin and end. Locally anywhere: H is 0 at the borders of the table, and any
// aligned pair may be the last. With GLOBAL_MODE (global and semi-global) both sequences are
// taken as a whole: the borders score gaps at the left ends, and the last cell is one of the last
// row or column, behind which only a gap at the right end follows. All values are higher by an
// origin, so that none on a path is below 1 and the 0 of the recurrence never counts (scoring.py,
// origin).
// Needs Pair (of pairs.glsl, or as fragment.frag has it) and recurrence.glsl.
#ifdef GLOBAL_MODE
uniform ivec3 score_offset_terms;  // constant, a row, a column
uniform ivec2 left_insertion, left_deletion, right_insertion, right_deletion;  // open, extend

int score_offset(Pair pair) {
    ivec3 terms = score_offset_terms;
    return terms.x + pair.query_length * terms.y + pair.target_length * terms.z;
}

// H in column -1 of row i, and in row -1 of column j.
int left_of(Pair pair, int i) { return score_offset(pair) - gap_cost(left_insertion, i + 1); }

int above_of(Pair pair, int j) { return score_offset(pair) - gap_cost(left_deletion, j + 1); }

int last_here(Pair pair, Cell c, int i, int j) {
    int rows = pair.query_length - 1 - i, columns = pair.target_length - 1 - j;
    int cost = gap_cost(right_insertion, rows) + gap_cost(right_deletion, columns);
    return min(rows, columns) == 0 ? c.h - cost : 0;
}
#else
int left_of(Pair pair, int i) { return border_cell().h; }

int above_of(Pair pair, int j) { return border_cell().h; }

// What an alignment scores whose last cell this is.
int last_here(Pair pair, Cell c, int i, int j) { return c.m; }
#endif
