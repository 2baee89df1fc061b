// The last row of a strip, H and F of each column, which the next strip takes as the row above it.
// The STEP columns of a chain lie together, in words of 16 bytes that are read and written at once;
// the chains of a work group have theirs side by side.
// Needs Border (chain.glsl), NUMBER and STEP, which is even.
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
