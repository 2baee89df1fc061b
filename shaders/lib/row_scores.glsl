// The scores of the rows of a lane with a letter of the target. With PROFILE, a number of letters,
// those with each letter are put into shared memory first: four rows are a load then, and lanes side
// by side never meet in a bank.
// Needs scoring.glsl, lane.glsl, ROWS and WORKGROUP; with PROFILE, ROWS is a multiple of 4.
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
