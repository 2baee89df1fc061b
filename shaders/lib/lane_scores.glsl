// The best scores of the lanes: for each query, those of the targets of a slot side by side. With
// TWO_QUERIES a lane has two rows of them.
// Needs Number (number.glsl) and columns.glsl.
layout(std430, binding = SCORES_BINDING) buffer BestScores { int best_scores[]; };

// Where result k of a lane is, which is of the query of this row, or of its second target.
int place_of_score(int slot, int row, int k) {
    return (row * slots.length() + slot) * TARGETS + (TARGETS == 1 ? 0 : k);
}

// Of one query or two, whose rows follow those of the work groups before along y. `again`: strips
// before have left scores that count too.
void store_scores(int slot, Number best, bool again) {
    int row = int(gl_WorkGroupID.y) * (RESULTS / TARGETS);
    for (int k = 0; k < RESULTS; ++k) {
        int place = place_of_score(slot, row + (TARGETS == 1 ? k : 0), k);
        best_scores[place] = max(value(best, k), again ? best_scores[place] : 0);
    }
}
