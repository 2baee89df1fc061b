// Gotoh's recurrence for local alignment with affine gaps (Liu et al. 2006, section 2, with alpha =
// gap_open and beta = gap_extend; Scan 2014, figure 2: Gintro and Gext; Lin et al. 2015, equation
// 1: Gs + Ge and Ge). With LINEAR it is equation 1 of Aymone 2022, whose ins is gap_open and del
// insertion_open, and of Sudo et al. 2012, whose gap is -gap_open.
// Query rows i, target columns j; the equations are written here and in
// recurrence_column.glsl and leaning.glsl only:
//   E(i,j) = max(H(i,j-1) - gap_open, E(i,j-1) - gap_extend)      gap along the row
//   F(i,j) = max(H(i-1,j) - gap_open, F(i-1,j) - gap_extend)      gap along the column
//   M(i,j) = H(i-1,j-1) + s(i,j)                                  i and j aligned
//   H(i,j) = max(0, M(i,j), E(i,j), F(i,j))
// LINEAR: gap_extend = gap_open, where E(i,j-1) and F(i-1,j) never count, since H is not below
// them. As H >= 0, no E or F inside the table is below -gap_open (of the row where it is largest):
// that is minus infinity at the border, `border_gap`, passed in already negated, because NVIDIA's
// compiler can lose the sign of a negated uniform. cell() = finish(begin()): a schedule that learns
// E late calls the two halves. recurrence_column.glsl has the same equations for a column of rows.
#include "lib/gap_costs.glsl"
uniform int border_gap;

// A cell and, as t, its H but for F: since gap_open >= gap_extend, F never gains from opening a gap
// where another of its kind ends, so that F(i,j) may be computed from t(i-1,j), a shorter chain.
struct Cell { int h, e, f, m, t; };

Cell border_cell() { return Cell(0, border_gap, border_gap, 0, 0); }

// A neighbour of which H and the gap that is extended from it are known.
Cell left_cell(int h, int e) { return Cell(h, e, 0, 0, h); }

Cell upper_cell(int h, int f) { return Cell(h, 0, f, 0, h); }

int extend_gap(int h, int gap) {
#ifdef LINEAR
    return h - gap_open;
#else
    return max(h - gap_open, gap - gap_extend);
#endif
}

int extend_down(Cell up) {
#ifdef LINEAR
    return up.h - insertion_open;
#else
    return max(up.t - insertion_open, up.f - insertion_extend);
#endif
}

Cell begin(Cell diagonal, Cell up, int s) {
    int m = diagonal.h + s, f = extend_down(up), t = max(m, 0);
    return Cell(max(t, f), border_gap, f, m, t);
}

Cell finish(Cell c, int e) {
    int t = max(c.t, e);
    return Cell(max(t, c.f), e, c.f, c.m, t);
}

Cell cell(Cell diagonal, Cell left, Cell up, int s) {
    return finish(begin(diagonal, up, s), extend_gap(left.h, left.e));
}
