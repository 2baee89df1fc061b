// The score of the letters of a column, from their pairs: paired(x, y) is the score of two letters,
// with IDENTITY all bits if they are the same. The last letter, LETTERS - 1, aligns with none.
// Needs Column (recurrence3.glsl), and IDENTITY or the defines of scoring.glsl.
#ifdef IDENTITY
uniform int match;
uniform int mismatch;
uniform int matching;  // letters below it match themselves, the others are ambiguous

void load_scores() {}

int paired(int x, int y) { return x == y && x < matching ? -1 : 0; }

Column column(int ab, int ac, int bc) {
    return Column((ab & ac & (match - mismatch)) + mismatch, 0, 0, 0);
}
#else
#include "lib/scoring.glsl"

int paired(int x, int y) { return score(profiled(x), y); }

Column column(int ab, int ac, int bc) { return Column(ab + ac + bc, ab, ac, bc); }
#endif
