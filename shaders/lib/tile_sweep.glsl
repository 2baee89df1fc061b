// A tile is swept or left out.
// PRUNE may be defined; leaning.glsl, where it computes the cells, comes before.
#include "lib/sweep.glsl"

// Steps begin ... stop - 1 of a sweep over columns first ... end - 1, as in diagonal.comp; `begin`
// is a multiple of WORKGROUP, and if it is not 0 the lane is as the steps before have left it.
void sweep(Pair pair, int first, int end, int begin, int stop, inout Lane lane, inout Best best) {
    int t = int(gl_LocalInvocationIndex), steps = steps_over(end - first);
    Ahead ahead = first_ahead(pair, first, end, begin, lane);
    Step aside = nothing_aside(best);
    for (int k = begin; k < stop; ++k) {
        load_ahead(ahead, pair, first, end, k);
        if (uint(k - t) < uint(steps)) {
            int beat = to_beat;
            Step now = cells(pair, first + (k - t) * STEP, end, k, lane);
            leave_last_row(k, t, lane);
            if (t == WORKGROUP - 1) below_strip(now.j, end, lane.below);
            if (now.score >= beat) atomicMax(to_beat, take(best, aside, now, lane, end));
        }
        barrier();
    }
    best = last_best(best, aside, lane, end);
}

// Block pruning (exact): a tile is left out when no path through it can reach the best score so
// far: the highest H on its borders plus `gain` for each pair of residues still ahead. E and F on a
// border are not above H there. Every invocation calls it; the best score counts as invocation 0
// sees it. Without PRUNE no tile is left out.
#ifdef PRUNE
uniform int gain;  // the largest score of a pair of letters, at least 0
shared int highest_border, beaten_by;

bool cannot_improve(int border_h, int ahead, int best_score) {
    if (gl_LocalInvocationIndex == 0u) {
        highest_border = 0;
        beaten_by = best_score;
    }
    barrier();
    atomicMax(highest_border, border_h);
    barrier();
    return highest_border + gain * ahead < beaten_by;
}
#else
#define cannot_improve(border_h, ahead, best_score) false
#endif
