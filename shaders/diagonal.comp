#version 430
// Schedule: a work group a pair, anti-diagonals in shared memory (Aymone 2022, section IV). A longer
// query goes strip by strip, a dispatch each, the last row of a strip being the row above the next.
// The rows between blocks of `spacing` strips stay, as checkpoints from which a block can be
// computed again for its directions (section VI.ii).
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#include "lib/directions.glsl"
#include "lib/walk.glsl"
#include "lib/sweep.glsl"
#include "lib/best_of_group.glsl"

layout(std430, binding = 3) buffer Tops { ivec2 tops[]; };
layout(std430, binding = 4) buffer BestCells { ivec4 best_cells[]; };
uniform int first_pair;
uniform int next_strip;  // in the table, or with `again` in the block that the walk is in
uniform int again;

Pair pair;
int strip;

ivec2 above_strip(int j) {
    if (strip == 0) return ivec2(border_cell().h, border_cell().f);
    int row = strip % spacing == 0 ? strip / spacing : 0;
    return tops[pair.tops + uint(row * pair.target_length + j)];
}

void below_strip(int j, ivec2 hf) {
    int row = (strip + 1) % spacing == 0 ? (strip + 1) / spacing : 0;
    tops[pair.tops + uint(row * pair.target_length + j)] = hf;
}

uint direction_place(int j) {
    int lane = int(gl_LocalInvocationIndex);
    return pair.directions + direction_word(strip % spacing, pair.target_length, lane, j);
}

void main() {
    uint p = gl_WorkGroupID.x + uint(first_pair);
    int t = int(gl_LocalInvocationIndex);
    pair = pair_at(p);
    strip = next_strip;
    int end = pair.target_length, strips = strips_in(pair.query_length);
    if (again == 1) {
        strip += first_strip(walks[p]);
        strips = strips_ahead(walks[p]);
        end = walks[p].j;
    }
    load_scores();
    barrier();
    Best best = best_from(best_cells[p]);
    if (strip < strips) {
        Lane lane = lane_at_border(pair, (strip * WORKGROUP + t) * ROWS);
        sweep(pair, 0, end, lane, best);
    }
    best = best_of_group(best);
    if (t == 0) best_cells[p] = stored(best);
}
