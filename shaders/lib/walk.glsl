// Where the tracebacks of the pairs are: i residues of the query and j of the target are still
// ahead, in H or in the gap `gap` (UP or LEFT); i = 0 when the walk is over. Directions are there
// for a block of `spacing` strips at a time.
struct Walk { int i, j; uint gap, runs; };

layout(std430, binding = 6) buffer Walks { Walk walks[]; };
uniform int spacing;

int strips_in(int rows) { return (rows + WORKGROUP * ROWS - 1) / (WORKGROUP * ROWS); }

int first_strip(Walk walk) { return max(strips_in(walk.i) - 1, 0) / spacing * spacing; }
