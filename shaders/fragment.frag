#version 330
// Schedule: anti-diagonals by drawing (Liu et al. 2006, section 5, figures 5 to 10). Pass k draws a
// quad over diagonal k of N tables: pixel x = row, y = table. Rows are shifted by their number, so
// that a diagonal is a column of pixels: left of and above (x, y) are x and x - 1 of pass k - 1, and
// above left is x - 1 of pass k - 2. Where the paper has a cell, a fragment computes a tile of TILE
// x TILE cells in registers, and only its last column and its last row are stored: 1 x 1 is the
// paper.
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#include "lib/texel.glsl"
struct Pair { int query_length, target_length, query; };
#include "lib/span.glsl"

uniform int diagonal;              // k: row + column of tiles
uniform isampler2D pairs;          // by y: see Pair
uniform usampler2D targets;        // by y: TILE letters a texel, padded with LETTERS
uniform usampler2D query_profile;  // query_profile.frag
// Of pass k - 1, and of k - 2 the rows once more, of which the last cell is a corner.
uniform isampler2D best_cells;
uniform usampler2D column_h, row_h, corner_h;
layout(location = 0) out ivec4 new_best;
layout(location = 1) out uvec4 new_column_h;
layout(location = 2) out uvec4 new_row_h;
#ifndef LINEAR
uniform usampler2D column_e, row_f;
layout(location = 3) out uvec4 new_column_e;
layout(location = 4) out uvec4 new_row_f;
#endif

void query_scores(Pair pair, int row, int letter, out int scores[TILE]) {
    unpack(texelFetch(query_profile, ivec2(row, pair.query * PROFILE_LETTERS + letter), 0), scores);
}

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy), above = here - ivec2(1, 0);
    int row = here.x, column = diagonal - row, i = row * TILE, j = column * TILE;
    ivec4 stored_pair = texelFetch(pairs, ivec2(0, here.y), 0);
    Pair pair = Pair(stored_pair.x, stored_pair.y, stored_pair.z);
    // H and E of the column to the left, H and F of the row above: first those of the table.
    int h[TILE], e[TILE], top[TILE], f[TILE];
    for (int k = 0; k < TILE; ++k) {
        h[k] = left_of(pair, i + k);
        top[k] = above_of(pair, j + k);
        e[k] = f[k] = border_gap;
    }
    // The best of all tiles (row' <= row, column' <= column) flows down and right to the last tile.
    Best best = NOTHING;
    if (column > 0) best = best_from(texelFetch(best_cells, here, 0));
    if (row > 0) best = better(best, best_from(texelFetch(best_cells, above, 0)));
    if (i < pair.query_length && j < pair.target_length) {
        int corner = row == 0 ? above_of(pair, j - 1) : left_of(pair, i - 1);
        if (row > 0 && column > 0) corner = last_of(texelFetch(corner_h, above, 0));
        if (column > 0) unpack(texelFetch(column_h, here, 0), h);
        if (row > 0) unpack(texelFetch(row_h, above, 0), top);
#ifndef LINEAR
        if (column > 0) unpack(texelFetch(column_e, here, 0), e);
        if (row > 0) unpack(texelFetch(row_f, above, 0), f);
#endif
#ifdef POSITIONAL_GAPS
        int opens[TILE], extends[TILE];
        query_scores(pair, row, LETTERS + 1, opens);
        query_scores(pair, row, LETTERS + 2, extends);
#endif
        int letters[TILE], scores[TILE];
        unpack(texelFetch(targets, ivec2(column, here.y), 0), letters);
        for (int c = 0; c < TILE; ++c) {
            query_scores(pair, row, letters[c], scores);
            Cell up = upper_cell(top[c], f[c]), above_left = upper_cell(corner, 0);
            corner = top[c];
            for (int r = 0; r < TILE; ++r) {  // h and e: of column c before row r, else of c - 1
                Cell left = left_cell(h[r], e[r]);
                at_row(ivec2(opens[r], extends[r]));
                up = cell(above_left, left, up, scores[r]);
                best = better(best, last_here(pair, up, i + r, j + c), i + r, j + c);
                h[r] = up.h;
                e[r] = up.e;
                above_left = left;
            }
            top[c] = up.h;
            f[c] = up.f;
        }
    }
    new_best = stored(best);
    new_column_h = pack(h);
    new_row_h = pack(top);
#ifndef LINEAR
    new_column_e = pack(e);
    new_row_f = pack(f);
#endif
}
