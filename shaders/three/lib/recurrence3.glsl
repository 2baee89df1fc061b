// Smith-Waterman of three sequences (Sudo et al. 2012, equation 2) with linear or affine gaps. A
// column of an alignment has letters of some of the sequences a, b, c; the equations are written
// only here. With t a column with gaps, p(t) the cell before it and s(t) the score of its letters:
//   D_t(cell) = s(t) + X_t(p(t))
//   X_t(cell) = max(H - opens, D_t - extends, D_u - mixed for the two u next to t)
//   H(cell)   = max(least, s(abc) + H(p(abc)), D_t for all six t)
// where `least` is 0, or in global alignment that of least_of(). In the paper p(abc) is (i-1, j-1,
// k-1), p(ab) is (i-1, j-1, k), p(a) is (i-1, j, k), and so on; s(abc) is A, all other s are 0, and
// each column with gaps costs `gap`, here -opens. Its H outside the table, 0, is border_cell().
// Next to a are ab and ac, next to ab are a and b, and so on; only with sums of pairs, where a gap
// of one pair continues between them (quasi-natural gap costs, Altschul 1989). With LINEAR gaps X_t
// is H - opens. As H >= 0, no X inside the table is below -opens, which thus serves as minus
// infinity at the border. LINEAR, IDENTITY, GAP_GAP and WHOLE may be defined; needs LETTERS, and
// without IDENTITY what scoring.glsl needs.
uniform int opens;
#ifndef LINEAR
uniform int extends;
uniform int mixed;
#endif

#ifdef GAP_GAP
uniform int gap_gap;  // what a column of one letter costs more

int lone(int x) { return x - gap_gap; }
#else
int lone(int x) { return x; }
#endif

struct Column { int abc, ab, ac, bc; };           // what the letters of a column score
struct Moves { int abc, ab, ac, bc, a, b, c; };   // into a cell; with LINEAR gaps before they cost

#ifdef LINEAR
struct Cell { int h; };

Cell border_cell() { return Cell(0); }

Moves moves(Cell abc, Cell ab, Cell ac, Cell bc, Cell a, Cell b, Cell c, Column s) {
    return Moves(abc.h + s.abc, ab.h + s.ab, ac.h + s.ac, bc.h + s.bc, lone(a.h), lone(b.h),
                 lone(c.h));
}

int gap_cost() { return opens; }
#else
struct Cell { int h, ab, ac, bc, a, b, c; };  // H and X

Cell border_cell() { return Cell(0, -opens, -opens, -opens, -opens, -opens, -opens); }

Moves moves(Cell abc, Cell ab, Cell ac, Cell bc, Cell a, Cell b, Cell c, Column s) {
    return Moves(abc.h + s.abc, ab.ab + s.ab, ac.ac + s.ac, bc.bc + s.bc, lone(a.a), lone(b.b),
                 lone(c.c));
}

int gap_cost() { return 0; }

// The last two less `mixed`: a maximum of three, which a GPU may have, then has no cost within.
int after(int opened, int extended, int next, int other) {
    int x = max(opened, extended - extends);
#ifdef IDENTITY
    return x;
#else
    return max(max(next, other), x);
#endif
}
#endif

Cell cell(Moves d, int least) {
    int two = max(max(d.ab, d.ac), d.bc), one = max(max(d.a, d.b), d.c);
    int h = max(max(d.abc, least), max(two, one) - gap_cost());
#ifdef LINEAR
    return Cell(h);
#else
    int x = h - opens, ab = d.ab - mixed, ac = d.ac - mixed, bc = d.bc - mixed;
    int a = d.a - mixed, b = d.b - mixed, c = d.c - mixed;
    return Cell(h, after(x, d.ab, a, b), after(x, d.ac, a, c), after(x, d.bc, b, c),
                after(x, d.a, ab, ac), after(x, d.b, ab, bc), after(x, d.c, ac, bc));
#endif
}

// The score of the letters of a column, from their pairs: paired(x, y) is the score of two letters,
// with IDENTITY all bits if they are the same: then A of equation 2, match if all three letters are
// the same, takes logical operations in place of branches (section 6.4.2). The last letter, LETTERS
// - 1, aligns with none.
#ifdef IDENTITY
uniform int match;
uniform int mismatch;
uniform int matching;  // letters below it match themselves, the others are ambiguous

void load_scores() {}

int paired(int x, int y) { return x == y && x < matching ? -1 : 0; }

Column column(int ab, int ac, int bc) {
    return Column((ab & ac & (match - mismatch)) + mismatch, 0, 0, 0);
}
#else
#include "lib/scoring.glsl"

int paired(int x, int y) { return score(profiled(x), y); }

Column column(int ab, int ac, int bc) { return Column(ab + ac + bc, ab, ac, bc); }
#endif

// Where alignments begin and end. Without WHOLE anywhere. With it an alignment contains at least
// WHOLE of the sequences from the first letter, and at least as many to the last one: 3 in global,
// 1 in semi-global alignment. Every sequence then begins with a letter that aligns with none, so
// that its cell is that before the first letter; H is higher by `origin`, and so never 0 inside the
// table.
#ifdef WHOLE
uniform int origin;

int how_many(bvec3 x) { return int(x.x) + int(x.y) + int(x.z); }

// The least H of a cell: that of an alignment which begins there, or 0.
int least_of(int a, int b, int c) {
    return how_many(equal(ivec3(a, b, c), ivec3(LETTERS - 1))) >= WHOLE ? origin : 0;
}

// Whether alignments end in a cell, from the letters that are ahead of it, with its own.
bool is_end(ivec3 ahead) {
    return all(greaterThan(ahead, ivec3(0))) && how_many(equal(ahead, ivec3(1))) >= WHOLE;
}
#else
int least_of(int a, int b, int c) { return 0; }

bool is_end(ivec3 ahead) { return true; }
#endif
