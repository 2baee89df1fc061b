// The values that enter the columns of an invocation from the left in one row: H of the column
// before them and E of the first. An invocation has COLUMNS columns, in the order of lane(), and
// gives of them
//   last.x   H' of the last          H' = begin().h, all but E
//   last.y   E behind the last, when no gap enters from the left
// and all give `side`, the same for what lies left of the group. E is a prefix maximum,
//   E(t) = max over u < t of last(u).y - (t - 1 - u) * COLUMNS * gap_extend,
// and H follows from it: unless the gap opens at j, where H(j - 1) = H'(j - 1) is no less,
// E(j - 1) = E(j) + gap_extend. WORKGROUP * COLUMNS * gap_extend + gap_open must fit into int32.
// Needs COLUMNS, NEAR and WORKGROUP.
#include "lib/neighbours.glsl"
#include "lib/recurrence.glsl"

ivec2 entering(int h, int e, ivec2 side) {
    return lane() == 0 ? side : ivec2(finish(upper_cell(h, 0), e + decay(1)).h, e);
}

#ifdef SUBGROUPS
ivec2 from_left(ivec2 last, ivec2 side) {
    // All E are compared as they are behind the last column of the group.
    int t = lane(), behind = decay((WORKGROUP - 1 - t) * COLUMNS), e = last.y - behind;
    for (int u = 1; u < WORKGROUP; u *= 2) {
        int before = subgroupShuffleUp(e, uint(u));
        if (t >= u) e = max(e, before);
    }
    e = subgroupShuffleUp(e, 1u) + behind + decay(COLUMNS);
    int h = subgroupShuffleUp(last.x, 1u);
    return entering(h, max(e, side.y - decay(t * COLUMNS)), side);
}
#else
shared ivec2 lasts[2][WORKGROUP];
int turn = 0;

// NEAR neighbours at once, then twice as many with every exchange.
ivec2 from_left(ivec2 last, ivec2 side) {
    int t = lane(), h = 0, e = side.y - decay(t * COLUMNS);
    lasts[turn][t] = last;
    barrier();
    for (int u = 1; u <= NEAR; ++u)
        if (t >= u) e = max(e, lasts[turn][t - u].y - decay((u - 1) * COLUMNS));
    if (t > 0) h = lasts[turn][t - 1].x;
    turn ^= 1;
    for (int u = NEAR; u < WORKGROUP; u *= 2) {
        lasts[turn][t].y = e;
        barrier();
        if (t >= u) e = max(e, lasts[turn][t - u].y - decay(u * COLUMNS));
        turn ^= 1;
    }
    return entering(h, e, side);
}
#endif
