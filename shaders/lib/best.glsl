// The best cell so far: score, and with ENDS where it is. A best alignment ends in an aligned pair,
// so M is compared. Among equal scores the larger i + j wins, then the smaller i (Aymone 2022,
// section IV, "conventional"): an order on cells, so the outcome does not depend on the schedule.
#ifdef ENDS
struct Best { int score, d, i; };  // d = i + j

const Best NOTHING = Best(0, 0, 0);

Best at_least(int score) { return Best(score, -1, 0); }  // any cell of this score is better

Best better(Best a, Best b) {
    bool first = a.score != b.score ? a.score > b.score : a.d != b.d ? a.d > b.d : a.i <= b.i;
    return first ? a : b;
}

Best better(Best a, int score, int i, int j) { return better(a, Best(score, i + j, i)); }

Best best_from(ivec4 stored) { return Best(stored.x, stored.y, stored.z); }

ivec4 stored(Best b) { return ivec4(b.score, b.d, b.i, 0); }
#else
struct Best { int score; };

const Best NOTHING = Best(0);

Best at_least(int score) { return Best(score); }

Best better(Best a, Best b) { return Best(max(a.score, b.score)); }

Best better(Best a, int score, int i, int j) { return Best(max(a.score, score)); }

Best best_from(ivec4 stored) { return Best(stored.x); }

ivec4 stored(Best b) { return ivec4(b.score, 0, 0, 0); }
#endif

#if __VERSION__ == 310 || __VERSION__ >= 430  // which have shared memory
// The best cell of a work group by a tree in shared memory; every invocation must call it.
shared Best best_of_each[WORKGROUP];

Best best_of_group(Best mine) {
    uint t = gl_LocalInvocationIndex;
    best_of_each[t] = mine;
    barrier();
    for (uint half_size = uint(WORKGROUP) / 2u; half_size > 0u; half_size /= 2u) {
        if (t < half_size) best_of_each[t] = better(best_of_each[t], best_of_each[t + half_size]);
        barrier();
    }
    return best_of_each[0];
}
#endif
