// Which part of its table a work group of scan.comp computes, and the directions of its cells. With
// AGAIN it is of the strips whose directions traceback.comp waits for, up to where the trace is.
// Needs pairs.glsl, recurrence.glsl, COLUMNS and ROWS.
uniform int next_strip;  // of block 0
uniform int first_block;
uniform int rows;      // of a strip
uniform int blocks;    // of the longest target
uniform int kept_row;  // from one row above a strip to the next in borders; 0 if only one is kept
#define ROW_MAJOR
#define STRIP_ROWS rows
#include "lib/noting.glsl"

// The first strip whose directions are kept, and the ends of the rows and columns to compute.
struct Part { int top, rows, columns; };

Part part_of(Pair pair, int p) {
    if (AGAIN == 0) return Part(0, pair.query_length, pair.target_length);
    Trace trace = traces[p];
    bool over = trace.gap == OVER;
    return Part(first_strip(trace), over ? 0 : trace.i, over ? 0 : trace.j);
}

#ifdef DIRECTIONS
uint words[COLUMNS];

void begin_words() {
    for (int c = 0; c < COLUMNS; ++c) words[c] = 0u;
}

void note_cell(int c, int i, Cell cell, int left, int above) {
    note(words[c], i % ROWS, cell, left_cell(left, 0), upper_cell(above, 0));
}

// After row i of the table, which is `row` of those whose directions are kept.
void keep_words(Pair pair, int row, int first, bool last) {
    if (row % ROWS != ROWS - 1 && !last) return;
    for (int c = 0; c < COLUMNS; ++c) {
        uint at = uint(row / ROWS * pair.target_length + first + c);
        keep(first + c < pair.target_length, pair.directions + at, words[c]);
    }
    begin_words();
}
#else
void begin_words() {}

void note_cell(int c, int i, Cell cell, int left, int above) {}

void keep_words(Pair pair, int row, int first, bool last) {}
#endif
