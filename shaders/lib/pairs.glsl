// The letters of pairs in storage buffers; the only code that knows how they are stored.
//   int query_letter(Pair, int i)             NO_QUERY_LETTER below the last row
//   int target_letter(Pair, int j)            LETTERS beyond the last column
// A letter has 8 bits, four per word. With SCORES 4, see scoring.glsl, queries have positions of
// 16 bits instead; with TWO_TRACKS targets have pairs of letters of 16 bits.
// Needs LETTERS and SCORES.
#include "lib/pair.glsl"
#if SCORES == 4
#define NO_QUERY_LETTER (-1)
#else
#define NO_QUERY_LETTER LETTERS
#endif
layout(std430, binding = QUERIES_BINDING) readonly buffer Queries { uint query_words[]; };
layout(std430, binding = TARGETS_BINDING) readonly buffer Targets { uint target_words[]; };
int letter_of(uint word, uint at) { return int(word >> (8u * (at & 3u)) & 255u); }

int wide_letter_of(uint word, uint at) { return int(word >> (16u * (at & 1u)) & 0xffffu); }

int query_letter(Pair pair, int i) {
    uint at = pair.query + uint(min(i, pair.query_length - 1));
#if SCORES == 4
    int letter = wide_letter_of(query_words[at >> 1], at);
#else
    int letter = letter_of(query_words[at >> 2], at);
#endif
    return i < pair.query_length ? letter : NO_QUERY_LETTER;
}

// A letter in two parts, so that the word can be loaded long before it is looked at.
#ifdef TWO_TRACKS
#define TARGET_LETTER_OF wide_letter_of
#define TARGET_SHIFT 1
#else
#define TARGET_LETTER_OF letter_of
#define TARGET_SHIFT 2
#endif
uint target_word(Pair pair, int j) {
    uint at = pair.target + uint(clamp(j, 0, pair.target_length - 1));
    return target_words[at >> TARGET_SHIFT];
}

int letter_in(uint word, Pair pair, int j) { return TARGET_LETTER_OF(word, pair.target + uint(j)); }

int target_letter(Pair pair, int j) {
    int letter = letter_in(target_word(pair, j), pair, j);
    return j < pair.target_length ? letter : LETTERS;
}
