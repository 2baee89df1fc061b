// Cells in which no column of two or three letters may end: one bit each, in words of a sub-table,
// and those outside the table, where two letters against a gap could have a score that is forbidden
// inside. Without MASKED there are none. Needs CELLS (directions3.glsl) and Column
// (recurrence3.glsl).
const int MASK_WORDS = (CELLS + 31) / 32;
const int FORBIDDEN = -0x20000000;
#ifdef MASKED
layout(std430, binding = MASKS_BINDING) readonly buffer Masks { uint mask_words[]; };
uint forbidden[MASK_WORDS];

void load_mask(uint first, ivec3 at, ivec2 count) {
    for (int w = 0; w < MASK_WORDS; ++w)
        forbidden[w] = mask_words[first + word_place(at.x, at.y, at.z, w, MASK_WORDS, count)];
}

Column unless_forbidden(int number, bool inside, Column s) {
    bool no = !inside || (forbidden[number >> 5] >> (number & 31) & 1u) != 0u;
    return no ? Column(FORBIDDEN, FORBIDDEN, FORBIDDEN, FORBIDDEN) : s;
}
#else
void load_mask(uint first, ivec3 at, ivec2 count) {}

Column unless_forbidden(int number, bool inside, Column s) { return s; }
#endif
