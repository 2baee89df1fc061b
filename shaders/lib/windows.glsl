// Windows of a sweep in shared memory: letters of the target, and H and F above, in column order
// above the strip, then on two diagonals below each invocation. They hold the columns of the
// WORKGROUP steps before step k, and those after it; the next part is loaded WORKGROUP steps before
// it is needed. Needs pairs.glsl, lane.glsl and above_strip() (sweep.glsl).
const int RING = 2 * WORKGROUP * STEP;
shared ivec2 above[2 * RING];
shared int letter_window[RING];

struct Windows {  // the part on its way from memory
    ivec2 above[STEP];
    uint word[STEP];
};

int below_place(int k, int t) { return RING + ((k & 1) * WORKGROUP + t) * STEP; }

int steps_over(int columns) { return (columns + STEP - 1) / STEP; }

Windows first_windows(Pair pair, int first, int end, int begin, Lane lane) {
    Windows next;
    int t = int(gl_LocalInvocationIndex);
    for (int c = 0; c < STEP; ++c) {
        int at = begin * STEP + c * WORKGROUP + t, before = at - WORKGROUP * STEP;
        next.above[c] = above_strip(min(first + at, end - 1));
        next.word[c] = target_word(pair, first + at);
        letter_window[before & (RING - 1)] = target_letter(pair, first + before);
        above[below_place(begin - 1, t) + c] = lane.below[c];
    }
    return next;
}

void next_windows(inout Windows next, Pair pair, int first, int end, int k) {
    int t = int(gl_LocalInvocationIndex);
    for (int c = 0; c < STEP; ++c) {
        int at = k * STEP + c * WORKGROUP + t, ahead = first + at + WORKGROUP * STEP;
        above[at & (RING - 1)] = next.above[c];
        letter_window[at & (RING - 1)] = letter_in(next.word[c], pair, first + at);
        next.above[c] = above_strip(min(ahead, end - 1));
        next.word[c] = target_word(pair, ahead);
    }
    barrier();
}
