#version 430
// Schedule: many targets at once, each along its columns.
//   lane     ROWS rows of the query in registers; at each step it computes STEP columns of them,
//            which the lane before has computed a step earlier
//   chain    CHAIN lanes, one below the other, with a target; pairs of floats have two targets, or
//            two queries (number.glsl)
//   strip    the CHAIN x ROWS rows of a chain; the last row is kept for the strip below
//   group    the WORKGROUP lanes of a work group: WORKGROUP / CHAIN chains, which share the scores
//            of a strip; work groups along x have other targets, those along y other queries
// glsw/engines/lanes/geometry.py chooses. A usual search in integers, ROWS 24, CHAIN 8, STEP 2,
// WORKGROUP 256: a query of 375 takes 2 strips of 192 rows, a group has 32 targets, and lane 5 of a
// chain computes rows 120 to 143 of columns 2(k - 5) and 2(k - 5) + 1 at step k. There NUMBER is 0,
// and the loop over rows, its functions in place, is
//   m = diagonal[c] + score;  diagonal[c] = h[r];
//   h[r] = max(max(m, e[r]), f[c]);  best = max(best, m);
//   e[r] = max(max(e[r] - extend, h[r] - open), 0);  f[c] = max(f[c] - extend, h[r] - open);
// Why these, in GCUPS on an H100 (docs/KERNELS.md, "Shape", has all measurements):
//   ROWS       16-bit floats 32: 3,970, 24: 3,900; 40 and 48 spill. Two queries 20: 4,554,
//              24: 4,867, 28: 4,036
//   CHAIN      two queries 4: 4,827, 8: 4,867, 16: at most 4,067, since longer chains wait longer
//              for their first and last lanes
//   STEP       1 to 2: floats 3,650 to 3,900, integers 2,650 to 3,400; 4: more registers, no faster
//   WORKGROUP  integers 64: 1,200, 128: 2,400, 256: 2,900; two queries 128: 3,618, 512: 4,526
#define TOGETHER CHAIN
#include "lib/neighbours.glsl"
#include "lib/number.glsl"
layout(local_size_x = WORKGROUP) in;
#define COLUMNS_ARE readonly
#include "lib/columns.glsl"
#include "lib/chain.glsl"

// The best scores: a row for each query, or if each target has its own only one.
layout(std430, binding = SCORES_BINDING) buffer BestScores { int best_scores[]; };

// Where result k of a lane is, which is of the query of this row, or of its second target.
#ifdef OWN_QUERIES
int place_of_score(int slot, int row, int k) { return slot * TARGETS + k; }
#else
uniform int row_size;

int place_of_score(int slot, int row, int k) {
    return row * row_size + int(slots[slot].places[TARGETS == 1 ? 0 : k]);
}
#endif

#include "lib/query_profile.glsl"
#include "lib/recurrence_column.glsl"
#ifdef GLOBAL_MODE
#include "lib/end_to_end.glsl"
#endif

layout(std430, binding = GROUPS_BINDING) readonly buffer Groups {
    uint group_borders[];  // the first of each work group
};
uniform int first_group;
uniform uint first_border, border_stride;  // the stride from one query along y to the next

void main() {
    if (proving == 1) {
        best_scores[lane()] = in_order();
        return;
    }
    int t = lane_in_chain(), chains = WORKGROUP / CHAIN;
    int group = int(gl_WorkGroupID.x) + first_group;
    int slot = group * chains + lane() / CHAIN;
    Columns columns = slots[slot];
    int longest = slots[group * chains + first_in_step() / CHAIN].words;
    int steps = longest + CHAIN - 1;
    uint before = group_borders[group] - first_border + gl_WorkGroupID.y * border_stride;
    uint border = first_border_word(before, lane() / CHAIN);
    Costs costs = costs();
    Number zero = number(0, 0), best = zero;
    for (uint s = 0u; s < strip_count; ++s) {
        load_query_profile(slot, int(gl_WorkGroupID.y * strip_count + s));
        uvec4 strip = begin_strip(slot, first_strip + s);
        if (group < int(strip.z) || strip.x >= strip.y) break;  // that is for others
        bool has_above = strip.x > 0u && t == 0;
        bool has_below = strip.x + 1u < strip.y && t == CHAIN - 1;
        Bits h[ROWS], e[ROWS], corner = bits(zero);  // NVIDIA's compiler widens all but integers
        for (int r = 0; r < ROWS; ++r) h[r] = e[r] = bits(zero);
        Border above[STEP], next_above[STEP], below[STEP];
        for (int c = 0; c < STEP; ++c) below[c] = next_above[c] = Border(bits(zero), bits(zero));
#ifdef GLOBAL_MODE
        RowsOfLane rows = rows_of_lane(slot, strip.x);
        Edge edge = edge_of(rows, columns);
        for (int r = 0; r < ROWS; ++r) {
            h[r] = bits(left_of(rows, r));
            e[r] = bits(left_of(rows, r) - open_at(costs, r));
        }
        corner = bits(left_of(rows, -1));
        Bits ends[STEP];
#endif
        if (has_above) next_above = load_borders(border, 0, chains);
        Word next_word = word_of(columns, -t);
        for (int k = 0; k < steps; ++k) {
            Word word = next_word;
            next_word = word_of(columns, k + 1 - t);
            Scores scores[STEP];
            Number f[STEP], diagonal[STEP];
            above = from_lane_before(k, below, next_above);
#ifdef GLOBAL_MODE
            if (k < t) continue;  // it has not come to its first column
#endif
            for (int c = 0; c < STEP; ++c) {
                scores[c] = scores_of(letters_in(word, c));
#ifdef GLOBAL_MODE
                above[c] = above_lane(edge, above[c], open_at(costs, 0));
#else
                above[c] = of_same_query(above[c]);
#endif
                f[c] = from_bits(above[c].f);
                diagonal[c] = from_bits(c == 0 ? corner : above[max(c - 1, 0)].h);
            }
            corner = above[STEP - 1].h;
            if (has_above) next_above = load_borders(border, min(k + 1, longest - 1), chains);
            for (int r = 0; r < ROWS; ++r) {
                Number left = from_bits(h[r]), gap = from_bits(e[r]);
                costs_at_row(costs, r);
                for (int c = 0; c < STEP; ++c) {
                    Number x = aligned(with_score(diagonal[c], scores[c], r), gap);
#ifndef GLOBAL_MODE
                    best = max(best, x);
#endif
                    diagonal[c] = left;
                    finish_row(left, gap, f[c], x, costs);
                    below[c] = Border(bits(left), bits(f[c]));
                }
                h[r] = bits(left);
                e[r] = bits(gap);
            }
#ifdef GLOBAL_MODE
            for (int c = 0; c < STEP; ++c) ends[c] = ends_in_last_row(edge, below[c]);
            end_targets(slot, k - t, columns, rows, h, below, ends);
#endif
            if (has_below && k >= CHAIN - 1) store_borders(border, k - CHAIN + 1, chains, below);
        }
#ifndef GLOBAL_MODE
        end_strip(slot, best);
#endif
        memoryBarrierBuffer();
        barrier();
    }
#ifndef GLOBAL_MODE
    end_scores(slot, best);
#endif
}
