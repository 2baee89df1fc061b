// What leaning tiles leave for others: the row above each strip, the lanes of the strip, and the best
// cells. Needs leaning_sweep.glsl and best.glsl.
layout(std430, binding = ROW_ABOVE_BINDING) buffer RowAbove {
    ivec2 row_above[];  // H above strip I, and F of its first row, column j
};
layout(std430, binding = BEST_BINDING) buffer BestCells {
    ivec4 best_cells[];  // of strip I; then the score to beat
};
layout(std430, binding = COLUMN_LEFT_BINDING) buffer Lanes { ivec2 lanes[]; };

ivec2 above_strip(int j) { return row_above[j]; }

void below_strip(int j, int end, ivec2 hf[STEP]) {
    for (int c = 0; c < STEP; ++c)
        if (j + c < end) row_above[j + c] = hf[c];
}

int place_of_lane(int strip) {
    return (strip * WORKGROUP + int(gl_LocalInvocationIndex)) * (ROWS + STEP + 1);
}

void load_lane(inout Lane lane, int strip) {
    int place = place_of_lane(strip);
    for (int r = 0; r < ROWS; ++r) {
        lane.h[r] = lanes[place + r].x;
        lane.e[r] = lanes[place + r].y;
    }
    for (int c = 0; c < STEP; ++c) lane.below[c] = lanes[place + ROWS + c];
    lane.corner = lanes[place + ROWS + STEP].x;
}

void store_lane(Lane lane, int strip) {
    int place = place_of_lane(strip);
    for (int r = 0; r < ROWS; ++r) lanes[place + r] = ivec2(lane.h[r], lane.e[r]);
    for (int c = 0; c < STEP; ++c) lanes[place + ROWS + c] = lane.below[c];
    lanes[place + ROWS + STEP].x = lane.corner;
}

// The highest H from which a path comes into the tile of steps begin ... stop - 1.
int highest_around(Lane lane, int begin, int stop, int end) {
    int highest = lane.corner;
    for (int r = 0; r < ROWS; ++r) highest = max(highest, lane.h[r]);
    for (int c = 0; c < STEP; ++c) highest = max(highest, lane.below[c].x);
    int j = begin * STEP + int(gl_LocalInvocationIndex);
    for (; j < min(stop * STEP, end); j += WORKGROUP)
        highest = max(highest, above_strip(j).x);
    return highest;
}

// Leave a tile as if all its cells were 0, the lowest that H can be.
void leave_out(inout Lane lane, int begin, int stop, int end) {
    lane.corner = 0;
    for (int r = 0; r < ROWS; ++r) lane.h[r] = lane.e[r] = 0;
    for (int c = 0; c < STEP; ++c) lane.below[c] = ivec2(0);
    int j = max(begin - WORKGROUP + 1, 0) * STEP + int(gl_LocalInvocationIndex);
    for (; j < min((stop - WORKGROUP + 1) * STEP, end); j += WORKGROUP) row_above[j] = ivec2(0);
}
