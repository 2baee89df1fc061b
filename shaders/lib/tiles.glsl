// Borders of tiles, as of blocked.comp: a tile finds the row above it and the
// column left of it where its neighbours have left theirs, and every row_spacing tile rows
// (column_spacing tile columns) a row (column) is kept. Of several regions each has its part of the
// buffers. Needs a definition of this: where row `row` of column `column` of those that are kept
// is.
int kept_place(int column, int row);

#include "lib/sweep.glsl"
#include "lib/kept.glsl"

#ifdef JOIN
coherent
#endif
layout(std430, binding = ROW_ABOVE_BINDING) buffer RowAbove {
    ivec2 row_above[];  // H, F above tile row I, column j
};
layout(std430, binding = COLUMN_LEFT_BINDING) buffer ColumnLeft {
    ivec2 column_left[];  // H, E left of tile column J, row i; from `corners` on that of each tile row
};
uniform int tile_rows;
uniform int row_spacing;
uniform int column_spacing;

Pair pair;
int tile_row, kept_row;  // kept_row: where the last row of the tile is kept, -1 if it is not
int row_at = 0, column_at = 0;  // where the parts of the region begin
int corners;                    // H above and left of the next tile of each tile row

ivec2 above_strip(int j) { return row_above[row_at + j]; }

void below_strip(int j, int end, ivec2 hf[STEP]) {
    for (int c = 0; c < STEP; ++c)
        if (j + c < end) {
            row_above[row_at + j + c] = hf[c];
            if (kept_row >= 0) kept[kept_row + j + c] = to_keep(hf[c]);
        }
}

// Take the column left of the tile and the corner above it; return the highest H of the column. The
// tile to the left has stored the corner, or in column 0 the tile above.
int load_column_left(inout Lane lane, int tile_column) {
    int t = int(gl_LocalInvocationIndex), highest = 0;
    for (int r = 0; r < ROWS; ++r) {
        ivec2 he = column_left[column_at + lane.row + r];
        lane.h[r] = he.x;
        lane.e[r] = he.y;
        highest = max(highest, he.x);
    }
    lane.corner = column_left[t > 0 ? column_at + lane.row - 1 : corners + tile_row].x;
    if (t == WORKGROUP - 1 && tile_column == 0)
        column_left[corners + tile_row + 1].x = lane.h[ROWS - 1];
    return highest;
}

void store_column(Lane lane, int tile_column) {
    int place = kept_place((tile_column + 1) / column_spacing, lane.row);
    for (int r = 0; r < ROWS; ++r) {
        ivec2 he = ivec2(lane.h[r], lane.e[r]);
        column_left[column_at + lane.row + r] = he;
        if ((tile_column + 1) % column_spacing == 0) kept[place + r] = to_keep(he);
    }
    if (gl_LocalInvocationIndex == 0u) column_left[corners + tile_row].x = lane.corner;
}

int highest_above(int first, int end) {
    int h = 0;
    for (int j = first + int(gl_LocalInvocationIndex); j < end; j += WORKGROUP)
        h = max(h, above_strip(j).x);
    return h;
}
