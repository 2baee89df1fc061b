// Instead of a profile: letters that are equal match. The letters of a strip are in a uniform
// block, of a lane alone.
// Needs number.glsl and ROWS.
uniform int match;
uniform int mismatch;
layout(std140, binding = QUERY_PROFILE_BINDING) uniform QueryProfile {
    uvec4 head, of_lane, query_letters[ROWS / 4];
};

struct Scores { ivec2 letters; };

int query[ROWS];  // in registers, and not -1 where a letter may match

void load_query_profile(int slot, int strip) {
    for (int r = 0; r < ROWS; ++r) query[r] = int(query_letters[r / 4][r % 4]);
}

uvec4 query_profile_head() { return head; }

uvec4 queries_of_lane() { return of_lane; }

Scores scores_of(ivec2 letters) { return Scores(letters); }

int compared(int letter, int r) { return letter == query[r] ? match : mismatch; }

Number with_score(Number x, Scores s, int r) {
    return sum(x, number(compared(s.letters.x, r), compared(s.letters.y, r)));
}
