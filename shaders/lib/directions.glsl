// Where H of a cell comes from, and whether the gap that leaves it begins there: 4 bits per cell,
// also read by traceback.py. A word has the ROWS = 8 cells of one invocation in one column; the
// words of an anti-diagonal of a strip lie side by side. With ROW_MAJOR (engine scan) the words of
// the same rows lie side by side. With DIRECTIONS they are written, else note() and keep() do
// nothing. Needs ROWS and WORKGROUP, with DIRECTIONS recurrence.glsl.
const uint STOP = 0u, LEFT = 1u, UP = 2u, DIAGONAL = 3u, SOURCE = 3u, E_CLOSES = 4u, F_CLOSES = 8u;

uint direction_word(int strip, int columns, int lane, int column) {
#ifdef ROW_MAJOR
    return uint((strip * WORKGROUP + lane) * columns + column);
#else
    return uint((strip * (columns + WORKGROUP - 1) + column + lane) * WORKGROUP + lane);
#endif
}

// From the word of column 0 to that of another column.
uint next_word(int column) { return uint(column * WORKGROUP); }

layout(std430, binding = DIRECTIONS_BINDING) buffer Directions { uint directions[]; };

#ifdef DIRECTIONS
// Choices without conditions, of which compilers make branches: on an H100 38 of them in a step of
// sweep.glsl cost three times its cells.
uint unlike(int a, int b) { return min(uint(a - b), 1u); }  // 0 if they are equal, else 1

// One of two, given `unlike`.
uint chosen(uint unlike, uint same, uint other) { return same + (other - same) * unlike; }

void note(inout uint word, int r, Cell c, Cell left, Cell up) {
    uint source = chosen(unlike(c.h, c.f), UP, LEFT);
    source = chosen(unlike(c.h, c.m), DIAGONAL, source) * unlike(c.h, 0);
    source |= chosen(unlike(c.e, left.h - gap_open), E_CLOSES, 0u);
    source |= chosen(unlike(c.f, up.h - insertion_open), F_CLOSES, 0u);
    word |= source << (4 * r);
}

void keep(bool inside, uint at, uint word) {
    if (inside) directions[at] = word;
}
#else
#define note(word, r, c, left, up)
#define keep(inside, at, word)
#endif
