// Where alignments begin and end. Locally anywhere: H is 0 at the borders of the table, and any
// aligned pair may be the last. With GLOBAL_MODE (global and semi-global) both sequences are
// taken as a whole: the borders score gaps at the left ends, and the last cell is one of the last
// row or column, behind which only a gap at the right end follows. All values are higher by an
// origin, so that none on a path is below 1 and the 0 of the recurrence never counts (scoring.py,
// origin). With POSITIONAL_GAPS end gaps that are not free cost what their rows say, above row 0
// what row 0 says; at_cells_of() tells which row the next cells are in, and what is behind it.
// Needs Pair (of pairs.glsl, or as fragment.frag has it), recurrence.glsl, and with POSITIONAL_GAPS
// a definition of this: the costs of a row, as row_costs() of scoring.glsl returns them.
#ifdef POSITIONAL_GAPS
ivec3 costs_of_row(Pair pair, int i);
int rest;

// The costs of a row, and rest_of() it.
void at_cells_of(ivec3 row) {
    at_row(row.xy);
    rest = row.z;
}
#else
#define at_cells_of(row)
#endif
#ifdef GLOBAL_MODE
uniform ivec3 score_offset_terms;  // constant, a row, a column
uniform ivec2 left_insertion, left_deletion, right_insertion, right_deletion;  // open, extend

int score_offset(Pair pair) {
    ivec3 terms = score_offset_terms;
    return terms.x + pair.query_length * terms.y + pair.target_length * terms.z;
}

// The costs of gaps: opposite the rows up to i, or above the first row; behind a cell, where one of
// `rows` and `columns` is 0.
#ifdef POSITIONAL_GAPS
int rows_cost(Pair pair, ivec2 side, int first, int last) {
    last = min(last, pair.query_length - 1);
    if (side.x == 0 || last < first) return 0;
    ivec3 costs = costs_of_row(pair, first);
    return costs.x - costs.z + costs_of_row(pair, last).z;
}

int rest_of(Pair pair, int i) {
    return rows_cost(pair, right_insertion, i + 1, pair.query_length - 1);
}

int left_cost(Pair pair, int i) { return rows_cost(pair, left_insertion, 0, i); }

int above_cost(Pair pair, int columns) {
    return left_deletion.x == 0 ? 0 : gap_cost(costs_of_row(pair, 0).xy, columns);
}

int behind_cost(int rows, int columns) {
    int here = right_deletion.x == 0 ? 0 : gap_cost(ivec2(gap_open, gap_extend), columns);
    return columns > 0 ? here : rest;
}
#else
int left_cost(Pair pair, int i) { return gap_cost(left_insertion, i + 1); }

int above_cost(Pair pair, int columns) { return gap_cost(left_deletion, columns); }

int behind_cost(int rows, int columns) {
    return gap_cost(right_insertion, rows) + gap_cost(right_deletion, columns);
}
#endif

// H in column -1 of row i, and in row -1 of column j.
int left_of(Pair pair, int i) { return score_offset(pair) - left_cost(pair, i); }

int above_of(Pair pair, int j) { return score_offset(pair) - above_cost(pair, j + 1); }

int last_here(Pair pair, Cell c, int i, int j) {
    int rows = pair.query_length - 1 - i, columns = pair.target_length - 1 - j;
    int cost = behind_cost(rows, columns);  // not in the choice, of which compilers make a branch
    return min(rows, columns) == 0 ? c.h - cost : 0;
}
#else
int left_of(Pair pair, int i) { return border_cell().h; }

int above_of(Pair pair, int j) { return border_cell().h; }

int rest_of(Pair pair, int i) { return 0; }

// What an alignment scores whose last cell this is.
int last_here(Pair pair, Cell c, int i, int j) { return c.m; }
#endif
