#version 430
// Cells per second that a compute shader could do if it had nothing but the recurrence: see cells.glsl.
layout(local_size_x = WORKGROUP) in;
#include "micro/results.glsl"
#include "micro/cells.glsl"

void main() { add_result(best_cells(seed())); }
