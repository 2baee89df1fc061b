#version 330
// How many operations per second a fragment shader does: see chains.glsl.
#include "lib/number.glsl"
#include "micro/seeds.glsl"
#include "micro/chains.glsl"

layout(location = 0) out int found;

void main() { found = chained(seed()); }
