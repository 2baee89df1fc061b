#version 430
// Before `lanes`: pack the letters of targets into the words that lanes read, one work group per
// lane and its targets. With OWN_QUERIES letters are numbered as in columns.glsl. With
// TWO_TRACKS, the letters of the second one, codes of 16 bits are pairs of letters.
#include "lib/number.glsl"
layout(local_size_x = WORKGROUP) in;
#define COLUMNS_ARE
#include "lib/columns.glsl"

layout(std430, binding = LETTERS_BINDING) readonly buffer Letters { uint letter_words[]; };
layout(std430, binding = TARGETS_BINDING) readonly buffer Targets {
    uvec2 targets[];  // first letter, length
};
uniform int first_slot;
uniform int from_end;  // 1: the last letter is at the end of the last word

Word code(uvec2 target, uint j) {
    if (j >= target.y) return Word(0u);
    uint at = target.x + j;
#ifdef TWO_TRACKS
    uint pair = letter_words[at >> 1] >> (16u * (at & 1u)) & 0xffffu;
    return uvec2(pair / uint(TWO_TRACKS) + 1u, pair % uint(TWO_TRACKS) + uint(FIRST_LETTERS) + 1u);
#else
    return letter_of(letter_words[at >> 2] >> (8u * (at & 3u)) & 255u);
#endif
}

void main() {
    int slot = first_slot + int(gl_WorkGroupID.x);
    Columns columns = slots[slot];
    for (int at = int(gl_LocalInvocationIndex); at <= columns.words; at += WORKGROUP) {
        Word word = Word(0u);
        for (int k = 0; k < TARGETS; ++k) {
            uvec2 target = targets[slot * TARGETS + k];
            uint none = from_end == 1 ? uint(columns.words * STEP) - target.y : 0u;
            for (int c = 0; c < STEP; ++c)
                word |= code(target, uint(at * STEP + c) - none) << 8 * (c * TARGETS + k);
        }
        column_words[columns.first + uint(at)] = word;
    }
}
