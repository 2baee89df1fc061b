// Triples of sequences in storage buffers (OpenGL 4.3); only this file knows how they are stored. A
// letter has 8 bits, four per word; beyond the ends there is a letter that aligns with none. Needs
// LETTERS, the number of letters with that one.
struct Triple {
    int l, m, n;          // lengths of a, b, c (X, Y, Z of Sudo 2012): rows i, columns j, layers k
    uint a, b, c;         // first letters
    uint best;            // where the best cells are
    uint i_sides, j_sides, k_sides, kept;
    uint directions, mask, path;  // first words
};

layout(std430, binding = LETTERS_BINDING) readonly buffer Letters { uint letter_words[]; };
layout(std430, binding = TRIPLES_BINDING) readonly buffer Triples { Triple triples[]; };
const int NO_LETTER = LETTERS - 1;

int letter(uint first, int length, int at) {
    uint k = first + uint(min(at, length - 1));
    return at < length ? int(letter_words[k >> 2] >> (8u * (k & 3u)) & 255u) : NO_LETTER;
}
