#version 430
// Before `lanes`: the profiles of queries, one work group per strip, as query_profile.glsl has them.
// Rows of a strip are in the order of its numbers, each with its column of a table of scores. What
// stands around the scores of a strip is as it is given: its head, and what is behind them.
// BITS are those of a number, 16 or 32.
layout(local_size_x = WORKGROUP) in;

layout(std430, binding = QUERY_PROFILE_BINDING) writeonly buffer QueryProfile { uint profile[]; };
layout(std430, binding = ROW_CODES_BINDING) readonly buffer RowCodes { uint row_codes[]; };
layout(std430, binding = TABLE_BINDING) readonly buffer Table { uint table[]; };
layout(std430, binding = AROUND_BINDING) readonly buffer Around { uint around[]; };
uniform uint first_strip;     // of this dispatch
uniform uint rows;            // of a strip, of all its queries
uniform uint codes, letters;  // columns and rows of the table: letters of queries and of targets
uniform uint words;           // of a letter in the profile
uniform uint head, given;     // words of a strip before its scores, and all that are given

uint score(uint strip, uint row, uint letter) {
    return row < rows ? table[letter * codes + row_codes[strip * rows + row]] : 0u;
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
    uint strip = first_strip + gl_WorkGroupID.x, scores = letters * words, size = given + scores;
    for (uint at = gl_LocalInvocationIndex; at < size; at += uint(WORKGROUP)) {
        bool scored = at >= head && at < head + scores;
        uint other = strip * given + (at < head ? at : at - scores);
        profile[strip * size + at] = scored ? word(strip, at - head) : around[other];
    }
}
