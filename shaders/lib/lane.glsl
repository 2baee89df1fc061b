// The state of an invocation in a sweep: ROWS rows of the query, and of the table the last column
// that it has computed of them, what is above and left of the next one, and its last row.
// Needs pairs.glsl, scoring.glsl, recurrence.glsl, span.glsl, ROWS and STEP.
struct Lane {
    int row, rows, letters[ROWS];  // rows of the table from row on
#ifdef POSITIONAL_GAPS
    ivec2 costs[ROWS];
#endif
    int h[ROWS], e[ROWS], corner;
    ivec2 below[STEP];  // H and F of the last row in the last step
};

Lane lane_at_border(Pair pair, int row) {
    Lane lane;
    lane.row = row;
    lane.rows = pair.query_length - row;
    lane.corner = left_of(pair, row - 1);
    for (int c = 0; c < STEP; ++c) lane.below[c] = ivec2(border_cell().h, border_cell().f);
    for (int r = 0; r < ROWS; ++r) {
        lane.h[r] = left_of(pair, row + r);
        lane.e[r] = border_cell().e;
        lane.letters[r] = profiled(query_letter(pair, row + r));
#ifdef POSITIONAL_GAPS
        lane.costs[r] = row_costs(lane.letters[r]);
#endif
    }
    return lane;
}
