#version 430
// H of one table by the two forms of the recurrence: cell by cell, and column by column.
#include "lib/number.glsl"
layout(local_size_x = 1) in;
#include "lib/recurrence.glsl"
#include "lib/recurrence_column.glsl"

layout(std430, binding = 0) readonly buffer Scores { int scores[]; };  // of each pair i, j
layout(std430, binding = 1) writeonly buffer ByCell { int by_cell[]; };
layout(std430, binding = 2) writeonly buffer ByColumn { int by_column[]; };

void main() {
    Cell above[COLUMNS];
    for (int j = 0; j < COLUMNS; ++j) above[j] = border_cell();
    for (int i = 0; i < ROWS; ++i) {
        Cell left = border_cell(), diagonal = border_cell();
        for (int j = 0; j < COLUMNS; ++j) {
            left = cell(diagonal, left, above[j], scores[i * COLUMNS + j]);
            diagonal = above[j];
            above[j] = left;
            by_cell[i * COLUMNS + j] = left.h;
        }
    }
    Number h[ROWS], e[ROWS];
    Costs costs = costs();
    for (int i = 0; i < ROWS; ++i) h[i] = e[i] = number(0, 0);
    for (int j = 0; j < COLUMNS; ++j) {
        Number f = number(0, 0), diagonal = number(0, 0);
        for (int i = 0; i < ROWS; ++i) {
            int s = scores[i * COLUMNS + j];
            Number x = aligned(sum(diagonal, number(s, s)), e[i]);
            diagonal = h[i];
            finish_row(h[i], e[i], f, x, costs);
            by_column[i * COLUMNS + j] = value(h[i], 0);
        }
    }
}
