/* Local alignment of three sequences on one core, a cell at a time and without sub-tables: the
   version "CPU" of Sudo et al. 2012, and a judge of the engines. cpu3.py builds and calls it.

   Cells are (i, j, k), 0 <= i <= l, 0 <= j <= m, 0 <= k <= n. A column of an alignment is known by
   the sequences that have a letter in it: 1 the first, 2 the second, 4 the third, and sums. */

#include <stddef.h>
#include <stdint.h>

typedef struct {
  const uint8_t *a, *b, *c; /* the letters of the sequences, l, m and n of them */
  const int32_t *matrix;    /* letters x letters, scores of pairs */
  int32_t l, m, n, letters;
  int32_t identity;                  /* 1: one score for all three letters, none for two */
  int32_t match, mismatch, matching; /* with identity; letters from `matching` match none */
  int32_t opens, extends, mixed;     /* costs of columns with gaps; linear if opens == extends */
} Problem;

typedef struct {
  int32_t score, i, j, k;
} Best;

enum { NEVER = -(1 << 29) };

static inline int32_t larger(int32_t x, int32_t y) { return x > y ? x : y; }

/* Of several best cells the one with the smallest i + j + k counts, of these that with the smallest
   i, then j; a score of 0 is found nowhere. */
static inline void look_at(Best *best, int32_t score, int32_t i, int32_t j, int32_t k) {
  if (score < best->score || score == 0) return;
  if (score == best->score) {
    int32_t later = i + j + k - best->i - best->j - best->k;
    if (later > 0 || (later == 0 && (i > best->i || (i == best->i && j > best->j)))) return;
  }
  *best = (Best){score, i, j, k};
}

static inline int32_t of_two(const Problem *p, int32_t x, int32_t y, int identity) {
  return identity ? 0 : p->matrix[x * p->letters + y];
}

static inline int32_t of_three(const Problem *p, int32_t x, int32_t y, int32_t z, int identity) {
  if (identity) return (x == y) & (x == z) & (x < p->matching) ? p->match : p->mismatch;
  return of_two(p, x, y, 0) + of_two(p, x, z, 0) + of_two(p, y, z, 0);
}

/* What a column scores that ends in a cell, the costs of its gaps apart. */
static int32_t of_column(const Problem *p, int t, int32_t i, int32_t j, int32_t k) {
  if (t == 3) return of_two(p, p->a[i - 1], p->b[j - 1], p->identity);
  if (t == 5) return of_two(p, p->a[i - 1], p->c[k - 1], p->identity);
  if (t == 6) return of_two(p, p->b[j - 1], p->c[k - 1], p->identity);
  if (t == 7) return of_three(p, p->a[i - 1], p->b[j - 1], p->c[k - 1], p->identity);
  return 0;
}

/* Whether a column can end in a cell: on the border of the table some sequences have no letter. */
static inline int possible(int t, int32_t i, int32_t j, int32_t k) {
  return (i > 0 || !(t & 1)) && (j > 0 || !(t & 2)) && (k > 0 || !(t & 4));
}

/* linear gaps */

/* A cell of the border, or any other. `here` and `before` point to the planes i and i - 1. */
static int32_t any_cell(const Problem *p, const int32_t *here, const int32_t *before, int32_t i,
                        int32_t j, int32_t k) {
  int32_t h = 0;
  for (int t = 1; t <= 7; t++) {
    if (!possible(t, i, j, k)) continue;
    const int32_t *plane = t & 1 ? before : here;
    ptrdiff_t at = (ptrdiff_t)(j - (t >> 1 & 1)) * (p->n + 1) + k - (t >> 2);
    h = larger(h, plane[at] + of_column(p, t, i, j, k) - (t == 7 ? 0 : p->opens));
  }
  return h;
}

/* Equation (2). `tables` holds so many planes: all l + 1, or two that are used in turn. */
static inline Best linear(const Problem *p, int32_t *tables, int32_t planes, int identity,
                          int find) {
  Best best = {0, 0, 0, 0};
  const ptrdiff_t row = p->n + 1, plane = row * (p->m + 1);
  const int32_t gap = p->opens;
  for (int32_t i = 0; i <= p->l; i++) {
    int32_t *here = tables + i % planes * plane;
    const int32_t *before = i ? tables + (i - 1) % planes * plane : here;
    for (int32_t j = 0; j <= p->m; j++) {
      int32_t *h = here + j * row;
      const int inside = i > 0 && j > 0;
      const int32_t border = inside ? 0 : p->n;
      for (int32_t k = 0; k <= border; k++) {
        h[k] = any_cell(p, here, before, i, j, k);
        if (find) look_at(&best, h[k], i, j, k);
      }
      if (!inside) continue;
      const int32_t *h_a = before + j * row, *h_b = h - row, *h_ab = h_a - row;
      const int32_t x = p->a[i - 1], y = p->b[j - 1], xy = of_two(p, x, y, identity);
      for (int32_t k = 1; k <= p->n; k++) {
        const int32_t z = p->c[k - 1];
        int32_t best_here = larger(0, h_ab[k - 1] + of_three(p, x, y, z, identity));
        best_here = larger(best_here, h_ab[k] + xy - gap);
        best_here = larger(best_here, h_a[k - 1] + of_two(p, x, z, identity) - gap);
        best_here = larger(best_here, h_b[k - 1] + of_two(p, y, z, identity) - gap);
        best_here = larger(best_here, larger(larger(h_a[k], h_b[k]), h[k - 1]) - gap);
        h[k] = best_here;
        if (find && best_here >= best.score) look_at(&best, best_here, i, j, k);
      }
    }
  }
  return best;
}

