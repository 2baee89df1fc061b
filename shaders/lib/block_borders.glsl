// Borders of the blocks of scan.comp: of each pair H and F above the next strip, an ivec2 per
// column and one per invocation for the corner; then, from `column_left` on, H and E right of the
// block that was last in a row, which the next block takes. Needs pairs.glsl and recurrence.glsl.
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
