// Letters of pairs that each have their own query: those that occur, from 1 on, and their scores.
layout(std430, binding = QUERY_PROFILE_BINDING) readonly buffer PairLetters {
    uint letter_codes[64];  // a byte for each code of the alphabet
    uint letter_scores[];   // as query_of_pairs.glsl has them in shared memory
};

uint letter_of(uint code) { return letter_codes[code >> 2] >> (8u * (code & 3u)) & 255u; }
