// CHAIN lanes side by side, each with the rows below those of the lane before it. They hand on their
// last row, STEP columns at once, by shuffles or in shared memory; a lane alone has nobody to hand
// it to.
// The last row of a strip is kept for the next one.
// Needs CHAIN, STEP, which is even, and WORKGROUP.
#include "lib/number.glsl"
#include "lib/neighbours.glsl"

struct Border { Bits h, f; };  // of a column: H in a last row, F in the row below it

int lane_in_chain() { return lane() % CHAIN; }

#if CHAIN == 1
Border[STEP] from_lane_before(int step, Border mine[STEP], Border above[STEP]) { return above; }

Number best_of_chain(Number best) { return best; }
#elif defined SUBGROUPS
Border[STEP] from_lane_before(int step, Border mine[STEP], Border above[STEP]) {
    for (int c = 0; c < STEP; ++c) {
        Bits h = subgroupShuffleUp(mine[c].h, 1u), f = subgroupShuffleUp(mine[c].f, 1u);
        if (lane_in_chain() > 0) above[c] = Border(h, f);
    }
    return above;
}

Number best_of_chain(Number best) {
    for (uint k = 1u; k < uint(CHAIN); k *= 2u)
        best = max(best, from_bits(subgroupShuffleXor(bits(best), k)));
    return best;
}
#else
shared Border handed[2 * STEP * WORKGROUP];  // by turns, so that there is one barrier a step

Border[STEP] from_lane_before(int step, Border mine[STEP], Border above[STEP]) {
    int place = (step & 1) * STEP * WORKGROUP + lane();
    for (int c = 0; c < STEP; ++c) handed[place + c * WORKGROUP] = mine[c];
    barrier();
    for (int c = 0; c < STEP; ++c)
        if (lane_in_chain() > 0) above[c] = handed[place - 1 + c * WORKGROUP];
    return above;
}

Number best_of_chain(Number best) {
    barrier();
    handed[lane()].h = bits(best);
    barrier();
    for (int k = 1; k < CHAIN; ++k) best = max(best, from_bits(handed[lane() ^ k].h));
    return best;
}
#endif

// H and F of each column below a strip, which the next strip takes as the row above it. The STEP
// columns of a chain lie together, in words of 16 bytes that are read and written at once; the
// chains of a work group have theirs side by side.
layout(std430, binding = BORDERS_BINDING) coherent buffer Borders { uvec4 borders[]; };
const int BORDER_WORDS = STEP / 2;

// The first word of a chain, given the columns before those of its work group.
uint first_border_word(uint columns, int chain) {
    return columns / 2u + uint(chain * BORDER_WORDS);
}

Border[STEP] load_borders(uint first, int step, int chains) {
    Border above[STEP];
    for (int k = 0; k < BORDER_WORDS; ++k) {
        uvec4 word = borders[first + uint(step * chains * BORDER_WORDS + k)];
        above[2 * k] = Border(word.x, word.y);
        above[2 * k + 1] = Border(word.z, word.w);
    }
    return above;
}

void store_borders(uint first, int step, int chains, Border below[STEP]) {
    for (int k = 0; k < BORDER_WORDS; ++k) {
        Border a = below[2 * k], b = below[2 * k + 1];
        borders[first + uint(step * chains * BORDER_WORDS + k)] = uvec4(a.h, a.f, b.h, b.f);
    }
}
