#version 430
// Sum `count` words, from `first` on, that the host reads next, as a table with COLUMNS columns and
// rows from `row` on: each word times a factor of its column, and times one of its row. Of T
// invocations, t sums the words t, t + T, ... behind `nonce`.
layout(local_size_x = WORKGROUP) in;
layout(std430, binding = WORDS_BINDING) readonly buffer Words { uint words[]; };
layout(std430, binding = SUMS_BINDING) writeonly buffer Sums { uvec2 sums[]; };
uniform uint first, count, row, at, nonce;

uint factor(uint x) {
    x *= 0x9E3779B9u;
    x = (x ^ x >> 16) * 0x85EBCA6Bu;
    return (x ^ x >> 13) | 1u;
}

void main() {
    uint t = gl_GlobalInvocationID.x, step = gl_NumWorkGroups.x * uint(WORKGROUP);
    uvec2 sum = uvec2(nonce);
    for (uint k = t; k < count; k += step)
        sum += words[first + k] * uvec2(factor(k % COLUMNS), factor(COLUMNS + row + k / COLUMNS));
    sums[at + t] = sum;
}
