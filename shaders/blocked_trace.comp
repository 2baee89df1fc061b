#version 430
// Traceback through regions that blocked.comp has computed at once, until the path leaves them: as
// traceback.comp, but a work group has the path. All its invocations bring the directions of a
// window that ends where the path is into shared memory, so that the one that walks does not wait
// for memory at each step.
layout(local_size_x = TRACERS) in;
#include "lib/pair.glsl"
#include "lib/traces.glsl"
#include "lib/band.glsl"

layout(std430, binding = PATHS_BINDING) writeonly buffer Paths { uint paths[]; };
uniform int region_words, first_region;  // of several regions that are not of one table
uniform int windows;  // of this dispatch, at most

const int HIGH = 8, WIDE = 64;  // words and columns of a window
shared uint window[HIGH * WIDE];
shared Trace shared_trace;
uint move = STOP, run = 0u;  // of equal moves that are not stored yet

void store_run(inout Trace trace) {
    if (run > 0u) paths[trace.runs++] = run << 2 | move;
    run = 0u;
}

// Walk until the path leaves the window, whose first cell is (top, left) of the region at (i, j).
void walk(inout Trace trace, int i, int j, int top, int left) {
    while (trace.gap != OVER && trace.i > i + top && trace.j > j + left) {
        int row = trace.i - 1 - i - top, column = trace.j - 1 - j - left;
        uint bits = window[column * HIGH + row / ROWS] >> (4 * (row % ROWS));
        uint next = step_back(trace, bits);
        if (next != move) store_run(trace);
        move = next;
        if (move != STOP) run += 1u;
    }
}

void main() {
    int t = int(gl_LocalInvocationIndex);
    Trace trace = traces[0];
    trace.gap &= WAITS - 1u;  // as each other value would never end
    for (int k = 0; k < windows; ++k) {
        if (t == 0) shared_trace = trace;
        barrier();
        trace = shared_trace;
        if (trace.gap == OVER || min(trace.i, trace.j) <= 0) break;
        ivec2 cell = ivec2(trace.i, trace.j) - 1, place = cell / region_size;
        int region = region_at(place);
        if (region < 0) break;
        region += first_region;
        ivec2 first = place * region_size, last = cell - first;
        uint words = uint(region) * uint(region_words);
        int columns = pair_at(uint(region)).target_length, lane = last.x / ROWS;
        int top = max(lane - HIGH + 1, 0), left = max(last.y - WIDE + 1, 0);
        for (int w = t; w < HIGH * WIDE; w += TRACERS) {
            int l = top + w % HIGH, j = left + w / HIGH;
            if (l > lane || j > last.y) continue;
            uint word = direction_word(l / WORKGROUP, columns, l % WORKGROUP, j);
            window[w] = directions[words + word];
        }
        barrier();
        if (t == 0) walk(trace, first.x, first.y, top * ROWS, left);
    }
    if (t > 0) return;
    store_run(trace);
    traces[0] = trace;
}
