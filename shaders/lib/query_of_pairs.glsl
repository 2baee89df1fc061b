// Instead of a profile: each target has its own query. The letters of its rows are in registers:
// two of a query in one if WORD_ROWS is 2, else one of each target. Scores are in shared memory:
// of a letter of the target with one or two of the query, floats in 16 bits each.
// Needs number.glsl, columns.glsl, chain.glsl, pair_letters.glsl, strip_count, ROWS, CHAIN, LETTERS,
// WORD_ROWS, STEP and WORKGROUP.
layout(std430, binding = OWN_QUERIES_BINDING) readonly buffer OwnQueries {
    Columns own_queries[];  // of each slot, packed as its targets are
};
layout(std430, binding = QUERY_WORDS_BINDING) readonly buffer QueryWords { uint query_words[]; };

const uint LETTER_SIZE = (LETTERS + 1) * (WORD_ROWS == 2 ? LETTERS + 1 : 1);
const int WORDS = ROWS / WORD_ROWS;
const bool APART = WORD_ROWS == 2 || TARGETS == 1;  // a register for each target
shared uint shared_scores[(LETTERS + 1) * LETTER_SIZE];
uint strip_number, rows[APART ? WORDS * TARGETS : WORDS];

void load_query_profile(int slot, int strip) {
    if (strip == 0) {
        for (int k = int(gl_LocalInvocationIndex); k < shared_scores.length(); k += WORKGROUP)
            shared_scores[k] = letter_scores[k];
        barrier();
    }
    strip_number = uint(strip);
    Columns query = own_queries[slot];
    uint first = uint((strip * CHAIN + lane_in_chain()) * (ROWS / STEP));
    for (int w = 0; w < ROWS / STEP; ++w) {  // little in a round, so that compilers unroll it
        uint word = query_words[query.first + min(first + uint(w), uint(query.words))];
        for (int x = 0; x < STEP * TARGETS; ++x) {
            int r = w * STEP + x / TARGETS, k = x % TARGETS;
            int place = APART ? r / WORD_ROWS * TARGETS + k : r;
            uint letter = word >> (8 * x) & 255u;
            if (WORD_ROWS == 2) letter *= r % 2 == 0 ? uint(LETTERS + 1) : 1u;
            else if (k == 1) letter <<= 16;
            bool begun = WORD_ROWS == 2 ? r % 2 == 1 : k == 1;
            rows[place] = begun ? rows[place] + letter : letter;
        }
    }
}

uvec4 query_profile_head() { return uvec4(strip_number, strip_count, 0u, 0u); }

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

uint word_of_row(Scores s, int target, int r) {
    int w = r / WORD_ROWS * TARGETS + target;
    if (WORD_ROWS == 2) return s.words[w];
    uint row = APART ? rows[w] : rows[r] >> (16 * target) & 65535u;
    return shared_scores[s.first[target] + row];
}

Number with_score(Number x, Scores s, int r) {
    uint a = word_of_row(s, 0, r), b = word_of_row(s, TARGETS - 1, r);
#if NUMBER == 0
    return sum(x, int(a));
#elif NUMBER == 1
    if (r % WORD_ROWS == 0) return sum(x, from_bits(bitfieldInsert(a, b, 16, 16)));
    return sum(x, Number(from_bits(a).y, from_bits(b).y));
#else
    int half_word = r % WORD_ROWS;
    return sum(x, vec2(unpackHalf2x16(a)[half_word], unpackHalf2x16(b)[half_word]));
#endif
}
