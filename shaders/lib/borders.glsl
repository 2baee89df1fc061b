// Borders of TILE x TILE tiles in textures: the last column of a tile (H and E) and its last row
// (H and F), TILE values per texel. With LINEAR gaps E and F are neither stored nor loaded.
// Needs batch.glsl, TILE and BITS.
#include "lib/texel.glsl"
#include "lib/recurrence.glsl"
#include "lib/span.glsl"

struct Border { int h[TILE], gap[TILE]; };

uniform usampler2D column_h;   // tiles of diagonal k - 1
uniform usampler2D row_h;      // tiles of diagonal k - 1
uniform usampler2D corner_h;   // row_h of diagonal k - 2
layout(location = 1) out uvec4 new_column_h;
layout(location = 2) out uvec4 new_row_h;
#ifndef LINEAR
uniform usampler2D column_e;
uniform usampler2D row_f;
layout(location = 3) out uvec4 new_column_e;
layout(location = 4) out uvec4 new_row_f;
#endif

Border no_border() {
    Border b;
    for (int k = 0; k < TILE; ++k) {
        b.h[k] = border_cell().h;
        b.gap[k] = border_cell().e;
    }
    return b;
}

// Of the table, left of a tile row and above a tile column.
Border table_left(Pair pair, int row) {
    Border b = no_border();
    for (int k = 0; k < TILE; ++k) b.h[k] = left_of(pair, row * TILE + k);
    return b;
}

Border table_top(Pair pair, int column) {
    Border b = no_border();
    for (int k = 0; k < TILE; ++k) b.h[k] = above_of(pair, column * TILE + k);
    return b;
}

Border last_column(ivec2 tile) {
    Border b = no_border();
    unpack(texelFetch(column_h, tile, 0), b.h);
#ifndef LINEAR
    unpack(texelFetch(column_e, tile, 0), b.gap);
#endif
    return b;
}

Border last_row(ivec2 tile) {
    Border b = no_border();
    unpack(texelFetch(row_h, tile, 0), b.h);
#ifndef LINEAR
    unpack(texelFetch(row_f, tile, 0), b.gap);
#endif
    return b;
}

int last_corner(ivec2 tile) {
    int h[TILE];
    unpack(texelFetch(corner_h, tile, 0), h);
    return h[TILE - 1];
}

void store_borders(Border column, Border row) {
    new_column_h = pack(column.h);
    new_row_h = pack(row.h);
#ifndef LINEAR
    new_column_e = pack(column.gap);
    new_row_f = pack(row.gap);
#endif
}
