#version 430
// After `lanes`: list the scores that reach the lesser of the bounds of their query and target, or
// `limit`, from which on they may be wrong. Work groups along y have the queries.
layout(local_size_x = WORKGROUP) in;
layout(std430, binding = SCORES_BINDING) readonly buffer BestScores { int best_scores[]; };
layout(std430, binding = QUERY_BOUNDS_BINDING) readonly buffer QueryBounds { int query_bounds[]; };
layout(std430, binding = TARGET_BOUNDS_BINDING) readonly buffer TargetBounds {
    int target_bounds[];  // NO_TARGET where lanes have none
};
layout(std430, binding = PASSING_BINDING) buffer Passing {
    uint count, room;  // those that pass, and how many of them can be listed
    uvec2 passing[];   // the number of a score, from `first_score` on, and the score
};
uniform uint targets;  // scores of a query
uniform uint first_score, first_query, first_target;
uniform int limit;
const int NO_TARGET = int(0x80000000u);

void main() {
    uint query = gl_WorkGroupID.y, step = gl_NumWorkGroups.x * uint(WORKGROUP);
    for (uint target = gl_GlobalInvocationID.x; target < targets; target += step) {
        int bound = target_bounds[first_target + target];
        if (bound == NO_TARGET) continue;
        bound = min(bound, query_bounds[first_query + query]);
        uint k = query * targets + target;
        int score = best_scores[k];
        if (score < min(bound, limit)) continue;
        uint at = atomicAdd(count, 1u);
        if (at < room) passing[at] = uvec2(first_score + k, uint(score));
    }
}
