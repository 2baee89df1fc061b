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
