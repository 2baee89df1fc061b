#version 330
// Cells per second that a fragment shader could do if it had nothing but the recurrence: see cells.glsl.
#include "micro/seeds.glsl"
#include "micro/cells.glsl"

layout(location = 0) out int found;

void main() { found = best_cells(seed()); }
