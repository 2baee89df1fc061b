// The query profile: for each strip and letter the scores of the rows of each lane, where the
// device reads them fastest (QUERY_PROFILE): 0 two numbers, letters match or do not; 1 a uniform
// block; 2 shared memory; 3 the storage buffer; 4 nowhere, see query_of_pairs.glsl. A word has the
// scores of two rows with 16-bit floats, those of a row of TWO_QUERIES, else that of a row. Four
// words of a lane lie together, those of the lanes of a chain side by side: the eight lanes that
// shared memory serves at once never meet in a bank. Before them stand the number of queries, of
// their strips, and of the first work group of targets that is needed, their first row of scores,
// and where queries are joined a word of each lane, with GLOBAL_MODE two. With TWO_TRACKS a score is
// the sum of two of them.
// Needs best_scores, ROWS, CHAIN, STRIDE, LETTERS and WORKGROUP.
#include "lib/chain.glsl"
#include "lib/columns.glsl"

uniform uint first_strip, strip_count;  // of a query, in this dispatch

#ifdef GLOBAL_MODE
// The rows of a lane, of each of up to two queries: where the first one is in the query, which may be
// before its first letter; how many letters it has; and its row of scores.
struct RowsOfLane { int first[2], letters[2], place[2]; };

const int NO_SCORE = -0x7fffffff;
#else
const int NO_SCORE = 0;
#endif

#if QUERY_PROFILE == 0
// Letters that are equal match. Those of a strip are in a uniform block, of a lane alone.
uniform int match;
uniform int mismatch;
layout(std140, binding = QUERY_PROFILE_BINDING) uniform QueryProfile {
    uvec4 head, query_letters[ROWS / 4];
};

struct Scores { ivec2 letters; };

int query[ROWS];  // in registers, and not -1 where a letter may match

void load_query_profile(int slot, int strip) {
    for (int r = 0; r < ROWS; ++r) query[r] = int(query_letters[r / 4][r % 4]);
}

uvec4 query_profile_head() { return head; }

Scores scores_of(ivec2 letters) { return Scores(letters); }

int compared(int letter, int r) { return letter == query[r] ? match : mismatch; }

Number with_score(Number x, Scores s, int r) {
    return sum(x, number(compared(s.letters.x, r), compared(s.letters.y, r)));
}
#elif QUERY_PROFILE == 4
#include "lib/query_of_pairs.glsl"
#else
// Words of 16 bytes: a head, one for each lane, then for each letter, and 0 for none, the rows of a
// strip. A word has four numbers of 32 bits; HALVES are two rows each.
const bool HALVES = TARGETS == 2;
const int IN_WORD = HALVES ? 2 : 1, PART_ROWS = 4 * IN_WORD,
          PARTS = (ROWS + PART_ROWS - 1) / PART_ROWS;
#ifdef GLOBAL_MODE
const int HEADS = 1 + 2 * CHAIN;
#elif defined(JOINED)
const int HEADS = 1 + CHAIN;
#else
const int HEADS = 1;
#endif
const int SIZE = HEADS + (LETTERS + 1) * STRIDE;

// load_query_profile() makes a strip ready, query_profile_at() returns a word of it, for one of the
// targets.
#if QUERY_PROFILE == 1
layout(std140, binding = QUERY_PROFILE_BINDING) uniform QueryProfile { uvec4 query_profile[SIZE]; };

void load_query_profile(int slot, int strip) {}

uvec4 query_profile_at(int target, int k) { return query_profile[k]; }
#else
layout(std430, binding = QUERY_PROFILE_BINDING) readonly buffer QueryProfile {
    uvec4 query_profile[];
};
#if QUERY_PROFILE == 2
shared uvec4 strip_query_profile[SIZE];

void load_query_profile(int slot, int strip) {
    barrier();
    for (int k = int(gl_LocalInvocationIndex); k < SIZE; k += WORKGROUP)
        strip_query_profile[k] = query_profile[strip * SIZE + k];
    barrier();
}

uvec4 query_profile_at(int target, int k) { return strip_query_profile[k]; }
#else
int first_word;

void load_query_profile(int slot, int strip) { first_word = strip * SIZE; }

uvec4 query_profile_at(int target, int k) { return query_profile[first_word + k]; }
#endif
#endif

uvec4 query_profile_head() { return query_profile_at(0, 0); }

#ifdef TWO_TRACKS
// The sums of the scores in the words of two parts.
uvec4 sum_of_words(uvec4 a, uvec4 b) {
#if NUMBER == 0
    return a + b;
#else
    for (int k = 0; k < 4; ++k) a[k] = bits(from_bits(a[k]) + from_bits(b[k]));
    return a;
#endif
}
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
// JOINED: the rows of several queries one behind another, perhaps in two streams side by side. Each
// query begins in a lane of its own, which gets no row from above. The profile tells a lane where
// what comes from above goes on (a mask: half a word for a stream), the rows of scores of its two
// queries, and whether these end with this strip. Without it a chain has one query or two.
#ifdef JOINED
Bits going_on;

uvec4 queries_of_lane() { return query_profile_at(0, 1 + lane_in_chain()); }

#ifdef GLOBAL_MODE
RowsOfLane rows_of_lane(int slot, uint s) {
    uvec4 queries = queries_of_lane(), rows = query_profile_at(0, 1 + CHAIN + lane_in_chain());
    return RowsOfLane(int[2](int(rows.x), int(rows.y)), int[2](int(rows.z), int(rows.w)),
                      int[2](int(queries.y), int(queries.z)));
}
#endif

// Begin strip s, and return its number, and what else is at the head of the profile.
uvec4 begin_strip(int slot, uint s) {
    uvec4 head = query_profile_head();
    going_on = queries_of_lane().x;
    if (s == 0u) {
        for (uint k = uint(lane_in_chain()); k < head.x; k += uint(CHAIN))
            for (int result = 0; result < RESULTS; ++result)
                best_scores[place_of_score(slot, int(head.w + k), result)] = NO_SCORE;
        memoryBarrierBuffer();
        barrier();
    }
    return uvec4(s, head.yzw);
}

Border of_same_query(Border above) { return Border(above.h & going_on, above.f & going_on); }

void end_strip(int slot, inout Number best) {
    uvec4 queries = queries_of_lane();
    if (queries.w == 0u) return;
    for (int k = 0; k < RESULTS; ++k)
        atomicMax(best_scores[place_of_score(slot, int(queries[1 + k]), k)], value(best, k));
    best = number(0, 0);
}

void end_scores(int slot, Number best) {}
#else
uvec4 begin_strip(int slot, uint s) { return uvec4(s, query_profile_head().yzw); }

#define of_same_query(above) above
#define end_strip(slot, best)

void end_scores(int slot, Number best) {
    uvec4 head = query_profile_head();
    best = best_of_chain(best);
    if (lane_in_chain() > 0) return;
    for (int k = 0; k < RESULTS; ++k) {  // a constant count, or `best` would be in memory
        if (TARGETS == 1 && k >= int(head.x)) continue;  // of one query or two, side by side
        int place = place_of_score(slot, int(head.w) + (TARGETS == 1 ? k : 0), k);
        best_scores[place] = max(value(best, k), first_strip > 0u ? best_scores[place] : 0);
    }
}
#endif
#endif
