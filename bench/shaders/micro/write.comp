#version 430
// Fill a storage buffer: word k is 4 k + shift and the three numbers after it.
layout(local_size_x = WORKGROUP) in;
#include "micro/storage.glsl"

void main() {
    for (int k = 0; k < EACH; ++k)
        source[place(k)] = uvec4(0u, 1u, 2u, 3u) + uint(4 * place(k) + shift);
}
