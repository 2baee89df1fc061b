// The best cell of the steps of a lane. With ENDS, a step that may have it is put aside, and looked
// through only if the next such step has no higher score: on the path of a long alignment nearly
// every step has the best score so far.
// Needs best.glsl, lane.glsl, ROWS and STEP.
struct Step {
    int score, j, ended[STEP * ROWS];  // the highest, and all: column by column from j on
};

// Cells below the last row, or from column `end` on, do not count. Of equal ones the later is best.
Best best_of_cells(Best best, Step one, Lane lane, int end) {
    int score = 0, place = 0;
    for (int d = 0; d < ROWS + STEP - 1; ++d)
        for (int c = 0; c < STEP; ++c) {
            int r = d - c, each = c * ROWS + r;
            if (r < 0 || r >= ROWS) continue;
            if (r < lane.rows && one.j + c < end && one.ended[each] >= score) {
                score = one.ended[each];
                place = each;
            }
        }
    return better(best, score, lane.row + place % ROWS, one.j + place / ROWS);
}

// Takes a step with a score to be looked at, and returns a score that is the best so far.
int take_step(inout Best best, inout Step aside, Step here, Lane lane, int end) {
    bool whole = lane.rows >= ROWS && here.j + STEP <= end;
#ifdef ENDS
    bool done = aside.score > 0 && (!whole || here.score <= aside.score);
    if (done) best = best_of_cells(best, aside, lane, end);
    aside = here;
    return whole ? here.score : best.score;
#else
    if (whole) best.score = max(best.score, here.score);
    else best = best_of_cells(best, here, lane, end);
    return best.score;
#endif
}
