#version 430
// Copy one storage buffer to another and add `shift`.
layout(local_size_x = WORKGROUP) in;
#include "micro/storage.glsl"

void main() {
    uvec4 coming[EACH];
    for (int k = 0; k < EACH; ++k) coming[k] = source[place(k)];
    for (int k = 0; k < EACH; ++k) destination[place(k)] = coming[k] + uint(shift);
}
