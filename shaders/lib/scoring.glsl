// Substitution scores in one of five places (SCORES), by what there is room for and what is fast:
// 0 two numbers: letters match or do not; 1 a uniform block; 2 shared memory, filled by
// load_scores(); 3 a texture; 4 a texture with a row for each position of queries instead of each
// letter. A query letter is given as profiled() returns it, once for many columns. No alignment
// survives PADDING, the score of row LETTERS, with 4 of row -1. POSITIONAL_GAPS, with 4 only: rows
// have gap costs of their own, row_costs() of what profiled() returns.
// Needs SCORES, LETTERS and WORKGROUP, with SCORES 0 AMBIGUOUS.
#define PADDING (-0x7fffffff - 1)
#if SCORES == 0
uniform int match;
uniform int mismatch;

void load_scores() {}

int profiled(int query) { return query < AMBIGUOUS ? query : -1; }

int score(int query, int target) { return query == target ? match : mismatch; }
#elif SCORES == 3
// x = letter of the query, y = letter of the target
layout(binding = SUBSTITUTION_BINDING) uniform highp isampler2D substitution;

void load_scores() {}

int profiled(int query) { return query; }

int score(int query, int target) { return texelFetch(substitution, ivec2(query, target), 0).r; }
#elif SCORES == 4
layout(binding = SUBSTITUTION_BINDING) uniform highp isampler2D substitution;

void load_scores() {}

#ifdef POSITIONAL_GAPS
#define ROW_SIZE (LETTERS + 3)
int score(int row, int target);

// The last three numbers of a row: what it costs to open and to extend a gap there, and the sum of
// the latter up to there.
ivec3 row_costs(int row) {
    return ivec3(score(row, LETTERS), score(row, LETTERS + 1), score(row, LETTERS + 2));
}
#else
#define ROW_SIZE LETTERS
#endif

int profiled(int query) { return (query + 1) * ROW_SIZE; }

int score(int row, int target) {  // row after row, in lines of the texture
    int at = row + target;
    return texelFetch(substitution, ivec2(at & 4095, at >> 12), 0).r;
}
#else
layout(std140, binding = SUBSTITUTION_BINDING) uniform Substitution {
    ivec4 substitution[(LETTERS * (LETTERS + 1) + 3) / 4];
};

int profiled(int query) { return query; }

int stored_score(int k) { return substitution[k >> 2][k & 3]; }
#if SCORES == 1
void load_scores() {}

int score(int query, int target) { return stored_score(target * (LETTERS + 1) + query); }
#else
shared int scores[LETTERS * (LETTERS + 1)];

void load_scores() {
    for (uint k = gl_LocalInvocationIndex; k < uint(scores.length()); k += uint(WORKGROUP))
        scores[k] = stored_score(int(k));
    barrier();
}

int score(int query, int target) { return scores[target * (LETTERS + 1) + query]; }
#endif
#endif
