#version 430
// Schedule: tiles on block anti-diagonals (the "blocked anti-diagonal" of Scan 2014, section III).
// A dispatch has the tiles (I, J) with I + J = block_diagonal; a tile is a strip of
// WORKGROUP x ROWS rows over COLUMNS columns, and only its borders leave it, so that memory is
// linear in m + n: its last row in row_above, its last column in column_left. The table may be a
// region of a larger one, with its borders there before the first dispatch. Rows and columns are
// kept, from which a smaller region can be computed again.
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#include "lib/directions.glsl"
#include "lib/sweep.glsl"
#define ROW_ABOVE_IS
#define KEPT_IS writeonly
#include "lib/tile_borders.glsl"
#include "lib/best_of_group.glsl"
#include "lib/prune.glsl"

layout(std430, binding = BEST_BINDING) buffer BestCells { ivec4 best_cells[]; };  // of tile row I
uniform int block_diagonal;
uniform int first_row;  // I of the first work group
uniform int corner;     // H above and left of the region

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
    int highest = load_column_left(lane);
    // H above and left of a tile: the tile to its left has seen it, or in column 0 the tile above.
    int left_corner = t > 0 ? lane.row - 1 : corners + tile_row;
    lane.corner = t == 0 && block_diagonal == 0 ? corner : column_left[left_corner].x;
    if (t == WORKGROUP - 1 && tile_column == 0)
        column_left[corners + tile_row + 1].x = lane.h[ROWS - 1];
    load_scores();
    // Only cells that beat the best of the tiles before count.
    Best best = better(best_from(best_cells[tile_row]), at_least(best_cells[tile_rows].x));
    int ahead = min(pair.query_length - tile_row * WORKGROUP * ROWS, pair.target_length - first);
    highest = max(max(highest, lane.corner), highest_above(first, end));
    if (cannot_improve(highest, ahead, best_cells[tile_rows].x)) {
        lane = lane_at_border(pair, lane.row);
        lane.corner = row_above[end - 1].x;
        barrier();
        for (int j = first + t; j < end; j += WORKGROUP)
            below_strip(j, ivec2(border_cell().h, border_cell().f));
    } else {
        sweep(pair, first, end, 0, steps_over(end - first) + WORKGROUP - 1, lane, best);
    }
    store_column(lane, tile_column);
    best = best_of_group(best);
    if (t == 0) {
        column_left[corners + tile_row].x = lane.corner;
        best_cells[tile_row] = stored(best);
        atomicMax(best_cells[tile_rows].x, best.score);
    }
}
