// Gotoh's recurrence for local alignment with affine gaps (Liu et al. 2006, section 2).
// Query rows i, target columns j; the equations are written here and nowhere else:
//   E(i,j) = max(H(i,j-1) - gap_open, E(i,j-1) - gap_extend)      gap along the row
//   F(i,j) = max(H(i-1,j) - gap_open, F(i-1,j) - gap_extend)      gap along the column
//   M(i,j) = H(i-1,j-1) + s(i,j)                                  i and j aligned
//   H(i,j) = max(0, M(i,j), E(i,j), F(i,j))
// LINEAR: gap_extend = gap_open, where E(i,j-1) and F(i-1,j) never count, since H is not below them.
// As H >= 0, no E or F inside the table is below -gap_open: that is minus infinity at the border.
// cell() = finish(begin()): a schedule that learns E late calls the two halves.
uniform int gap_open;
#ifndef LINEAR
uniform int gap_extend;
#endif

struct Cell { int h, e, f, m; };

Cell border_cell() { return Cell(0, -gap_open, -gap_open, 0); }

int extend_gap(int h, int gap) {
#ifdef LINEAR
    return h - gap_open;
#else
    return max(h - gap_open, gap - gap_extend);
#endif
}

bool opens_gap(int gap, int h) { return gap == h - gap_open; }

Cell begin(Cell diagonal, Cell up, int s) {
    int m = diagonal.h + s, f = extend_gap(up.h, up.f);
    return Cell(max(max(m, 0), f), -gap_open, f, m);
}

Cell finish(Cell c, int e) { return Cell(max(c.h, e), e, c.f, c.m); }

Cell cell(Cell diagonal, Cell left, Cell up, int s) {
    return finish(begin(diagonal, up, s), extend_gap(left.h, left.e));
}
