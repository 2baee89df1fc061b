#version 430
// Schedule: as scan_blocks.comp, but many rows per dispatch, and rows in registers (future work of
// Lin et al. 2015 and of Scan 2014). A work group computes `rows` rows of WORKGROUP * COLUMNS
// columns, one strip behind its left neighbour, whose H and E come from the dispatch before.
#define TOGETHER WORKGROUP
#include "lib/neighbours.glsl"
layout(local_size_x = WORKGROUP) in;
#include "lib/pairs.glsl"
#include "lib/scoring.glsl"
#include "lib/recurrence.glsl"
#include "lib/from_left.glsl"
#include "lib/best.glsl"
#include "lib/candidates.glsl"

uniform int next_strip;  // of block 0
uniform int first_block;
uniform int rows;      // of a strip
uniform int blocks;    // of the longest target
uniform int kept_row;  // from one row above a strip to the next in borders; 0 if only one is kept
#define ROW_MAJOR
#define STRIP_ROWS rows
#include "lib/traces.glsl"

// Borders of the blocks: of each pair H and F above the next strip, an ivec2 per column and one per
// invocation for the corner; then, from `column_left` on, H and E right of the block that was last
// in a row, which the next block takes.
layout(std430, binding = ROWS_BINDING) buffer Borders { ivec2 borders[]; };
uniform int stride;  // of a pair in borders
uniform int column_left;

// The row above the columns from `first` on, and their letters; returns H above and left of them.
int load_row_above(Pair pair, int place, int first, bool table_begins, out int h[COLUMNS],
                   out int f[COLUMNS], out int letters[COLUMNS]) {
    for (int c = 0; c < COLUMNS; ++c) {
        ivec2 hf = ivec2(border_cell().h, border_cell().f);
        if (!table_begins) hf = borders[place + c * WORKGROUP];
        h[c] = hf.x;
        f[c] = hf.y;
        letters[c] = target_letter(pair, min(first + c, pair.target_length - 1));
    }
    return table_begins ? border_cell().h : borders[place + COLUMNS * WORKGROUP].x;
}

// Which part of its table a work group computes. With AGAIN it is of the strips whose directions
// traceback.comp waits for, up to where the trace is: the first strip whose directions are kept,
// and the ends of the rows and columns to compute.
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

void main() {
    if (proving == 1) {
        candidate_cells[lane()].x = in_order();
        return;
    }
    int p = int(gl_WorkGroupID.y), block = first_block + int(gl_WorkGroupID.x), t = lane();
    Pair pair = pair_at(uint(p));
    Part part = part_of(pair, p);
    int strip = part.top + next_strip - block, first_row = strip * rows;
    int end = min(first_row + rows, part.rows);
    int first = (block * WORKGROUP + t) * COLUMNS, inside = pair.target_length - first;
    bool idle = next_strip < block || first_row >= end || first - t * COLUMNS >= part.columns;
    if (idle) return;
    load_scores();

    int above = p * stride + block * (COLUMNS + 1) * WORKGROUP + t + strip * kept_row;
    int beside = p * stride + column_left;
    int h[COLUMNS], f[COLUMNS], letters[COLUMNS];
    int corner = load_row_above(pair, above - kept_row, first, first_row == 0, h, f, letters);
    ivec2 border = ivec2(border_cell().h, border_cell().e);
    ivec2 next_left = block == 0 ? border : borders[beside + first_row];
    int next_letter = query_letter(pair, first_row);
    Best best = NOTHING;
    begin_words();
    for (int i = first_row; i < end; ++i) {
        ivec2 left = next_left;
        int letter = profiled(next_letter), ahead = min(i + 1, end - 1);
        at_row(row_costs(letter).xy);
        if (block > 0) next_left = borders[beside + ahead];
        next_letter = query_letter(pair, ahead);
        // F and H' of the columns, and E behind them when no gap enters.
        Cell diagonal = upper_cell(corner, 0);
        int e = border_cell().e, most = 0, at = 0, over[COLUMNS];
        Cell cells[COLUMNS];
        for (int c = 0; c < COLUMNS; ++c) {
            Cell up = upper_cell(h[c], f[c]);
            Cell here = begin(diagonal, up, score(letter, letters[c]));
            diagonal = up;
            if (c < inside && here.m >= most) {
                most = here.m;
                at = c;
            }
            e = extend_gap(finish(here, e).h, e);
            cells[c] = here;
            over[c] = h[c];
            h[c] = here.h;
            f[c] = here.f;
        }
        best = better(best, most, i, first + at);
        left = from_left(ivec2(h[COLUMNS - 1], e), left);
        corner = left.x;
        e = left.y;
        for (int c = 0; c < COLUMNS; ++c) {
            h[c] = finish(upper_cell(h[c], 0), e).h;
            note_cell(c, i, finish(cells[c], e), left.x, over[c]);
            e = extend_gap(h[c], e);
            left.x = h[c];
        }
        keep_words(pair, i - part.top * rows, first, i + 1 == end);
        if (t == WORKGROUP - 1) borders[beside + i] = ivec2(h[COLUMNS - 1], e);
    }
    for (int c = 0; c < COLUMNS; ++c) borders[above + c * WORKGROUP] = ivec2(h[c], f[c]);
    borders[above + COLUMNS * WORKGROUP].x = corner;
    if (AGAIN == 1) return;
    best = best_of_group(best);
    if (t == 0) offer(p * blocks + block, best);
}
