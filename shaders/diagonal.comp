#version 430
// Schedule: a work group per pair, whose invocations compute an anti-diagonal together and then the
// next (Aymone 2022, section IV, The CUDA implementation: a block per couple, a for loop over the
// anti-diagonals). Where the paper's thread has a cell, an invocation has ROWS x STEP cells. Of
// the paper's three rolling arrays shared memory holds only the last rows of the current and of the
// previous anti-diagonal (last_rows of sweep.glsl); the rest of the previous one is in registers
// (lane.h, lane.e), and all that is needed of the previous-previous one (lane.corner).
// On anti-diagonal k invocation t computes step k - t, a step being STEP columns; of 4 invocations
// for k = 3, with dots where they have been:
//   step     0   1   2   3   4
//   t = 0    .   .   .   k
//   t = 1    .   .   k
//   t = 2    .   k
//   t = 3    k
//   equation 1, initialization       recurrence.glsl: cell(), border_cell()
//   Direction matrix, backtracing    directions.glsl: note(), keep(); traceback.comp
//   atomicMax() of the maximum       to_beat, and best_of_group() in the end
//   the "conventional" maximum       best.glsl: better(); there is no "pure" version
// Scores and ends alone are computed by diagonal_leaning.comp where it can.
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#include "lib/traces.glsl"
#ifdef MASKED
layout(std430, binding = MASKS_BINDING) readonly buffer Masks { int masks[]; };
int mask_word(uint at) { return masks[at]; }
#endif
#include "lib/upright.glsl"

// Fill the table, a strip of it, up to column `end`, and its direction matrix; return its best
// cell.
Best fill(Pair pair, int end, Lane lane, Best best) {
    int t = int(gl_LocalInvocationIndex), steps = steps_over(end);
    Ahead ahead = first_ahead(pair, 0, end, 0, lane);
    Step aside = nothing_aside(best);
    for (int k = 0; k < steps + WORKGROUP - 1; ++k) {  // for every anti-diagonal
        load_ahead(ahead, pair, 0, end, k);
        if (uint(k - t) < uint(steps)) {
            int column = (k - t) * STEP, beat = to_beat;
            Step current = cells(pair, column, end, k, lane);
            leave_last_row(k, t, lane);
            if (t == WORKGROUP - 1) below_strip(column, end, lane.below);
            if (current.score >= beat) atomicMax(to_beat, take(best, aside, current, lane, end));
        }
        barrier();
    }
    return last_best(best, aside, lane, end);
}

// A query too long for a work group (section VI.i) goes strip by strip, one dispatch each, the last
// row of a strip being the row above the next. The rows between blocks of `spacing` strips stay, as
// checkpoints from which a block can be computed again for its directions (section VI.ii).
layout(std430, binding = ROW_ABOVE_BINDING) buffer RowAbove { ivec2 row_above[]; };
layout(std430, binding = BEST_BINDING) buffer BestCells { ivec4 best_cells[]; };
uniform int first_pair;
uniform int next_strip;  // in the table, or with AGAIN in the block that the trace is in

Pair pair;
bool first_of_table;
uint above_first, below_first, first_word;  // places in row_above and directions, of column 0

ivec2 above_strip(int j) {
    if (first_of_table) return ivec2(above_of(pair, j), border_cell().f);
    return row_above[above_first + uint(j)];
}

void below_strip(int j, int end, ivec2 hf[STEP]) {
    for (int c = 0; c < STEP; ++c)
        if (j + c < end) row_above[below_first + uint(j + c)] = hf[c];
}

uint direction_place(int j) { return first_word + next_word(j); }

// The row between strips s - 1 and s: a checkpoint if a block begins there, else the single row
// that every strip overwrites.
uint row_place(int s) {
    int row = s % spacing == 0 ? s / spacing : 0;
    return pair.row_above + uint(row * pair.target_length);
}

void find_places(int strip) {
    first_of_table = strip == 0;
    above_first = row_place(strip);
    below_first = row_place(strip + 1);
    int t = int(gl_LocalInvocationIndex);
    first_word = pair.directions + direction_word(strip % spacing, pair.target_length, t, 0);
}

void main() {
    uint p = gl_WorkGroupID.x + uint(first_pair);
    int t = int(gl_LocalInvocationIndex);
    pair = pair_at(p);
    int strip = next_strip;
    int end = pair.target_length, strips = strips_in(pair.query_length);
    if (AGAIN == 1) {
        strip += first_strip(traces[p]);
        strips = strips_ahead(traces[p]);
        end = traces[p].j;
    }
    find_places(strip);
    load_scores();
    Best best = best_from(best_cells[p]);
    if (strip < strips) {
        Lane lane = lane_at_border(pair, (strip * WORKGROUP + t) * ROWS);
#ifdef MASKED
        find_forbidden(pair, lane.row, 0);
#endif
        best = fill(pair, end, lane, best);
    }
    best = best_of_group(best);
    if (t == 0) best_cells[p] = stored(best);
}
