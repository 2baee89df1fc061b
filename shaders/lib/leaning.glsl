// The sweep for score and ends alone, in fewer operations. E and F, at borders too, are those of
// the next column and row, and open from x = max(M, E): a gap in one sequence directly behind one
// in the other costs the same in the other order, so that E need not start from F. Where gaps along
// the row cost something, no E is the best score, so that x is as good as M to find it. Costs may
// not depend on the position. CAPPED: no H is above `cap`, x is M, gaps open from H, and of H is
// the best score; with JOIN no score counts.
#include "lib/sweep.glsl"

#ifdef CAPPED
uniform int cap;
#endif

Lane leaning_lane_at_border(Pair pair, int row) {
    Lane lane = lane_at_border(pair, row);
    for (int r = 0; r < ROWS; ++r) lane.e[r] = max(lane.h[r] - gap_open, 0);
    return lane;
}

// From E and F of a cell and its M to its H, E of the next column and F of the next row; returns x.
int next_cell(out int h, inout int e, inout int f, int m) {
#ifdef CAPPED
    int x = min(m, cap);
    h = max(max(max(x, e), 0), f);
    int start = h, opened = h - gap_open;
    e = max(e - gap_extend, opened);
#else
    int x = max(m, e);
    h = max(x, f);
    int start = x, opened = x - gap_open;
    e = max(max(e - gap_extend, opened), 0);
#endif
#ifdef SEPARATE
    f = max(f - insertion_extend, start - insertion_open);
#else
    f = max(f - gap_extend, opened);
#endif
    return x;
}

// The scores of the rows of a lane with a letter of the target. With PROFILE, a number of letters,
// those with each letter are put into shared memory first: four rows are a load then, and lanes
// side by side never meet in a bank. ROWS is a multiple of 4 then.
#ifdef PROFILE
const int PARTS = ROWS / 4;
shared ivec4 row_scores[PROFILE * PARTS * WORKGROUP];

struct RowScores { ivec4 parts[PARTS]; };

int place_of(int letter, int part) {
    return (letter * PARTS + part) * WORKGROUP + int(gl_LocalInvocationIndex);
}

void load_row_scores(Lane lane) {
    for (int letter = 0; letter < PROFILE; ++letter)
        for (int part = 0; part < PARTS; ++part) {
            ivec4 four;
            for (int r = 0; r < 4; ++r) four[r] = score(lane.letters[4 * part + r], letter);
            row_scores[place_of(letter, part)] = four;
        }
}

RowScores row_scores_with(int letter) {
    RowScores s;
    for (int part = 0; part < PARTS; ++part)
        s.parts[part] = row_scores[place_of(min(letter, PROFILE - 1), part)];
    return s;
}

int row_score(Lane lane, RowScores s, int r) { return s.parts[r / 4][r % 4]; }
#else
struct RowScores { int letter; };

void load_row_scores(Lane lane) {}

RowScores row_scores_with(int letter) { return RowScores(letter); }

int row_score(Lane lane, RowScores s, int r) { return score(lane.letters[r], s.letter); }
#endif

Step cells(Pair pair, int j, int end, int k, inout Lane lane) {
    int t = int(gl_LocalInvocationIndex), place = place_above(k, t), diagonal[STEP], f[STEP];
    RowScores scores[STEP];
    Step now;
    now.score = 0;
    now.j = j;
    for (int c = 0; c < STEP; ++c) {
        ivec2 top = last_rows[place + c];
        diagonal[c] = lane.corner;
        lane.corner = top.x;
        f[c] = top.y;
        scores[c] = row_scores_with(letter_at(k - t, c));
    }
    for (int r = 0; r < ROWS; ++r)
        for (int c = 0; c < STEP; ++c) {
            int m = diagonal[c] + row_score(lane, scores[c], r);
            diagonal[c] = lane.h[r];
            int x = next_cell(lane.h[r], lane.e[r], f[c], m);
            lane.below[c] = ivec2(lane.h[r], f[c]);
#ifdef JOIN
            int last = 0;
#elif defined(CAPPED)
            int last = lane.h[r];
#else
            Cell here = Cell(lane.h[r], 0, 0, x, x);
            int last = last_here(pair, here, lane.row + r, j + c);
#endif
            now.ended[c * ROWS + r] = last;
            now.score = max(now.score, last);
        }
    return now;
}
