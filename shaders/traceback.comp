#version 430
// Traceback on the GPU, one invocation per pair (Aymone 2022, section IV; Lin et al. 2015, section
// 1.4, figure 2): from the end cell along the direction bits; runs of equal moves come back, the
// last one first. A trace waits above the block of strips whose directions are there, until those
// of the next block are. TURN: PLACE puts the traces at the best cells, BEGIN is the first dispatch
// with the directions of a block, CONTINUE one that goes on where a loop ended before the block
// did.
layout(local_size_x = 32) in;
#include "lib/pair.glsl"
#include "lib/best.glsl"
#include "lib/traces.glsl"

layout(std430, binding = BEST_BINDING) readonly buffer BestCells { ivec4 best_cells[]; };
layout(std430, binding = PATHS_BINDING) writeonly buffer Paths { uint paths[]; };
uniform int pair_count;
const int PLACE = 0, BEGIN = 1, CONTINUE = 2;

Trace trace_from(Best best) {
    if (best.score <= 0) return Trace(0, 0, OVER, 0u);
    return Trace(best.i + 1, best.d - best.i + 1, STOP, 0u);
}

void main() {
    uint p = gl_GlobalInvocationID.x;
    if (p >= uint(pair_count)) return;
    Pair pair = pair_at(p);
    if (TURN == PLACE) traces[p] = trace_from(best_from(best_cells[p]));
    Trace trace = traces[p];
    if (TURN == PLACE || (TURN == CONTINUE && trace.gap >= WAITS)) return;
    trace.gap &= WAITS - 1u;
    trace.i = min(trace.i, pair.query_length);  // so that the loop ends, whatever is in the buffers
    trace.j = min(trace.j, pair.target_length);
    int top = first_strip(trace) * WORKGROUP * ROWS;
    uint move = STOP, run = 0u;
    while (trace.gap != OVER && trace.i > top && trace.j > 0) {
        int row = trace.i - 1 - top;
        int strip = row / (WORKGROUP * ROWS), lane = row / ROWS % WORKGROUP;
        uint word = direction_word(strip, pair.target_length, lane, trace.j - 1);
        uint bits = directions[pair.directions + word] >> (4 * (row % ROWS));
        uint next = step_back(trace, bits);
        if (next != move && run > 0u) {
            paths[pair.path + trace.runs++] = run << 2 | move;
            run = 0u;
        }
        move = next;
        if (move != STOP) run += 1u;
    }
    if (run > 0u) paths[pair.path + trace.runs++] = run << 2 | move;
    if (trace.gap != OVER && trace.i <= top) trace.gap |= WAITS;
    traces[p] = trace;
}
