// Several regions of blocked.comp in a dispatch: each has its part of the buffers of tile_borders
// and of the directions. A region of which rows and columns are kept keeps its own borders too.
// Needs tile_borders.glsl, directions.glsl and lane.glsl.
uniform int row_size;      // columns of the widest region
uniform int kept_size;     // what is kept of a region, 0 for nothing
uniform int region_words;  // of the directions of a region
int kept_at = 0;           // where the part of the region begins
uint first_word;           // of the directions, in column 0

uint direction_place(int j) { return first_word + next_word(j); }

int kept_place(int column, int row) {
    int n = pair.target_length, height = tile_rows * WORKGROUP * ROWS;
    return kept_at + (tile_rows / row_spacing + 1) * n + column * height + row;
}

void find_parts(int region) {
    row_at = region * row_size;
    column_at = region * (tile_rows * WORKGROUP * ROWS + tile_rows + 1);
    kept_at = region * kept_size + 1;
    first_word = uint(region) * uint(region_words);
}

// Keep the row above the region, the column left of it, and before both H above and left of them.
void keep_borders(Lane lane, int tile_column, int first, int end) {
    int t = int(gl_LocalInvocationIndex);
    if (tile_row == 0)
        for (int j = first + t; j < end; j += WORKGROUP)
            kept[kept_at + j] = to_keep(above_strip(j));
    if (tile_column == 0)
        for (int r = 0; r < ROWS; ++r)
            kept[kept_place(0, lane.row) + r] = to_keep(ivec2(lane.h[r], lane.e[r]));
    if (tile_row + tile_column + t == 0) kept[kept_at - 1] = to_keep(ivec2(lane.corner));
}
