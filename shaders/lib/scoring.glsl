// Substitution scores in one of three places, by what the device is fastest with (SCORES):
// 0 two numbers: letters match or do not; 1 a uniform block; 2 shared memory, filled by load_scores().
// Row LETTERS is padding, which no alignment survives.
#define PADDING (-0x7fffffff - 1)
#if SCORES == 0
uniform int match;
uniform int mismatch;

void load_scores() {}

int score(int query, int target) {
    return query == LETTERS ? PADDING : query == target && query < AMBIGUOUS ? match : mismatch;
}
#else
layout(std140, binding = 0) uniform Substitution { ivec4 substitution[(LETTERS * (LETTERS + 1) + 3) / 4]; };

int stored_score(int k) { return substitution[k >> 2][k & 3]; }
#if SCORES == 1
void load_scores() {}

int score(int query, int target) { return stored_score(target * (LETTERS + 1) + query); }
#else
shared int scores[LETTERS * (LETTERS + 1)];

void load_scores() {
    for (uint k = gl_LocalInvocationIndex; k < scores.length(); k += WORKGROUP)
        scores[k] = stored_score(int(k));
}

int score(int query, int target) { return scores[target * (LETTERS + 1) + query]; }
#endif
#endif
