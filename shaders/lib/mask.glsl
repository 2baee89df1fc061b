// Pairs that no alignment may have (Waterman and Eggert 1987): their M is minus infinity, while
// gaps may pass. A pair's part of the mask is where the columns of each of its rows begin, and of
// one empty row behind them; then these columns, row by row, ascending, with the largest int after
// each row. As a sweep goes right from column 0, only the next forbidden column of each row is looked
// at. Without MASKED nothing is forbidden.
// Needs pairs.glsl and ROWS.
#ifdef MASKED
layout(std430, binding = MASKS_BINDING) readonly buffer Masks { int masks[]; };

const int NEVER = -0x7fffffff - 1;  // as a score: below 0 whatever H it is added to

struct Forbidden { int place[ROWS], column[ROWS]; };  // the next one of each row

Forbidden forbidden_from(Pair pair, int row) {
    Forbidden next;
    for (int r = 0; r < ROWS; ++r) {
        int place = masks[pair.mask + uint(min(row + r, pair.query_length))];
        next.place[r] = place;
        next.column[r] = masks[place];
    }
    return next;
}

int unless_forbidden(inout Forbidden next, int r, int j, int s) {
    if (j != next.column[r]) return s;
    next.column[r] = masks[++next.place[r]];
    return NEVER;
}
#endif
