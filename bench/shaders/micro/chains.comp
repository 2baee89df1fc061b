#version 430
// How many operations per second a compute shader does: see chains.glsl.
#include "lib/number.glsl"
layout(local_size_x = WORKGROUP) in;
#include "micro/results.glsl"
#include "micro/chains.glsl"

void main() { add_result(chained(seed())); }
