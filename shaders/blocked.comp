#version 430
// Schedule: tiles on block anti-diagonals (the "blocked anti-diagonal" of Scan 2014, section III).
// A dispatch has the tiles (I, J) with I + J = block_diagonal; a tile is a strip of
// WORKGROUP x ROWS rows over COLUMNS columns, and only its borders leave it, so that memory is
// linear in m + n: its last row in row_above, its last column in column_left. The table may be a
// region of a larger one, with its borders there before the first dispatch; several regions are
// computed at once. Rows and columns are kept, from which smaller regions can be computed again.
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
layout(std430, binding = BEST_BINDING) buffer BestCells {
    ivec4 best_cells[];  // of tile row I, then the score to beat; with MASKED then the masks
};
#ifdef MASKED
int mask_word(uint at) { return best_cells[at >> 2][at & 3u]; }
#endif
#include "lib/upright.glsl"
#include "lib/tiles.glsl"
#include "lib/prune.glsl"

uniform int block_diagonal;
uniform int first_row;  // I of the first work group
uniform int to_reach;   // by a path to the last cell, 0: the best score so far

// Of several regions each has its part of the buffers.
uniform int row_size;      // columns of the widest region
uniform int kept_size;     // what is kept of a region, 0 for nothing
uniform int region_words;  // of the directions of a region
int kept_at = 0;           // where the part of the region begins
uint first_word;           // of the directions, in column 0
int best_at;               // where its best cells begin

uint direction_place(int j) { return first_word + next_word(j); }

int kept_place(int column, int row) {
    int n = pair.target_length, height = tile_rows * WORKGROUP * ROWS;
    return kept_at + (tile_rows / row_spacing + 1) * n + column * height + row;
}

// Find the parts of buffers of a region, and in it the directions and the kept row of this tile.
void find_parts(int region) {
    row_at = region * row_size;
    best_at = region * (tile_rows + 1);
    column_at = region * (tile_rows * WORKGROUP * ROWS + tile_rows + 1);
    corners = column_at + tile_rows * WORKGROUP * ROWS;
    kept_at = region * kept_size + 1;
    uint words = uint(region) * uint(region_words);
    int n = pair.target_length, t = int(gl_LocalInvocationIndex);
    first_word = words + direction_word(tile_row, n, t, 0);
    int multiple = (tile_row + 1) / row_spacing;
    kept_row = multiple * row_spacing == tile_row + 1 ? kept_at + multiple * n : -1;
}

// Keep the row above the region, the column left of it, and in front of both the corner H.
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

// Leave a tile as if it were at the border of the table.
void leave_out(inout Lane lane, int first, int end) {
    lane = lane_at_border(pair, lane.row);
    lane.corner = above_strip(end - 1).x;
    barrier();
    int j = first + int(gl_LocalInvocationIndex) * STEP;
    for (; j < end; j += WORKGROUP * STEP) below_strip(j, end, lane.below);
}

void main() {
    int t = int(gl_LocalInvocationIndex);
    pair = pair_at(gl_WorkGroupID.y);
    tile_row = first_row + int(gl_WorkGroupID.x);
    int tile_column = block_diagonal - tile_row;
    int first = tile_column * COLUMNS, end = min(first + COLUMNS, pair.target_length);
    int rows_ahead = pair.query_length - tile_row * WORKGROUP * ROWS;
    if (rows_ahead <= 0 || first >= end) return;  // a smaller region than others
    find_parts(int(gl_WorkGroupID.y));
    Lane lane = lane_at_border(pair, (tile_row * WORKGROUP + t) * ROWS);
    int highest = load_column_left(lane, tile_column);
    if (kept_size > 0) keep_borders(lane, tile_column, first, end);
#ifdef MASKED
    find_forbidden(pair, lane.row, first);
#endif
    load_scores();
    // Only cells that beat the best of the tiles before count.
    int to_exceed = best_at + tile_rows, own = best_at + tile_row;
    Best best = better(best_from(best_cells[own]), at_least(best_cells[to_exceed].x));
    int ahead = min(rows_ahead, pair.target_length - first);
    highest = max(max(highest, lane.corner), highest_above(first, end));
    int goal = to_reach > 0 ? to_reach : best_cells[to_exceed].x;
    if (cannot_improve(highest, ahead, goal)) {
        leave_out(lane, first, end);
    } else {
        sweep(pair, first, end, 0, steps_over(end - first) + WORKGROUP - 1, lane, best);
    }
    store_column(lane, tile_column);
    best = best_of_group(best);
    if (t == 0) {
        best_cells[own] = stored(best);
        atomicMax(best_cells[to_exceed].x, best.score);
    }
}
