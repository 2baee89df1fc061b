// Candidates for the best cell of a pair: the best one of each row, column or block of its table.
#include "lib/best.glsl"

layout(std430, binding = CANDIDATES_BINDING) buffer CandidateCells { ivec4 candidate_cells[]; };

void offer(int place, Best best) {
    candidate_cells[place] = stored(better(best_from(candidate_cells[place]), best));
}

void offer(int place, int score, int i, int j) {
    Best best = best_from(candidate_cells[place]);
    if (score >= best.score) candidate_cells[place] = stored(better(best, score, i, j));
}
