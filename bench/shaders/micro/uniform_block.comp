#version 430
// Bytes per second from a uniform block, where invocations look at different places: WIDTH 1 is a number
// of 4 bytes at a time, as scoring.glsl looks up scores, 4 is a word of 16, as query_profile.glsl does.
layout(local_size_x = WORKGROUP) in;
#include "micro/results.glsl"

const int SIZE = 512, UNROLLED = 4;
layout(std140, binding = 0) uniform Table { ivec4 table[SIZE]; };

ivec4 looked_up(int at) {
    if (WIDTH == 4) return table[at & (SIZE - 1)];
    return ivec4(table[at >> 2 & (SIZE - 1)][at & 3], 0, 0, 0);
}

void main() {
    int at = seed() * 37;
    ivec4 found = ivec4(0);
    for (int turn = 0; turn < TURNS; turn += UNROLLED) {
        for (int k = 0; k < UNROLLED; ++k) found += looked_up(at + 67 * k);
        at += 101;
    }
    add_result(found.x + 3 * found.y + 5 * found.z + 7 * found.w);
}
