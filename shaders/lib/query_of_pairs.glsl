// Instead of a profile: each target has its own query. The letters of its rows are in registers:
// two of a query in one if WORD_ROWS is 2, else one of each target. Scores are in shared memory:
// of a letter of the target with one or two of the query, floats in 16 bits each.
// Needs number.glsl, chain.glsl, pair_letters.glsl, strip_count, ROWS, CHAIN, LETTERS, WORD_ROWS
// and WORKGROUP.
layout(std430, binding = OWN_QUERIES_BINDING) readonly buffer OwnQueries {
    uvec2 own_queries[];  // of each target of a slot: first letter, length
};
layout(std430, binding = QUERY_LETTERS_BINDING) readonly buffer QueryLetters {
    uint query_letters[];
};

const uint LETTER_SIZE = (LETTERS + 1) * (WORD_ROWS == 2 ? LETTERS + 1 : 1);
const int WORDS = ROWS / WORD_ROWS;
const bool APART = WORD_ROWS == 2 || TARGETS == 1;  // a register for each target
shared uint shared_scores[(LETTERS + 1) * LETTER_SIZE];
uint strip_number, rows[APART ? WORDS * TARGETS : WORDS];

uint row_letter(uvec2 query, uint row) {
    if (row >= query.y) return 0u;
    uint at = query.x + row;
    return letter_of(query_letters[at >> 2] >> (8u * (at & 3u)) & 255u);
}

void load_query_profile(int slot, int strip) {
    if (strip == 0) {
        for (int k = int(gl_LocalInvocationIndex); k < shared_scores.length(); k += WORKGROUP)
            shared_scores[k] = letter_scores[k];
        barrier();
    }
    strip_number = uint(strip);
    uint first = uint((strip * CHAIN + lane_in_chain()) * ROWS);
    for (int k = 0; k < TARGETS; ++k) {
        uvec2 query = own_queries[slot * TARGETS + k];
        for (int w = 0; w < WORDS; ++w) {
            uint row = first + uint(w * WORD_ROWS), letter = row_letter(query, row);
            if (WORD_ROWS == 2) letter = letter * (LETTERS + 1) + row_letter(query, row + 1u);
            if (APART) rows[w * TARGETS + k] = letter;
            else rows[w] = k == 0 ? letter : rows[w] | letter << 16;
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
