// Where H of a cell comes from, and whether the gap that leaves it begins there: 4 bits per cell,
// also read by traceback.py. A word has the ROWS = 8 cells of one invocation in one column; the
// words of an anti-diagonal of a strip lie side by side. With ROW_MAJOR (engine scan) the words of
// the same rows lie side by side. With DIRECTIONS they are written, else note() and keep() do
// nothing. Needs ROWS and WORKGROUP, with DIRECTIONS recurrence.glsl; STRIP_ROWS, the rows of a
// strip, may be defined.
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

// Where the tracebacks of the pairs are: i residues of the query and j of the target are still
// ahead, in H or in the gap `gap` (UP or LEFT), or the trace is over (`gap` is OVER). Directions
// are there for a block of `spacing` strips at a time; a trace that WAITS has left it.
#ifndef STRIP_ROWS
#define STRIP_ROWS (WORKGROUP * ROWS)
#endif
struct Trace { int i, j; uint gap, runs; };

const uint OVER = DIAGONAL, WAITS = 4u;  // WAITS is added to the gap

layout(std430, binding = TRACES_BINDING) buffer Traces { Trace traces[]; };
uniform int spacing;

int strips_in(int count) { return (count + STRIP_ROWS - 1) / STRIP_ROWS; }

int strips_ahead(Trace trace) { return trace.gap == OVER ? 0 : strips_in(trace.i); }

int first_strip(Trace trace) { return max(strips_ahead(trace) - 1, 0) / spacing * spacing; }

// Go one cell back by the direction bits of a cell; return the move, STOP where the path begins. In
// H its source is taken; a gap is closed rather than extended.
uint step_back(inout Trace trace, uint bits) {
    uint move = trace.gap != STOP ? trace.gap : bits & SOURCE;
    bool closes = move == DIAGONAL || (bits & (move == UP ? F_CLOSES : E_CLOSES)) != 0u;
    trace.gap = move == STOP ? OVER : closes ? STOP : move;
    trace.i -= move == UP || move == DIAGONAL ? 1 : 0;
    trace.j -= move == LEFT || move == DIAGONAL ? 1 : 0;
    return move;
}

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
