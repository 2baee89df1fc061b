#version 430
// The best cell of each pair from those of the candidates of its table: one work group per pair
// (Lin, Zhong and Lin 2015, section 1.4).
layout(local_size_x = WORKGROUP) in;
#include "lib/best.glsl"

layout(std430, binding = BEST_BINDING) writeonly buffer BestCells { ivec4 best_cells[]; };
layout(std430, binding = CANDIDATES_BINDING) readonly buffer CandidateCells {
    ivec4 candidate_cells[];
};
uniform int candidate_count;

void main() {
    uint p = gl_WorkGroupID.x;
    Best best = NOTHING;
    for (int k = int(gl_LocalInvocationIndex); k < candidate_count; k += WORKGROUP)
        best = better(best, best_from(candidate_cells[p * uint(candidate_count) + uint(k)]));
    best = best_of_group(best);
    if (gl_LocalInvocationIndex == 0u) best_cells[p] = stored(best);
}
