// The reversed pass of a score map: each kept border that it comes to is joined with its own values.
// A path through a node is one that ends there and one that begins there, which this pass has; of
// the gap that a path is in at the node each of them has the residue before and the one behind, but
// the path opens it once.
// Needs score_map.glsl.
#ifdef LINEAR
int through(ivec2 before, ivec2 after, int opening) { return before.x + after.x; }

#define DELETION_OPENING 0
#define INSERTION_OPENING 0
#else
int through(ivec2 before, ivec2 after, int opening) {
    return max(before.x + after.x, before.y + after.y + opening);
}

#define DELETION_OPENING (gap_open + gap_extend)
#define INSERTION_OPENING (insertion_open + insertion_extend)
#endif

// Join the last row of a strip of the reversed pass with the kept row before it.
void join_row(int first, int end) {
    int n = pair.target_length, i = pair.query_length - (tile_row + 1) * WORKGROUP * ROWS;
    int row = i / tile_height - 1;
    if (i % tile_height != 0 || map_row + row < 0) return;
    for (int c = first + int(gl_LocalInvocationIndex); c < end; c += WORKGROUP) {
        int j = n - 1 - c;
        if (j > 0) {
            ivec2 before = from_kept(kept[kept_borders(row) + j - 1]);
            raise(row, (j - 1) / tile_width, through(before, row_above[c], INSERTION_OPENING));
        }
    }
}

// The same for the last column of a tile.
void join_column(Lane lane, int end) {
    int m = pair.query_length, n = pair.target_length, j = n - end;
    if (j % tile_width != 0 || j == 0) return;
    for (int r = 0; r < ROWS; ++r) {
        int i = m - 1 - (lane.row + r);
        if (i > 0) {
            ivec2 after = ivec2(lane.h[r], lane.e[r]);
            ivec2 before = from_kept(kept[kept_place(j / tile_width, i - 1)]);
            int score = through(before, after, DELETION_OPENING);
            raise((i - 1) / tile_height, j / tile_width - 1, score);
        }
    }
}
