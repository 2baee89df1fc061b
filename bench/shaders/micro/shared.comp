#version 430
// Bytes per second from shared memory: 16 at a time, invocation next to invocation, as lanes read a
// profile.
layout(local_size_x = WORKGROUP) in;
#include "micro/results.glsl"

const int PARTS = 4;
shared uvec4 words[PARTS * WORKGROUP];
uniform int factor;

void main() {
    int t = int(gl_LocalInvocationIndex);
    for (int k = 0; k < PARTS; ++k) {
        uint word = uint((k * WORKGROUP + t) * factor);
        words[k * WORKGROUP + t] = uvec4(word, word + 1u, word + 2u, word + 3u);
    }
    barrier();
    uvec4 found = uvec4(0u);
    for (int turn = 0; turn < TURNS; ++turn) {
        int at = (t + turn) & (WORKGROUP - 1);
        for (int k = 0; k < PARTS; ++k) found ^= words[k * WORKGROUP + at];
    }
    add_result(int(found.x + found.y * 3u + found.z * 5u + found.w * 7u));
}
