// The directions of directions.glsl as they are written. Without DIRECTIONS nothing is kept.
// Needs recurrence.glsl and what directions.glsl needs.
#include "lib/directions.glsl"
#ifdef DIRECTIONS
#include "lib/choices.glsl"

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
void note(inout uint word, int r, Cell c, Cell left, Cell up) {}

void keep(bool inside, uint at, uint word) {}
#endif
