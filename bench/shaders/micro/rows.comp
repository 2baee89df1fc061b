#version 430
// The recurrence alone, as lanes.comp has it: row by row STEP columns per turn, in any Number; else as
// cells.glsl, with the same results.
#include "lib/number.glsl"
layout(local_size_x = WORKGROUP) in;
#include "lib/recurrence_column.glsl"
#include "micro/results.glsl"
#include "micro/scores.glsl"

void main() {
    Costs costs = costs();
    Number zero = number(0, 0), best = zero;
    Bits h[ROWS], e[ROWS], scores[ROWS], corner = bits(zero), below_h[STEP], below_f[STEP];
    for (int c = 0; c < STEP; ++c) below_h[c] = below_f[c] = bits(zero);
    for (int r = 0; r < ROWS; ++r) {
        h[r] = e[r] = bits(zero);
        scores[r] = bits(number(score_of_row(seed(), r), score_of_row(seed() + 64, r)));
    }
    for (int turn = 0; turn < TURNS; ++turn) {
        Number f[STEP], diagonal[STEP];
        for (int c = 0; c < STEP; ++c) {
            f[c] = from_bits(below_f[c]);
            diagonal[c] = from_bits(c == 0 ? corner : below_h[max(c - 1, 0)]);
        }
        corner = below_h[STEP - 1];
        for (int r = 0; r < ROWS; ++r) {
            Number left = from_bits(h[r]), gap = from_bits(e[r]);
            for (int c = 0; c < STEP; ++c) {
                Number x = aligned(sum(diagonal[c], from_bits(scores[row_in_column(r, c)])), gap);
                best = max(best, x);
                diagonal[c] = left;
                finish_row(left, gap, f[c], x, costs);
                below_h[c] = bits(left);
                below_f[c] = bits(f[c]);
            }
            h[r] = bits(left);
            e[r] = bits(gap);
        }
    }
    int found = 0;
    for (int part = 0; part < RESULTS; ++part) {
        found = found * 31 + value(best, part);
        for (int r = 0; r < ROWS; ++r) found = found * 31 + value(from_bits(h[r]), part);
    }
    add_result(found);
}
