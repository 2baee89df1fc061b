#version 430
// The best cell of each pair from those of the parts of its table: a work group a pair.
layout(local_size_x = WORKGROUP) in;
#include "lib/best.glsl"
#include "lib/best_of_group.glsl"

layout(std430, binding = 4) writeonly buffer BestCells { ivec4 best_cells[]; };
layout(std430, binding = 5) readonly buffer BestOfParts { ivec4 best_of_parts[]; };
uniform int parts;

void main() {
    uint p = gl_WorkGroupID.x;
    Best best = NOTHING;
    for (int part = int(gl_LocalInvocationIndex); part < parts; part += WORKGROUP)
        best = better(best, best_from(best_of_parts[p * uint(parts) + uint(part)]));
    best = best_of_group(best);
    if (gl_LocalInvocationIndex == 0u) best_cells[p] = stored(best);
}
