// The recurrence alone, as sweep.glsl has it: ROWS rows and STEP columns per turn, in registers, without
// anything to load or to store. Above a column is the last row of the column of the turn before.
#include "lib/recurrence.glsl"
#include "micro/scores.glsl"

int best_cells(int seed) {
    int h[ROWS], e[ROWS], scores[ROWS], corner = border_cell().h, best = 0;
    ivec2 below[STEP];
    for (int c = 0; c < STEP; ++c) below[c] = ivec2(border_cell().h, border_cell().f);
    for (int r = 0; r < ROWS; ++r) {
        h[r] = border_cell().h;
        e[r] = border_cell().e;
        scores[r] = score_of_row(seed, r);
    }
    for (int turn = 0; turn < TURNS; ++turn) {
        for (int c = 0; c < STEP; ++c) {
            Cell up = upper_cell(below[c].x, below[c].y), diagonal = upper_cell(corner, 0);
            corner = below[c].x;
            for (int r = 0; r < ROWS; ++r) {
                Cell left = left_cell(h[r], e[r]);
                Cell here = cell(diagonal, left, up, scores[row_in_column(r, c)]);
                best = max(best, here.m);
                h[r] = here.h;
                e[r] = here.e;
                diagonal = left;
                up = here;
            }
            below[c] = ivec2(up.h, up.f);
        }
    }
    for (int r = 0; r < ROWS; ++r) best = best * 31 + h[r];
    return best;
}
