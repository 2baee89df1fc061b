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

uint code(uint strip, uint row) { return row < rows ? row_codes[strip * rows + row] : 0u; }

void main() {
    uint strip = first_strip + gl_WorkGroupID.x, scores = letters * words;
    uint begin = strip * (given + scores);
    for (uint at = gl_LocalInvocationIndex; at < given; at += uint(WORKGROUP))
        profile[begin + (at < head ? at : at + scores)] = around[strip * given + at];
    for (uint k = gl_LocalInvocationIndex; k < words; k += uint(WORKGROUP)) {
#if BITS == 16
        uint even = code(strip, 2u * k), odd = code(strip, 2u * k + 1u);
#else
        uint only = code(strip, k);
#endif
        for (uint letter = 0u; letter < letters; ++letter) {
            uint at = begin + head + letter * words + k, row = letter * codes;
#if BITS == 16
            profile[at] = table[row + even] | table[row + odd] << 16;
#else
            profile[at] = table[row + only];
#endif
        }
    }
}
