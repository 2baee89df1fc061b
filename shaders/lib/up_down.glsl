// Prefix maximum over a work group by an UP and a DOWN sweep in shared memory (Lin et al. 2015,
// algorithms 2 and 3); every invocation must call it. WORKGROUP is a power of two.
// Needs WORKGROUP.
struct Prefix { int before, total; };  // maximum over the invocations before this one, and over all

shared int swept[WORKGROUP];

Prefix prefix_maximum(int x, int nothing) {
    uint t = gl_LocalInvocationIndex;
    swept[t] = x;
    for (uint d = 1u; d < WORKGROUP; d *= 2u) {
        barrier();
        uint right = (t + 1u) * 2u * d - 1u;
        if (right < WORKGROUP) swept[right] = max(swept[right], swept[right - d]);
    }
    barrier();
    int total = swept[WORKGROUP - 1];
    barrier();
    if (t == 0u) swept[WORKGROUP - 1] = nothing;
    for (uint d = WORKGROUP / 2u; d > 0u; d /= 2u) {
        barrier();
        uint right = (t + 1u) * 2u * d - 1u;
        if (right < WORKGROUP) {
            int left = swept[right - d];
            swept[right - d] = swept[right];
            swept[right] = max(left, swept[right]);
        }
    }
    barrier();
    return Prefix(swept[t], total);
}
