// An invocation's column of sub-tables, SIDE cells wide along j and k: its letters, the scores of
// the pairs of b and c, and the next plane of cells from the one before. Needs triples.glsl,
// recurrence3.glsl, ends3.glsl, scoring3.glsl, best3.glsl, directions3.glsl and mask3.glsl, and HELD:
// at least the cells of a plane and those before it (tile3_batch.glsl).
const int ACROSS = SIDE + 1;

// `ahead`: letters of b and of c from the first one on.
struct Lane { int j, k, b[SIDE], c[SIDE], bc[SIDE * SIDE]; ivec2 ahead; };

Lane lane_at(Triple triple, int j, int k) {
    Lane lane;
    lane.j = j;
    lane.k = k;
    lane.ahead = ivec2(triple.m - j, triple.n - k);
    for (int x = 0; x < SIDE; ++x) {
        lane.b[x] = letter(triple.b, triple.m, j + x);
        lane.c[x] = letter(triple.c, triple.n, k + x);
    }
    for (int x = 0; x < SIDE * SIDE; ++x) lane.bc[x] = paired(lane.b[x / SIDE], lane.c[x % SIDE]);
    return lane;
}

struct RowScores { int a, ab[SIDE], ac[SIDE]; };  // a letter of a, and with those of b and c

RowScores row_scores(Lane lane, int a) {
    RowScores s;
    s.a = a;
    for (int y = 0; y < SIDE; ++y) {
        s.ab[y] = paired(a, lane.b[y]);
        s.ac[y] = paired(a, lane.c[y]);
    }
    return s;
}

// From the plane before, and the borders in `here`, the cells of plane x; returns the best of them.
// `ahead`: letters of a from that of `row` on.
int next_plane(Lane lane, RowScores row, int x, int ahead, Cell before[HELD], inout Cell here[HELD],
               inout uint words[WORDS]) {
    int best = 0;
    for (int y = 0; y < SIDE; ++y) {
        for (int z = 0; z < SIDE; ++z) {
            int at = (y + 1) * ACROSS + z + 1, bc = lane.bc[y * SIDE + z];
            int number = (x * SIDE + y) * SIDE + z;
            ivec3 left = ivec3(ahead, lane.ahead - ivec2(y, z));
            bool inside = all(greaterThan(left, ivec3(0)));
            Column s = unless_forbidden(number, inside, column(row.ab[y], row.ac[z], bc));
            Moves d = moves(before[at - ACROSS - 1], before[at - ACROSS], before[at - 1],
                            here[at - ACROSS - 1], before[at], here[at - ACROSS], here[at - 1], s);
            int least = least_of(row.a, lane.b[y], lane.c[z]);
            here[at] = cell(d, least);
            if (is_end(left)) best = max(best, as_number(here[at].h, x, y, z));
            note(words, number, d, here[at], least);
        }
    }
    return best;
}
