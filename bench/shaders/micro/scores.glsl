// Scores of ROWS rows, which no compiler can know, in registers. The cheapest that a score can be: no
// engine has its scores for less.
#ifndef IDENTITY  // recurrence3.glsl has them
uniform int match;
uniform int mismatch;
#endif

int score_of_row(int seed, int r) {
    uint mixed = uint(seed * 64 + r + 1) * 2654435761u;
    return (mixed >> 13 & 3u) == 0u ? match : mismatch;
}

// The row whose score counts in row r of column c of a turn.
int row_in_column(int r, int c) { return (r + 5 * c) % ROWS; }
