#version 330
// Schedule: anti-diagonals by drawing (Liu et al. 2006, section 5, figures 5, 8 and 9). Pass k
// draws a quad over diagonal k of N tables: pixel x = row, y = table. Rows are shifted by their
// number, so that a diagonal is a column of pixels, and the quad has no others (figure 7): left of
// and above (x, y) are x and x - 1 of pass k - 1, and above left is x - 1 of pass k - 2. The loop
// over passes (figure 10) and the textures that take turns (figure 6) are in
// glsw/engines/fragment.py. quad.vert and this are the programs of figure 3; the textures are the
// input streams of figure 4. Where the paper has a cell, a fragment computes a tile of ROWS x
// COLUMNS cells in registers, and stores its last column and its last row: 1 x 1 is the paper.
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#include "lib/texel.glsl"
struct Pair { int query_length, target_length, query; };
#include "lib/span.glsl"
const int ROWS = TEXELS * TILE, COLUMNS = TILE;  // a texel has TILE values; TEXELS are 1 or 2

uniform int diagonal;              // k: row + column of tiles, from 0 where the paper has 1
uniform isampler2D pairs;          // by y: see Pair
uniform usampler2D targets;        // by y: letters of a row of a tile, padded with LETTERS
uniform usampler2D query_profile;  // query_profile.frag
uniform isampler2D best_cells;     // of pass k - 1
layout(location = 0) out ivec4 new_best;
// Borders of tiles: H of the last row, H and E of the last column, F of the last row.
const int ROW_H = 0, COLUMN_H = 1, COLUMN_E = 1 + TEXELS, ROW_F = 1 + 2 * TEXELS;
#ifdef LINEAR
const int BORDERS = COLUMN_E;
#else
const int BORDERS = ROW_F + 1;
#endif
uniform usampler2D borders[BORDERS], corners;  // of pass k - 1, and ROW_H of pass k - 2
layout(location = 1) out uvec4 new_borders[BORDERS];

#define border(k, tile) texelFetch(borders[k], tile, 0)
#define profile(x, y) texelFetch(query_profile, ivec2(x, y), 0)

#ifdef POSITIONAL_GAPS
ivec3 costs_of_row(Pair pair, int i) {
    int y = pair.query * PROFILE_LETTERS + LETTERS + 1;
    ivec3 costs;
    for (int k = 0; k < 3; ++k) costs[k] = value(profile(i / TILE, y + k), i % TILE);
    return costs;
}
#endif

void unpack_row(uvec4 texel, out int values[COLUMNS]) {
    for (int k = 0; k < TILE; ++k) values[k] = value(texel, k);
}

uvec4 row_texel(int values[COLUMNS]) {
    uvec4 texel = uvec4(0u);
    for (int k = 0; k < TILE; ++k) put(texel, k, values[k]);
    return texel;
}

// A column is its first texel and its last one, which may be the same.
const int LAST = TEXELS - 1;

void unpack_column(uvec4 first, uvec4 last, out int values[ROWS]) {
    for (int k = 0; k < TILE; ++k) {
        values[k] = value(first, k);
        values[LAST * TILE + k] = value(last, k);
    }
}

uvec4 column_texel(int values[ROWS], int n) {
    uvec4 texel = uvec4(0u);
    for (int k = 0; k < TILE; ++k) put(texel, k, values[n * TILE + k]);
    return texel;
}

void query_scores(int row, int y, out int scores[ROWS]) {
    unpack_column(profile(row * TEXELS, y), profile(row * TEXELS + LAST, y), scores);
}

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy), above = here - ivec2(1, 0);
    int row = here.x, column = diagonal - row, i = row * ROWS, j = column * COLUMNS;
    ivec4 lengths = texelFetch(pairs, ivec2(0, here.y), 0);
    Pair pair = Pair(lengths.x, lengths.y, lengths.z);
    // H and E of the column to the left, H and F of the row above: first those of the table.
    int h[ROWS], e[ROWS], top[COLUMNS], f[COLUMNS];
    for (int r = 0; r < ROWS; ++r) { h[r] = left_of(pair, i + r); e[r] = border_gap; }
    for (int c = 0; c < COLUMNS; ++c) { top[c] = above_of(pair, j + c); f[c] = border_gap; }
    int corner = row == 0 ? above_of(pair, j - 1) : left_of(pair, i - 1);
    // The best of all tiles (row' <= row, column' <= column) flows down and right to the last tile.
    Best best = NOTHING;
    if (column > 0) best = best_from(texelFetch(best_cells, here, 0));
    if (row > 0) best = better(best, best_from(texelFetch(best_cells, above, 0)));
    if (i < pair.query_length && j < pair.target_length) {
        if (column > 0) unpack_column(border(COLUMN_H, here), border(COLUMN_H + LAST, here), h);
        if (row > 0) unpack_row(border(ROW_H, above), top);
        if (row > 0 && column > 0) corner = value(texelFetch(corners, above, 0), TILE - 1);
#ifndef LINEAR
        if (column > 0) unpack_column(border(COLUMN_E, here), border(COLUMN_E + LAST, here), e);
        if (row > 0) unpack_row(border(ROW_F, above), f);
#endif
        int letters[COLUMNS], scores[ROWS], y = pair.query * PROFILE_LETTERS;
        unpack_row(texelFetch(targets, ivec2(column, here.y), 0), letters);
#ifdef POSITIONAL_GAPS
        int opens[ROWS], extends[ROWS], rests[ROWS];
        query_scores(row, y + LETTERS + 1, opens);
        query_scores(row, y + LETTERS + 2, extends);
        bool at_end = j + COLUMNS >= pair.target_length;
        for (int r = 0; r < ROWS; ++r) rests[r] = at_end ? rest_of(pair, i + r) : 0;
#endif
        for (int c = 0; c < COLUMNS; ++c) {
            query_scores(row, y + letters[c], scores);
            Cell up = upper_cell(top[c], f[c]), above_left = upper_cell(corner, 0);
            corner = top[c];
            for (int r = 0; r < ROWS; ++r) {  // h and e: of column c before row r, else of c - 1
                Cell left = left_cell(h[r], e[r]);
                at_cells_of(ivec3(opens[r], extends[r], rests[r]));
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
    new_borders[COLUMN_H] = column_texel(h, 0);
    new_borders[COLUMN_H + LAST] = column_texel(h, LAST);
    new_borders[ROW_H] = row_texel(top);
#ifndef LINEAR
    new_borders[COLUMN_E] = column_texel(e, 0);
    new_borders[COLUMN_E + LAST] = column_texel(e, LAST);
    new_borders[ROW_F] = row_texel(f);
#endif
}
