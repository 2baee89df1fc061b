// Instead of a profile: each target has its own query. The letters of its rows are in registers, with
// floats two of a query in one. Scores are in shared memory: of a letter of the target with one of
// the query, or as 16-bit floats with two that follow one another.
// Needs what query_profile.glsl needs, which includes it.
layout(std430, binding = OWN_QUERIES_BINDING) readonly buffer OwnQueries {
    Columns own_queries[];  // of each slot, packed as its targets are
};
layout(std430, binding = QUERY_WORDS_BINDING) readonly buffer QueryWords { uint query_words[]; };

const int WORD_ROWS = NUMBER == 0 ? 1 : 2, WORDS = ROWS / WORD_ROWS;
const uint SIDE = uint(LETTERS + 1);
const uint LETTER_SIZE = WORD_ROWS == 2 ? SIDE * SIDE : SIDE;  // scores of a letter
shared uint shared_scores[SIDE * LETTER_SIZE];
uint rows[WORDS * TARGETS];

void load_query_profile(int slot, int strip) {
    if (strip == 0) {
        for (int k = int(gl_LocalInvocationIndex); k < shared_scores.length(); k += WORKGROUP)
            shared_scores[k] = letter_scores[k];
        barrier();
    }
    Columns query = own_queries[slot];
    int first = (strip * CHAIN + lane_in_chain()) * (ROWS / STEP);
#ifdef GLOBAL_MODE  // the last letter is in the last row
    first -= int(strip_count) * CHAIN * (ROWS / STEP) - query.words;
#endif
    for (int w = 0; w < ROWS / STEP; ++w) {  // little in a round, so that compilers unroll it
        uint word = query_words[query.first + min(uint(first + w), uint(query.words))];
        for (int x = 0; x < STEP * TARGETS; ++x) {
            int r = w * STEP + x / TARGETS, place = r / WORD_ROWS * TARGETS + x % TARGETS;
            uint letter = word >> (8 * x) & 255u;
            if (r % WORD_ROWS == 0) rows[place] = letter * (WORD_ROWS == 2 ? SIDE : 1u);
            else rows[place] += letter;
        }
    }
}

#ifdef GLOBAL_MODE
Bits going_on;

RowsOfLane rows_of_lane(int slot, uint s) {
    RowsOfLane rows;
    for (int k = 0; k < 2; ++k) {
        rows.letters[k] = int(own_queries[slot].lengths[min(k, TARGETS - 1)]);
        rows.first[k] = rows.letters[k] - int(strip_count - s) * CHAIN * ROWS + lane_in_chain() * ROWS;
        rows.place[k] = 0;
    }
    return rows;
}

uvec4 begin_strip(int slot, uint s) {
    going_on = s == 0u && lane_in_chain() == 0 ? 0u : 0xffffffffu;
    if (s == 0u) {
        for (int k = 0; lane_in_chain() == 0 && k < RESULTS; ++k)
            best_scores[place_of_score(slot, 0, k)] = NO_SCORE;
        memoryBarrierBuffer();
        barrier();
    }
    return uvec4(s, strip_count, 0u, 0u);
}
#else
uvec4 begin_strip(int slot, uint s) { return uvec4(s, strip_count, 0u, 0u); }

#define of_same_query(above) above
#define end_strip(slot, best)

void end_scores(int slot, Number best) {
    best = best_of_chain(best);
    for (int k = 0; lane_in_chain() == 0 && k < RESULTS; ++k)
        best_scores[place_of_score(slot, 0, k)] = value(best, k);
}
#endif

// The scores of the rows of a lane with the letters of its targets in a column: words of two rows
// are read at once, those of one row when they are needed, for want of registers.
struct Scores {
    uvec2 first;
    uint words[WORD_ROWS == 2 ? WORDS * TARGETS : 1];
};

Scores scores_of(ivec2 letters) {
    Scores s;
    s.first = uvec2(letters) * LETTER_SIZE;
    for (int w = 0; WORD_ROWS == 2 && w < s.words.length(); ++w)
        s.words[w] = shared_scores[s.first[w % TARGETS] + rows[w]];
    return s;
}

Number with_score(Number x, Scores s, int r) {
#if NUMBER == 0
    return sum(x, int(shared_scores[s.first[0] + rows[r]]));
#else
    uint a = s.words[r / 2 * TARGETS], b = s.words[r / 2 * TARGETS + TARGETS - 1];
    if (r % 2 == 0) return sum(x, from_bits(bitfieldInsert(a, b, 16, 16)));
    return sum(x, Number(from_bits(a).y, from_bits(b).y));
#endif
}
