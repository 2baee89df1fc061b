// Where the tracebacks of the pairs are: i residues of the query and j of the target are still
// ahead, in H or in the gap `gap` (UP or LEFT), or the walk is over (`gap` is OVER). Directions are
// there for a block of `spacing` strips at a time.
struct Walk { int i, j; uint gap, runs; };

const uint OVER = DIAGONAL;

layout(std430, binding = 6) buffer Walks { Walk walks[]; };
uniform int spacing;

int strips_in(int rows) { return (rows + WORKGROUP * ROWS - 1) / (WORKGROUP * ROWS); }

int strips_ahead(Walk walk) { return walk.gap == OVER ? 0 : strips_in(walk.i); }

int first_strip(Walk walk) { return max(strips_ahead(walk) - 1, 0) / spacing * spacing; }
