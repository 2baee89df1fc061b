// CHAIN lanes side by side, each with the rows below those of the lane before it. They hand on
// their last row by subgroup operations, or else in shared memory; a lane alone has nobody to hand
// it to.
// Needs number.glsl, CHAIN and WORKGROUP.
struct Border { Bits h, f; };  // of a column: H in a last row, F in the row below it

#ifdef SUBGROUPS
int lane() { return int(gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID); }

// The lane that goes first of those in step.
int first_in_step() { return int(gl_SubgroupID * gl_SubgroupSize); }
#else
int lane() { return int(gl_LocalInvocationIndex); }

int first_in_step() { return CHAIN == 1 ? lane() : 0; }
#endif

int lane_in_chain() { return lane() % CHAIN; }

#if CHAIN == 1
Border from_lane_before(int step, Border mine, Border above) { return above; }

Number best_of_chain(Number best) { return best; }
#elif defined SUBGROUPS
Border from_lane_before(int step, Border mine, Border above) {
    Border before = Border(subgroupShuffleUp(mine.h, 1u), subgroupShuffleUp(mine.f, 1u));
    return lane_in_chain() == 0 ? above : before;
}

Number best_of_chain(Number best) {
    for (uint k = 1u; k < uint(CHAIN); k *= 2u)
        best = max(best, from_bits(subgroupShuffleXor(bits(best), k)));
    return best;
}
#else
shared Border handed[2 * WORKGROUP];

Border from_lane_before(int step, Border mine, Border above) {
    int ring = (step & 1) * WORKGROUP;
    handed[ring + lane()] = mine;
    barrier();
    return lane_in_chain() == 0 ? above : handed[ring + lane() - 1];
}

Number best_of_chain(Number best) {
    barrier();
    handed[lane()].h = bits(best);
    barrier();
    for (int k = 1; k < CHAIN; ++k) best = max(best, from_bits(handed[lane() ^ k].h));
    return best;
}
#endif
