// The best scores of the lanes: those of the targets of a slot side by side, those of queries one
// after the other, of lanes and then of work groups along y.
// Needs Number (number.glsl) and columns.glsl.
layout(std430, binding = SCORES_BINDING) buffer BestScores { int best_scores[]; };

// `again`: strips before have left scores that count too.
void store_scores(int slot, Number best, bool again) {
    int group = int(gl_WorkGroupID.y) * slots.length() * RESULTS;
    for (int k = 0; k < RESULTS; ++k) {
        int place = group + (TARGETS == 1 ? slot + k * slots.length() : slot * RESULTS + k);
        best_scores[place] = max(value(best, k), again ? best_scores[place] : 0);
    }
}
