#version 430
// Read a storage buffer and add up what is in it, so that all of it has to come.
layout(local_size_x = WORKGROUP) in;
#include "micro/storage.glsl"
#include "micro/results.glsl"

void main() {
    uvec4 found = uvec4(0u), coming[EACH];
    for (int k = 0; k < EACH; ++k) coming[k] = source[place(k)];
    for (int k = 0; k < EACH; ++k) found += coming[k];
    add_result(int(found.x + found.y * 3u + found.z * 5u + found.w * 7u));
}
