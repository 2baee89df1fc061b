// The letters of targets as lanes read them: a word has STEP columns, a byte a target, as code + 1;
// 0 is no letter. A word of none stands behind the last one. With TWO_TRACKS there is a word for
// each track, and letters of the second one follow those of the first.
// Needs STEP and COLUMNS_ARE, a qualifier.
#include "lib/number.glsl"

#ifdef TWO_TRACKS
#define Word uvec2
#define TargetLetters ivec4
#else
#define Word uint
#define TargetLetters ivec2
#endif

struct Columns {
    uint first;  // word
    int words;
    uint lengths[2];  // letters of each of up to two sequences
#ifndef OWN_QUERIES
    uint places[2];  // of their scores in a row
#endif
};

layout(std430, binding = COLUMNS_BINDING) COLUMNS_ARE buffer ColumnWords { Word column_words[]; };
layout(std430, binding = SLOTS_BINDING) readonly buffer Slots {
    Columns slots[];  // the longest first
};

Word word_of(Columns columns, int at) {
    return column_words[columns.first + min(uint(at), uint(columns.words))];
}

// The letter of each target in column c of a word, with TWO_TRACKS the two letters of each.
TargetLetters letters_in(Word word, int c) {
    int at = 8 * TARGETS * c;
    return TargetLetters(word >> at & 255u, word >> (at + 8 * (TARGETS - 1)) & 255u);
}

// Pairs that each have their own query number the letters that occur from 1 on.
#ifdef OWN_QUERIES
layout(std430, binding = QUERY_PROFILE_BINDING) readonly buffer PairLetters {
    uint letter_codes[64];  // a byte for each code of the alphabet
    uint letter_scores[];   // as query_of_pairs.glsl has them in shared memory
};

uint letter_of(uint code) { return letter_codes[code >> 2] >> (8u * (code & 3u)) & 255u; }
#else
uint letter_of(uint code) { return code + 1u; }
#endif
