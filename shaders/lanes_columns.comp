#version 430
// Before `lanes`: deal the letters of subjects into the words that lanes read, a work group a lane's
// subjects.
#include "lib/number.glsl"
layout(local_size_x = WORKGROUP) in;
#define COLUMNS_ARE
#include "lib/columns.glsl"

layout(std430, binding = 6) readonly buffer Letters { uint letter_words[]; };
layout(std430, binding = 7) readonly buffer Subjects { uvec2 subjects[]; };  // first letter, length
uniform int first_slot;

uint code(uvec2 subject, uint j) {
    if (j >= subject.y) return 0u;
    uint at = subject.x + j;
    return (letter_words[at >> 2] >> (8u * (at & 3u)) & 255u) + 1u;
}

void main() {
    int slot = first_slot + int(gl_WorkGroupID.x);
    Columns columns = slots[slot];
    for (int at = int(gl_LocalInvocationIndex); at <= columns.words; at += WORKGROUP) {
        uint word = 0u;
        for (int c = 0; c < STEP; ++c)
            for (int k = 0; k < SUBJECTS; ++k)
                word |= code(subjects[slot * SUBJECTS + k], uint(at * STEP + c)) << 8 * (c * SUBJECTS + k);
        column_words[columns.first + uint(at)] = word;
    }
}
