// Windows of a sweep in shared memory: H and F in the row above of the columns of WORKGROUP steps, on
// two diagonals below each invocation, and letters of the target, of twice as many steps. The next
// part is loaded WORKGROUP steps before it is needed, by an invocation a step.
// Small, since NVIDIA's driver gives all work groups of a multiprocessor 48 KiB together.
// Needs pairs.glsl, lane.glsl and above_strip() (sweep.glsl).
const int COLUMNS_AHEAD = WORKGROUP * STEP, LETTER_BITS = 32 / STEP;
shared ivec2 above[3 * COLUMNS_AHEAD];
shared int letter_window[2 * WORKGROUP];

struct Windows {  // the part on its way from memory
    ivec2 above[STEP];
    uint word[STEP];
};

int above_place(int k) { return (k & (WORKGROUP - 1)) * STEP; }

int below_place(int k, int t) { return (1 + (k & 1)) * COLUMNS_AHEAD + t * STEP; }

int letter_at(int step, int c) {
    uint letters = uint(letter_window[step & (2 * WORKGROUP - 1)]);
    return int(bitfieldExtract(letters, LETTER_BITS * c, LETTER_BITS));
}

int steps_over(int columns) { return (columns + STEP - 1) / STEP; }

Windows first_windows(Pair pair, int first, int end, int begin, Lane lane) {
    Windows next;
    int t = int(gl_LocalInvocationIndex), before = begin - WORKGROUP + t, letters = 0;
    for (int c = 0; c < STEP; ++c) {
        int j = first + (begin + t) * STEP + c;
        next.above[c] = above_strip(min(j, end - 1));
        next.word[c] = target_word(pair, j);
        letters |= target_letter(pair, first + before * STEP + c) << (LETTER_BITS * c);
        above[below_place(begin - 1, t) + c] = lane.below[c];
    }
    letter_window[before & (2 * WORKGROUP - 1)] = letters;
    return next;
}

void next_windows(inout Windows next, Pair pair, int first, int end, int k) {
    int t = int(gl_LocalInvocationIndex), letters = 0;
    for (int c = 0; c < STEP; ++c) {
        int j = first + (k + t) * STEP + c, ahead = j + COLUMNS_AHEAD;
        above[above_place(t) + c] = next.above[c];
        letters |= letter_in(next.word[c], pair, j) << (LETTER_BITS * c);
        next.above[c] = above_strip(min(ahead, end - 1));
        next.word[c] = target_word(pair, ahead);
    }
    letter_window[(k + t) & (2 * WORKGROUP - 1)] = letters;
    barrier();
}
