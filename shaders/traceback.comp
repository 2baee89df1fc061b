#version 430
// Traceback on the GPU, an invocation a pair (Aymone 2022, section IV; Lin et al. 2015, section 1.4):
// from the end cell along the direction bits; runs of equal moves come back, the last one first.
// In H its source is taken; a gap is closed rather than extended. A walk pauses above the block of
// strips whose directions are there, and goes on when those of the next block are.
layout(local_size_x = 32) in;
#include "lib/pairs.glsl"
#include "lib/recurrence.glsl"
#include "lib/best.glsl"
#include "lib/directions.glsl"
#include "lib/walk.glsl"

layout(std430, binding = 4) readonly buffer BestCells { ivec4 best_cells[]; };
layout(std430, binding = 7) writeonly buffer Paths { uint paths[]; };
uniform int pair_count;

Walk walk_from(Best best) {
    return best.score > 0 ? Walk(best.i + 1, best.d - best.i + 1, STOP, 0u) : Walk(0, 0, OVER, 0u);
}

void main() {
    uint p = gl_GlobalInvocationID.x;
    if (p >= uint(pair_count)) return;
    Pair pair = pair_at(p);
    if (RESTART == 1) {  // only put the walks at the best cells
        walks[p] = walk_from(best_from(best_cells[p]));
        return;
    }
    Walk walk = walks[p];
    int top = first_strip(walk) * WORKGROUP * ROWS;
    uint move = STOP, run = 0u;
    while (walk.gap != OVER && walk.i > top && walk.j > 0) {
        int row = walk.i - 1 - top, strip = row / (WORKGROUP * ROWS), lane = row / ROWS % WORKGROUP;
        uint word = direction_word(strip, pair.target_length, lane, walk.j - 1);
        uint bits = directions[pair.directions + word] >> (4 * (row % ROWS));
        uint next = walk.gap != STOP ? walk.gap : bits & SOURCE;
        if (next != move && run > 0u) {
            paths[pair.path + walk.runs++] = run << 2 | move;
            run = 0u;
        }
        move = next;
        bool closes = next == DIAGONAL || (bits & (next == UP ? F_CLOSES : E_CLOSES)) != 0u;
        walk.gap = next == STOP ? OVER : closes ? STOP : next;
        if (next == STOP) break;
        run += 1u;
        walk.i -= next == LEFT ? 0 : 1;
        walk.j -= next == UP ? 0 : 1;
    }
    if (run > 0u) paths[pair.path + walk.runs++] = run << 2 | move;
    walks[p] = walk;
}
