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
#include "lib/leaning.glsl"
#include "lib/tile_sweep.glsl"
#include "lib/tiles.glsl"
#include "lib/score_map.glsl"
#ifdef JOIN
#include "lib/score_map_join.glsl"
#endif

uniform int block_diagonal;
uniform int first_row;  // I of the first work group

void main() {
    int t = int(gl_LocalInvocationIndex);
    pair = pair_at(0u);
    tile_row = first_row + int(gl_WorkGroupID.x);
    int tile_column = block_diagonal - tile_row, corners = pair.query_length;
    int first = tile_column * COLUMNS, end = first + COLUMNS;
    int multiple = (tile_row + 1) / row_spacing;
    kept_row = multiple * row_spacing == tile_row + 1 ? kept_borders(multiple - 1) : -1;
    Lane lane = lane_at_border(pair, (tile_row * WORKGROUP + t) * ROWS);
    load_column_left(lane);
    if (tile_column > 0) lane.corner = column_left[t > 0 ? lane.row - 1 : corners + tile_row].x;
    load_scores();
    Best best = to_reach(lane.row / tile_height, first / tile_width);
    sweep(pair, first, end, 0, steps_over(COLUMNS) + WORKGROUP - 1, lane, best);
    store_column(lane, tile_column);
    if (t == 0) column_left[corners + tile_row].x = lane.corner;
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
