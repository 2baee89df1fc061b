// The query profile: for each strip and letter the scores of the rows of each lane, where the
// device reads them fastest (QUERY_PROFILE): 0 two numbers, letters match or do not; 1 a uniform
// block; 2 shared memory; 3 the storage buffer; 4 nowhere, see query_of_pairs.glsl. A word has the
// scores of two rows with 16-bit floats, those of a row of TWO_QUERIES, else that of a row. Four
// words of a lane lie together, those of the lanes of a chain side by side: the eight lanes that
// shared memory serves at once never meet in a bank. Before them stand the number of queries, of their strips, and of
// the first work group of targets that is needed, their first row of scores, and what stream.glsl
// needs.
// With TWO_TRACKS a score is the sum of two of them.
// Needs number.glsl, chain.glsl, columns.glsl, ROWS, CHAIN, STRIDE, LETTERS and WORKGROUP.
uniform uint first_strip, strip_count;  // of a query, in this dispatch

#if QUERY_PROFILE == 0
#include "lib/query_profile_compare.glsl"
#elif QUERY_PROFILE == 4
#include "lib/pair_letters.glsl"
#include "lib/query_of_pairs.glsl"
#else
#include "lib/query_profile_layout.glsl"
#include "lib/query_profile_memory.glsl"

uvec4 query_profile_head() { return query_profile_at(0, 0); }

uvec4 queries_of_lane() { return query_profile_at(0, 1 + lane_in_chain()); }

#ifdef TWO_TRACKS
#include "lib/sum_of_words.glsl"
#endif

// The scores of the rows of a lane with the letters of its targets in a column.
struct Scores { uvec4 words[TARGETS * PARTS]; };

uvec4 scores_with(int target, int letter, int part) {
    return query_profile_at(target, HEADS + lane_in_chain() + letter * STRIDE + part * CHAIN);
}

Scores scores_of(TargetLetters letters) {
    Scores s;
    for (int k = 0; k < TARGETS; ++k)
        for (int part = 0; part < PARTS; ++part) {
#ifdef TWO_TRACKS
            uvec4 first = scores_with(k, letters[2 * k], part);
            uvec4 second = scores_with(k, letters[2 * k + 1], part);
            s.words[k * PARTS + part] = sum_of_words(first, second);
#else
            s.words[k * PARTS + part] = scores_with(k, letters[k], part);
#endif
        }
    return s;
}

uint word_of_row(Scores s, int target, int r) {
    int word = r / IN_WORD;
    return s.words[target * PARTS + word / 4][word % 4];
}

Number row_score(Scores s, int r) {
    uint a = word_of_row(s, 0, r), b = word_of_row(s, TARGETS - 1, r);
#if NUMBER == 0
    return int(a);
#else
    if (!HALVES) return from_bits(a);
    if (r % 2 == 0) return from_bits(bitfieldInsert(a, b, 16, 16));
    return Number(from_bits(a).y, from_bits(b).y);
#endif
}

Number with_score(Number x, Scores s, int r) { return sum(x, row_score(s, r)); }
#endif
#if QUERY_PROFILE != 4
#include "lib/stream.glsl"
#endif
