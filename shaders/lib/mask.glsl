// Pairs that no alignment may have (Waterman and Eggert 1987): their M is minus infinity, while
// gaps may pass. A pair's part of the mask is where the columns of each of its rows begin, and of
// one empty row behind them; then these columns, row by row, ascending, with the largest int after
// each row. As a sweep goes right from column 0, only the next forbidden column of each row is looked
// at. Without MASKED nothing is forbidden.
// Needs ROWS.
#include "lib/pairs.glsl"

#ifdef MASKED
layout(std430, binding = MASKS_BINDING) readonly buffer Masks { int masks[]; };

const int NEVER = -0x7fffffff - 1;  // as a score: below 0 whatever H it is added to

int forbidden_place[ROWS], forbidden_column[ROWS];  // the next one of each row

void find_forbidden(Pair pair, int row) {
    for (int r = 0; r < ROWS; ++r) {
        forbidden_place[r] = masks[pair.mask + uint(min(row + r, pair.query_length))];
        forbidden_column[r] = masks[forbidden_place[r]];
    }
}

int unless_forbidden(int r, int j, int s) {
    if (j != forbidden_column[r]) return s;
    forbidden_column[r] = masks[++forbidden_place[r]];
    return NEVER;
}
#endif
