// Where the tracebacks of the pairs are: i residues of the query and j of the target are still
// ahead, in H or in the gap `gap` (UP or LEFT), or the trace is over (`gap` is OVER). Directions
// are there for a block of `spacing` strips at a time.
// Needs directions.glsl, ROWS and WORKGROUP.
struct Trace { int i, j; uint gap, runs; };

const uint OVER = DIAGONAL;

layout(std430, binding = TRACES_BINDING) buffer Traces { Trace traces[]; };
uniform int spacing;

int strips_in(int rows) { return (rows + WORKGROUP * ROWS - 1) / (WORKGROUP * ROWS); }

int strips_ahead(Trace trace) { return trace.gap == OVER ? 0 : strips_in(trace.i); }

int first_strip(Trace trace) { return max(strips_ahead(trace) - 1, 0) / spacing * spacing; }
