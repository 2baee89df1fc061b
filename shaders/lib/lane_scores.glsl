// The best scores of the lanes, of a slot the RESULTS side by side. Needs Number (number.glsl).
layout(std430, binding = SCORES_BINDING) buffer BestScores { int best_scores[]; };

// `again`: strips before have left scores that count too.
void store_scores(int slot, Number best, bool again) {
    for (int k = 0; k < RESULTS; ++k) {
        int place = slot * RESULTS + k;
        best_scores[place] = max(value(best, k), again ? best_scores[place] : 0);
    }
}
