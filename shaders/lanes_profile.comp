#version 430
// Before `lanes`: the profiles of many queries, one work group per strip, as query_profile.glsl
// has them. The letters of the rows of a strip are in the order of its numbers; 0 is no letter.
// BITS are those of a number, 16 or 32.
layout(local_size_x = WORKGROUP) in;

layout(std430, binding = QUERY_PROFILE_BINDING) writeonly buffer QueryProfile { uint profile[]; };
layout(std430, binding = ROW_LETTERS_BINDING) readonly buffer RowLetters { uint row_letters[]; };
layout(std430, binding = TABLE_BINDING) readonly buffer Table { uint table[]; };
layout(std430, binding = HEADS_BINDING) readonly buffer Heads { uint heads[]; };
uniform uint first_strip;     // of this dispatch
uniform uint rows;            // of a strip, of all its queries
uniform uint codes, letters;  // of the table: letters of rows and of columns, with none
uniform uint head, words;     // of a strip before its letters, and of a letter in the profile

uint score(uint strip, uint row, uint letter) {
    if (row >= rows) return 0u;
    uint at = strip * rows + row;
    uint code = row_letters[at >> 2] >> (8u * (at & 3u)) & 255u;
    return table[letter * codes + code];
}

uint word(uint strip, uint at) {
    uint letter = at / words, k = at % words;
#if BITS == 16
    return score(strip, 2u * k, letter) | score(strip, 2u * k + 1u, letter) << 16;
#else
    return score(strip, k, letter);
#endif
}

void main() {
    uint strip = first_strip + gl_WorkGroupID.x, size = head + letters * words;
    for (uint at = gl_LocalInvocationIndex; at < size; at += uint(WORKGROUP)) {
        profile[strip * size + at] = at < head ? heads[strip * head + at] : word(strip, at - head);
    }
}
