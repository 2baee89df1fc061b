// Scores of the tiles of a map, row by row. The borders of a tile are its last row and its last
// column, at nodes: node (i, j) lies behind the i-th residue of the query and the j-th of the
// target. A path through a node is one that ends there and one that begins there, which the
// reversed pass has; the gap that a path is in at the node is opened once, not twice.
// Needs tile_borders.glsl, recurrence.glsl, best.glsl, WORKGROUP and ROWS; JOIN may be defined.
layout(std430, binding = BEST_BINDING) buffer MapTiles { int map_tiles[]; };
uniform int map_row;  // the first of this part of the table
uniform int map_columns;
uniform int tile_height, tile_width;

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

#ifdef JOIN
#ifdef LINEAR
int through(ivec2 before, ivec2 after, int opening) { return before.x + after.x; }

#define DELETION_OPENING 0
#define INSERTION_OPENING 0
#else
int through(ivec2 before, ivec2 after, int opening) {
    return max(before.x + after.x, before.y + after.y + opening);
}

#define DELETION_OPENING (gap_open - gap_extend)
#define INSERTION_OPENING (insertion_open - insertion_extend)
#endif

// Join the last row of a strip of the reversed pass with the kept row before it.
void join_row(int first, int end) {
    int n = pair.target_length, i = pair.query_length - (tile_row + 1) * WORKGROUP * ROWS;
    int row = i / tile_height - 1;
    if (i % tile_height != 0 || map_row + row < 0) return;
    for (int c = first + int(gl_LocalInvocationIndex); c < end; c += WORKGROUP) {
        int j = n - 1 - c;
        if (j > 0) {
            ivec2 before = from_kept(kept[(row + 1) * n + j - 1]);
            raise(row, (j - 1) / tile_width, through(before, row_above[c], INSERTION_OPENING));
        }
    }
}

// The same for the last column of a tile.
void join_column(Lane lane, int end) {
    int m = pair.query_length, n = pair.target_length, j = n - end;
    if (j % tile_width != 0 || j == 0) return;
    int place = (m / tile_height + 1) * n + j / tile_width * m;
    for (int r = 0; r < ROWS; ++r) {
        int i = m - 1 - (lane.row + r);
        if (i > 0) {
            ivec2 after = ivec2(lane.h[r], lane.e[r]);
            int score = through(from_kept(kept[place + i - 1]), after, DELETION_OPENING);
            raise((i - 1) / tile_height, j / tile_width - 1, score);
        }
    }
}
#endif
