// The best cell of a work group by a tree in shared memory; every invocation must call it.
// Needs best.glsl and WORKGROUP.
shared Best candidates[WORKGROUP];

Best best_of_group(Best mine) {
    uint t = gl_LocalInvocationIndex;
    candidates[t] = mine;
    barrier();
    for (uint half_size = WORKGROUP / 2u; half_size > 0u; half_size /= 2u) {
        if (t < half_size) candidates[t] = better(candidates[t], candidates[t + half_size]);
        barrier();
    }
    return candidates[0];
}