/* affine gaps */

/* entry[0]: H of a cell; entry[t]: the best score of what a column t can follow in it, its cost
   subtracted. */
typedef struct {
  int32_t entry[8];
} Cell;

static inline Cell cell_of(const Problem *p, const int32_t *ending) {
  Cell cell;
  int32_t h = larger(0, ending[7]);
  for (int t = 1; t <= 6; t++) h = larger(h, ending[t]);
  cell.entry[0] = h;
  for (int t = 1; t <= 6; t++)
    cell.entry[t] = larger(h - p->opens, ending[t] - p->extends);
  cell.entry[1] = larger(cell.entry[1], larger(ending[3], ending[5]) - p->mixed);
  cell.entry[2] = larger(cell.entry[2], larger(ending[3], ending[6]) - p->mixed);
  cell.entry[3] = larger(cell.entry[3], larger(ending[1], ending[2]) - p->mixed);
  cell.entry[4] = larger(cell.entry[4], larger(ending[5], ending[6]) - p->mixed);
  cell.entry[5] = larger(cell.entry[5], larger(ending[1], ending[4]) - p->mixed);
  cell.entry[6] = larger(cell.entry[6], larger(ending[2], ending[4]) - p->mixed);
  return cell;
}

static Cell any_cell_affine(const Problem *p, const Cell *here, const Cell *before, int32_t i,
                            int32_t j, int32_t k) {
  int32_t ending[8];
  for (int t = 1; t <= 7; t++) {
    ending[t] = NEVER;
    if (!possible(t, i, j, k)) continue;
    const Cell *plane = t & 1 ? before : here;
    ptrdiff_t at = (ptrdiff_t)(j - (t >> 1 & 1)) * (p->n + 1) + k - (t >> 2);
    ending[t] = plane[at].entry[t % 7] + of_column(p, t, i, j, k);
  }
  return cell_of(p, ending);
}

/* As linear, with two planes. */
static inline Best affine(const Problem *p, Cell *two_planes, int identity) {
  Best best = {0, 0, 0, 0};
  const ptrdiff_t row = p->n + 1, plane = row * (p->m + 1);
  for (int32_t i = 0; i <= p->l; i++) {
    Cell *here = two_planes + i % 2 * plane;
    const Cell *before = two_planes + (i + 1) % 2 * plane;
    for (int32_t j = 0; j <= p->m; j++) {
      Cell *cell = here + j * row;
      const int inside = i > 0 && j > 0;
      const int32_t border = inside ? 0 : p->n;
      for (int32_t k = 0; k <= border; k++) {
        cell[k] = any_cell_affine(p, here, before, i, j, k);
        look_at(&best, cell[k].entry[0], i, j, k);
      }
      if (!inside) continue;
      const Cell *cell_a = before + j * row, *cell_b = cell - row, *cell_ab = cell_a - row;
      const int32_t x = p->a[i - 1], y = p->b[j - 1], xy = of_two(p, x, y, identity);
      for (int32_t k = 1; k <= p->n; k++) {
        const int32_t z = p->c[k - 1];
        const int32_t ending[8] = {
            0,
            cell_a[k].entry[1],
            cell_b[k].entry[2],
            cell_ab[k].entry[3] + xy,
            cell[k - 1].entry[4],
            cell_a[k - 1].entry[5] + of_two(p, x, z, identity),
            cell_b[k - 1].entry[6] + of_two(p, y, z, identity),
            cell_ab[k - 1].entry[0] + of_three(p, x, y, z, identity),
        };
        cell[k] = cell_of(p, ending);
        if (cell[k].entry[0] >= best.score) look_at(&best, cell[k].entry[0], i, j, k);
      }
    }
  }
  return best;
}

/* Linear gaps: fill planes of (m + 1) x (n + 1) cells, two in turn or all l + 1 of the table.
   Without `find` the best cell is not looked for. */
void cpu3_linear(const Problem *p, int32_t *tables, int32_t planes, int32_t find, Best *best) {
  if (p->identity)
    *best = find ? linear(p, tables, planes, 1, 1) : linear(p, tables, planes, 1, 0);
  else
    *best = find ? linear(p, tables, planes, 0, 1) : linear(p, tables, planes, 0, 0);
}

/* Affine gaps: `two_planes` has room for 2 x (m + 1) x (n + 1) cells of 8 int32. */
void cpu3_affine(const Problem *p, int32_t *two_planes, Best *best) {
  Cell *cells = (Cell *)two_planes;
  *best = p->identity ? affine(p, cells, 1) : affine(p, cells, 0);
}
