// A strip of WORKGROUP x ROWS rows moves over columns, an anti-diagonal of invocations a step
// (Aymone 2022, section IV): invocation t has ROWS rows, and at step k column first + k - t. Of the
// three rolling anti-diagonals it keeps its own part of k - 1 (h, e) and what it has seen of k - 2
// (corner) in registers, and reads the last row of the invocation above in shared memory.
// What includes this defines where the row above the strip comes from and where its last row goes,
// H and F of column j, and the place of the direction word of column j:
ivec2 above_strip(int j);
void below_strip(int j, ivec2 hf);
uint direction_place(int j);

#include "lib/mask.glsl"

struct Lane { int row, rows, h[ROWS], e[ROWS], letters[ROWS], corner; };  // rows: of the table

// H and F above: in column order above the strip, then on two diagonals below each invocation.
shared ivec2 above[4 * WORKGROUP];
shared int letter_window[2 * WORKGROUP];
shared int to_beat;  // what the work group has found so far, at least 1

const int RING = 2 * WORKGROUP;

int below_place(int k, int t) { return RING + (k & 1) * WORKGROUP + t; }

Lane lane_at_border(Pair pair, int row) {
    Lane lane;
    lane.row = row;
    lane.rows = pair.query_length - row;
    lane.corner = border_cell().h;
    for (int r = 0; r < ROWS; ++r) {
        lane.h[r] = border_cell().h;
        lane.e[r] = border_cell().e;
        lane.letters[r] = profiled(query_letter(pair, row + r));
    }
    return lane;
}

void sweep(Pair pair, int first, int end, inout Lane lane, inout Best best) {
    int t = int(gl_LocalInvocationIndex);
    if (t == 0) to_beat = max(best.score, 1);
    // The windows hold columns first + k - WORKGROUP ... first + k + WORKGROUP - 1 in a ring; the
    // next part is loaded WORKGROUP steps before it is needed.
    ivec2 next_top = above_strip(min(first + t, end - 1));
    uint next_word = target_word(pair, first + t);
    Forbidden next_forbidden = forbidden_from(pair, lane.row, first);
    barrier();
    for (int k = 0; k < end - first + WORKGROUP - 1; ++k) {
        if ((k & (WORKGROUP - 1)) == 0) {
            int slot = (k + t) & (RING - 1), column = first + k + t;
            above[slot] = next_top;
            letter_window[slot] = letter_in(next_word, pair, column);
            next_top = above_strip(min(column + WORKGROUP, end - 1));
            next_word = target_word(pair, column + WORKGROUP);
        }
        if (uint(k - t) < uint(end - first)) {
            int j = first + k - t, letter = letter_window[(k - t) & (RING - 1)];
            ivec2 top = above[t == 0 ? k & (RING - 1) : below_place(k - 1, t - 1)];
            Cell up = upper_cell(top.x, top.y), diagonal = upper_cell(lane.corner, 0);
            lane.corner = top.x;
            uint word = 0u;
            int aligned[ROWS], highest = to_beat - 1;
            for (int r = 0; r < ROWS; ++r) {
                Cell left = left_cell(lane.h[r], lane.e[r]);
                int s = unless_forbidden(next_forbidden, r, j, score(lane.letters[r], letter));
                Cell here = cell(diagonal, left, up, s);
                aligned[r] = here.m;
                highest = max(highest, here.m);
                note(word, r, here, left, up);
                lane.h[r] = here.h;
                lane.e[r] = here.e;
                diagonal = left;
                up = here;
            }
            above[below_place(k, t)] = ivec2(up.h, up.f);
            if (t == WORKGROUP - 1) below_strip(j, ivec2(up.h, up.f));
            keep(direction_place(j), word);
            if (highest >= to_beat) {  // seldom, after the first columns
                for (int r = 0; r < ROWS; ++r)
                    if (r < lane.rows) best = better(best, aligned[r], lane.row + r, j);
                atomicMax(to_beat, best.score);
            }
        }
        barrier();
    }
}
