// Where the tracebacks of the pairs are: i residues of the query and j of the target are still
// ahead, in H or in the gap `gap` (UP or LEFT), or the trace is over (`gap` is OVER). Directions
// are there for a block of `spacing` strips at a time; a trace that WAITS has left it.
// STRIP_ROWS, the rows of a strip, may be defined.
#include "lib/directions.glsl"
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
