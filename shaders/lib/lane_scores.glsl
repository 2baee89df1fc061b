// The best scores of the lanes, of a slot the RESULTS side by side; those of the queries of work
// groups along y follow one another. Needs Number (number.glsl) and columns.glsl.
layout(std430, binding = SCORES_BINDING) buffer BestScores { int best_scores[]; };

// `again`: strips before have left scores that count too.
void store_scores(int slot, Number best, bool again) {
    int first = (slot + int(gl_WorkGroupID.y) * slots.length()) * RESULTS;
    for (int place = first, k = 0; k < RESULTS; ++k, ++place) {
        best_scores[place] = max(value(best, k), again ? best_scores[place] : 0);
    }
}
