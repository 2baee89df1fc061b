// A column of a row in a storage buffer: the row above is completed with its E, then F and H' of
// this row are computed, for all columns at once (Lin et al. 2015, eq. 2 and 6), and the best cell
// is kept.
#include "lib/scan.glsl"
#include "lib/candidates.glsl"

// P(j - 1) in the row above, see scan.glsl; what includes this defines it.
int prefix_above(uint p, int j);

Cell above(uint p, int j) {
    if (row == 0 || j < 0) return border_cell();
    Cell c = upper_cell(values[h_place(p, row - 1, j)], values[f_place(p, j)]);
    return finish(c, gap_after(prefix_above(p, j)));
}

Cell begin_column(uint p, Pair pair, int j) {
    int s = score(profiled(query_letter(pair, row)), target_letter(pair, j));
    at_row_of(pair, row - 1);
    Cell corner = above(p, j - 1), up = above(p, j);
    at_row_of(pair, row);
    Cell c = begin(corner, up, s);
    values[h_place(p, row, j)] = c.h;
    values[f_place(p, j)] = c.f;
    offer(int(p) * stride + j, c.m, row, j);
    return c;
}
