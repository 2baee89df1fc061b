#version 430
// Before `lanes` with a query of each target: write the profiles of many queries, as
// query_profile.glsl reads them, one work group per strip.
#include "lib/number.glsl"
layout(local_size_x = WORKGROUP) in;
#include "lib/scoring.glsl"
#include "lib/query_profile_layout.glsl"

layout(std430, binding = STRIPS_BINDING) readonly buffer Strips {
    ivec4 strips[];  // first letter of the query, its length, number of the strip, of its strips
};
layout(std430, binding = QUERY_LETTERS_BINDING) readonly buffer QueryLetters {
    uint query_letters[];
};
layout(std430, binding = QUERY_PROFILE_BINDING) writeonly buffer QueryProfile {
    uvec4 query_profile[];
};
uniform int first_strip;

int row_score(ivec4 strip, int row, int letter) {
    if (row >= strip.y || letter == 0) return LEAST_SCORE;
    uint at = uint(strip.x + row);
    int code = int(query_letters[at >> 2] >> (8u * (at & 3u)) & 255u);
    return max(score(profiled(code), letter - 1), LEAST_SCORE);
}

uint word(ivec4 strip, int row, int letter) {
    int a = row_score(strip, row, letter);
#if NUMBER == 0
    return uint(a);
#else
    int b = row_score(strip, row + 1, letter);
    vec2 two = vec2(clamp(ivec2(a, b), -LIMIT, LIMIT)) / float(LIMIT);
    return HALVES ? packHalf2x16(two) : floatBitsToUint(two.x);
#endif
}

void main() {
    load_scores();
    int number = first_strip + int(gl_WorkGroupID.x);
    ivec4 strip = strips[number];
    for (int k = int(gl_LocalInvocationIndex); k < SIZE; k += WORKGROUP) {
        uvec4 words = uvec4(strip.z, strip.w, strip.w, 0);
        if (k > 0) {
            int letter = (k - 1) / STRIDE, part = (k - 1) % STRIDE / CHAIN;
            int lane = (k - 1) % STRIDE % CHAIN;
            int row = (strip.z * CHAIN + lane) * ROWS + part * 4 * IN_WORD;
            for (int w = 0; w < 4; ++w)
                words[w] = part < PARTS ? word(strip, row + w * IN_WORD, letter) : 0u;
        }
        query_profile[number * SIZE + k] = words;
    }
}
