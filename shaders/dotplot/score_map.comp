#version 430
// Schedule: the tiles of blocked.comp, for the score map of docs/DOTPLOT.md. A tile of the map has
// whole strips and whole tiles of columns. The pass over the table leaves in each tile of the map
// the best H; with JOIN the pass goes over reversed sequences and adds, to each kept border of a
// tile of the map, what paths score that go on from there. E and F are those of the next column
// and row.
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#define CAPPED
#include "lib/leaning.glsl"
#include "lib/tiles.glsl"

uniform int block_diagonal;
uniform int first_row;  // I of the first work group

// A tile of the map has its borders at nodes: node (i, j) lies behind the i-th residue of the query
// and the j-th of the target. The borders of each row of tiles are kept together: the last row,
// then the last column of each tile.
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

#ifdef JOIN
// The reversed pass of a score map: each kept border that it comes to is joined with its own
// values. A path through a node is one that ends there and one that begins there, which this pass
// has; of the gap that a path is in at the node each of them has the residue before and the one
// behind, but the path opens it once.
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
#endif

void main() {
    int t = int(gl_LocalInvocationIndex);
    pair = pair_at(0u);
    tile_row = first_row + int(gl_WorkGroupID.x);
    int tile_column = block_diagonal - tile_row;
    corners = pair.query_length;
    int first = tile_column * COLUMNS, end = first + COLUMNS;
    int multiple = (tile_row + 1) / row_spacing;
    kept_row = multiple * row_spacing == tile_row + 1 ? kept_borders(multiple - 1) : -1;
    Lane lane = lane_at_border(pair, (tile_row * WORKGROUP + t) * ROWS);
    load_column_left(lane, tile_column);
    load_scores();
    Best best = to_reach(lane.row / tile_height, first / tile_width);
    sweep(pair, first, end, 0, steps_over(COLUMNS) + WORKGROUP - 1, lane, best);
    store_column(lane, tile_column);
#ifdef JOIN
    memoryBarrierBuffer();
    barrier();
    join_row(first, end);
    join_column(lane, end);
#else
    best = best_of_group(best);
    if (t == 0) raise(lane.row / tile_height, first / tile_width, best.score);
#endif
}
