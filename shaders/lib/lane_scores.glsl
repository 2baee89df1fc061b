// The best scores of the lanes: for each query, those of the targets of a slot side by side.
// Needs number.glsl and columns.glsl.
layout(std430, binding = SCORES_BINDING) buffer BestScores { int best_scores[]; };

// Where result k of a lane is, which is of the query of this row, or of its second target.
int place_of_score(int slot, int row, int k) {
    return (row * slots.length() + slot) * TARGETS + (TARGETS == 1 ? 0 : k);
}
