#version 430
// Schedule: tiles on block anti-diagonals (the "blocked anti-diagonal" of Scan 2014, section III).
// A dispatch has the tiles (I, J) with I + J = block_diagonal; a tile is a strip of WORKGROUP x ROWS
// rows over COLUMNS columns, and only its borders leave it: its last row in row_above, its last column in
// column_left, so that memory is linear in m + n. The table may be a region of a larger one, with its borders
// in row_above and column_left before the first dispatch. Every row_spacing tile rows (column_spacing tile
// columns) a row (column) is kept, from which a smaller region can be computed again.
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#include "lib/directions.glsl"
#include "lib/sweep.glsl"
#include "lib/best_of_group.glsl"
#include "lib/prune.glsl"

layout(std430, binding = ROW_ABOVE_BINDING) buffer RowAbove { ivec2 row_above[]; };    // H, F above tile row I, column j
layout(std430, binding = BEST_BINDING) buffer BestCells { ivec4 best_cells[]; };  // of tile row I
layout(std430, binding = COLUMN_LEFT_BINDING) buffer ColumnLeft { ivec2 column_left[]; };  // H, E left of tile column J, row i
layout(std430, binding = KEPT_BINDING) writeonly buffer Kept { ivec2 kept[]; };
uniform int block_diagonal;
uniform int first_row;       // I of the first work group
uniform int tile_rows;
uniform int row_spacing;
uniform int column_spacing;
uniform int corner;          // H above and left of the region

Pair pair;
int tile_row, kept_row;  // kept_row: where the last row of the tile is kept, -1 if it is not
uint first_word;         // of the directions, in column 0

ivec2 above_strip(int j) { return row_above[j]; }

void below_strip(int j, ivec2 hf) {
    row_above[j] = hf;
    if (kept_row >= 0) kept[kept_row + j] = hf;
}

uint direction_place(int j) { return first_word + next_word(j); }

void store_side(Lane lane, int tile_column) {
    int rows = tile_rows * WORKGROUP * ROWS, column = (tile_column + 1) / column_spacing;
    int place = tile_rows / row_spacing * pair.target_length + pair.target_length + column * rows;
    for (int r = 0; r < ROWS; ++r) {
        ivec2 he = ivec2(lane.h[r], lane.e[r]);
        column_left[lane.row + r] = he;
        if ((tile_column + 1) % column_spacing == 0) kept[place + lane.row + r] = he;
    }
}

int highest_above(int first, int end) {
    int h = 0;
    for (int j = first + int(gl_LocalInvocationIndex); j < end; j += WORKGROUP) h = max(h, row_above[j].x);
    return h;
}

void main() {
    int t = int(gl_LocalInvocationIndex);
    pair = pair_at(0u);
    tile_row = first_row + int(gl_WorkGroupID.x);
    first_word = direction_word(tile_row, pair.target_length, t, 0);
    int multiple = (tile_row + 1) / row_spacing;
    kept_row = multiple * row_spacing == tile_row + 1 ? multiple * pair.target_length : -1;
    int tile_column = block_diagonal - tile_row, corners = tile_rows * WORKGROUP * ROWS;
    int first = tile_column * COLUMNS, end = min(first + COLUMNS, pair.target_length);
    Lane lane = lane_at_border(pair, (tile_row * WORKGROUP + t) * ROWS);
    int side = 0;
    for (int r = 0; r < ROWS; ++r) {
        ivec2 he = column_left[lane.row + r];
        lane.h[r] = he.x;
        lane.e[r] = he.y;
        side = max(side, he.x);
    }
    // H above and left of a tile: the tile to its left has seen it, or in column 0 the tile above.
    lane.corner = t > 0 ? column_left[lane.row - 1].x : block_diagonal == 0 ? corner : column_left[corners + tile_row].x;
    if (t == WORKGROUP - 1 && tile_column == 0) column_left[corners + tile_row + 1].x = lane.h[ROWS - 1];
    load_scores();
    // What cannot beat the best of the tiles before need not be looked at.
    Best best = better(best_from(best_cells[tile_row]), at_least(best_cells[tile_rows].x));
    int ahead = min(pair.query_length - tile_row * WORKGROUP * ROWS, pair.target_length - first);
    if (cannot_improve(max(max(side, lane.corner), highest_above(first, end)), ahead, best_cells[tile_rows].x)) {
        lane = lane_at_border(pair, lane.row);
        lane.corner = row_above[end - 1].x;
        barrier();
        for (int j = first + t; j < end; j += WORKGROUP)
            below_strip(j, ivec2(border_cell().h, border_cell().f));
    } else {
        sweep(pair, first, end, 0, steps_over(end - first) + WORKGROUP - 1, lane, best);
    }
    store_side(lane, tile_column);
    best = best_of_group(best);
    if (t == 0) {
        column_left[corners + tile_row].x = lane.corner;
        best_cells[tile_row] = stored(best);
        atomicMax(best_cells[tile_rows].x, best.score);
    }
}
