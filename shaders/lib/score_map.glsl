// Scores of the tiles of a map, row by row. The borders of a tile are its last row and its last
// column, at nodes: node (i, j) lies behind the i-th residue of the query and the j-th of the
// target. The borders of each row of tiles are kept together: the last row, then the last column of
// each tile.
// Needs tiles.glsl, recurrence.glsl, best.glsl, WORKGROUP and ROWS; JOIN may be defined.
layout(std430, binding = BEST_BINDING) buffer MapTiles { int map_tiles[]; };
uniform int map_row;  // the first of this part of the table
uniform int map_columns;
uniform int tile_height, tile_width;
uniform int kept_first;  // row of tiles whose borders are the second in the buffer

// Where the borders of a row of tiles begin, and its last row.
int kept_borders(int row) { return (row + 1 - kept_first) * 2 * pair.target_length; }

int kept_place(int column, int row) {
    int place = kept_borders(row / tile_height) + pair.target_length;
    return place + (column - 1) * tile_height + row % tile_height;
}

// Raise a tile to a score, in rows of this part.
void raise(int row, int column, int score) {
    int k = (map_row + row) * map_columns + column;
    if (score > map_tiles[k]) atomicMax(map_tiles[k], min(score, cap));
}

// The score that H has to reach to count: none does in a tile that has the cap, or with JOIN.
Best to_reach(int row, int column) {
#ifdef JOIN
    return at_least(cap + 1);
#else
    int known = map_tiles[(map_row + row) * map_columns + column];
    return at_least(known < cap ? known : cap + 1);
#endif
}
