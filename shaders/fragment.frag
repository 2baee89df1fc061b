#version 330
// Schedule: anti-diagonals by drawing (Liu et al. 2006, section 5, figures 5 to 10). Pass k draws
// one quad over the live cells of diagonal k of N pairs: pixel x = row, y = pair, and rows are
// shifted by their number, so that a diagonal is a column and the neighbours of (x, y) are x and x
// - 1 in the textures of passes k - 1 and k - 2. A "cell" of the quad is a tile of TILE x TILE
// cells.
#include "lib/batch.glsl"
#include "lib/recurrence.glsl"
#include "lib/borders.glsl"
#include "lib/best.glsl"

uniform int diagonal;           // k: tile row + tile column
uniform isampler2D best_cells;  // of diagonal k - 1
layout(location = 0) out ivec4 new_best;

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy), above = here - ivec2(1, 0);
    int row = here.x, column = diagonal - row;
    Pair pair = pair_at(here.y);
    Border left = no_border(), top = no_border();
    Best best = NOTHING;
    // The best of all tiles (row' <= row, column' <= column) flows down and right to the last tile.
    if (column > 0) best = best_from(texelFetch(best_cells, here, 0));
    if (row > 0) best = better(best, best_from(texelFetch(best_cells, above, 0)));
    if (row * TILE < pair.query_length && column * TILE < pair.target_length) {
        int corner = row == 0 ? above_of(pair, column * TILE - 1) : left_of(pair, row * TILE - 1);
        left = table_left(pair, row);
        top = table_top(pair, column);
        if (column > 0) left = last_column(here);
        if (row > 0) top = last_row(above);
        if (row > 0 && column > 0) corner = last_corner(above);
        int letters[TILE], scores[TILE];
        load_costs(pair, row);
        target_residues(here.y, column, letters);
        for (int c = 0; c < TILE; ++c) {
            query_scores(pair, row, letters[c], scores);
            Cell up = upper_cell(top.h[c], top.gap[c]), above_left = upper_cell(corner, 0);
            corner = top.h[c];
            // left holds H and E of column c - 1 from row r on, of column c before it.
            for (int r = 0; r < TILE; ++r) {
                Cell beside = left_cell(left.h[r], left.gap[r]);
                at_row(tile_costs(r));
                up = cell(above_left, beside, up, scores[r]);
                int i = row * TILE + r, j = column * TILE + c;
                best = better(best, last_here(pair, up, i, j), i, j);
                left.h[r] = up.h;
                left.gap[r] = up.e;
                above_left = beside;
            }
            top.h[c] = up.h;
            top.gap[c] = up.f;
        }
    }
    store_borders(left, top);
    new_best = stored(best);
}
