// The last row of a strip, H and F of each column, which the next strip takes as the row above it.
// The STEP columns of a chain lie together, in words of 16 bytes that are read and written at once;
// the chains of a work group have theirs side by side.
// Needs Border (chain.glsl), NUMBER and STEP, which is even.
layout(std430, binding = BORDERS_BINDING) coherent buffer Borders { uvec4 borders[]; };
#if NUMBER == 2
const int COLUMNS_IN_WORD = 1;
#else
const int COLUMNS_IN_WORD = 2;
#endif
const int BORDER_WORDS = STEP / COLUMNS_IN_WORD;

// The first word of a chain, given the columns before those of its work group.
uint first_border_word(uint columns, int chain) {
    return columns / uint(COLUMNS_IN_WORD) + uint(chain * BORDER_WORDS);
}

Border[STEP] load_borders(uint first, int step, int chains) {
    Border above[STEP];
    for (int k = 0; k < BORDER_WORDS; ++k) {
        uvec4 word = borders[first + uint(step * chains * BORDER_WORDS + k)];
#if NUMBER == 2
        above[k] = Border(word.xy, word.zw);
#else
        above[2 * k] = Border(word.x, word.y);
        above[2 * k + 1] = Border(word.z, word.w);
#endif
    }
    return above;
}

void store_borders(uint first, int step, int chains, Border below[STEP]) {
    for (int k = 0; k < BORDER_WORDS; ++k) {
#if NUMBER == 2
        uvec4 word = uvec4(below[k].h, below[k].f);
#else
        Border a = below[2 * k], b = below[2 * k + 1];
        uvec4 word = uvec4(a.h, a.f, b.h, b.f);
#endif
        borders[first + uint(step * chains * BORDER_WORDS + k)] = word;
    }
}
