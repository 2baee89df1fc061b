#version 430
// The recurrence of three sequences alone, as cube.glsl has it: planes of SIDE x SIDE cells, one
// after the other, in registers. Beside a plane are the last cells of the plane before.
layout(local_size_x = WORKGROUP) in;
#include "three/lib/recurrence3.glsl"
#include "micro/results.glsl"
#include "micro/scores.glsl"

const int ACROSS = SIDE + 1;

void main() {
    int scores[ROWS], best = 0;
    Cell before[ACROSS * ACROSS], here[ACROSS * ACROSS];
    for (int r = 0; r < ROWS; ++r) scores[r] = score_of_row(seed(), r);
    for (int x = 0; x < ACROSS * ACROSS; ++x) before[x] = border_cell();
    for (int turn = 0; turn < TURNS; ++turn) {
        for (int x = 0; x < ACROSS; ++x) here[x] = before[SIDE * ACROSS + x];
        for (int x = 0; x < ACROSS; ++x) here[x * ACROSS] = before[x * ACROSS + SIDE];
        for (int y = 0; y < SIDE; ++y) {
            for (int z = 0; z < SIDE; ++z) {
                int at = (y + 1) * ACROSS + z + 1;
                Column s = Column(scores[y * SIDE + z], 0, 0, 0);
                Moves d = moves(before[at - ACROSS - 1], before[at - ACROSS], before[at - 1],
                                here[at - ACROSS - 1], before[at], here[at - ACROSS], here[at - 1], s);
                here[at] = cell(d, 0);
                best = max(best, here[at].h);
            }
        }
        before = here;
    }
    for (int y = 1; y < ACROSS; ++y)
        for (int z = 1; z < ACROSS; ++z) best = best * 31 + before[y * ACROSS + z].h;
    add_result(best);
}
