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

struct Lane { int row, h[ROWS], e[ROWS], letters[ROWS], corner; };

shared ivec2 last_row[2][WORKGROUP];
shared ivec2 top_window[2 * WORKGROUP];
shared int letter_window[2 * WORKGROUP];

Lane lane_at_border(Pair pair, int row) {
    Lane lane;
    lane.row = row;
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
    // The windows hold columns first + k - WORKGROUP ... first + k + WORKGROUP - 1 in a ring; the
    // next part is loaded WORKGROUP steps before it is needed.
    ivec2 next_top = above_strip(min(first + t, end - 1));
    int next_letter = target_letter(pair, first + t);
    Forbidden next_forbidden = forbidden_from(pair, lane.row, first);
    for (int k = 0; k < end - first + WORKGROUP - 1; ++k) {
        if ((k & (WORKGROUP - 1)) == 0) {
            int slot = (k + t) & (2 * WORKGROUP - 1), ahead = first + k + WORKGROUP + t;
            top_window[slot] = next_top;
            letter_window[slot] = next_letter;
            next_top = above_strip(min(ahead, end - 1));
            next_letter = target_letter(pair, ahead);
        }
        int j = first + k - t;
        if (j >= first && j < end) {
            ivec2 top = t == 0 ? top_window[k & (2 * WORKGROUP - 1)] : last_row[(k + 1) & 1][t - 1];
            int letter = letter_window[(k - t) & (2 * WORKGROUP - 1)];
            Cell up = upper_cell(top.x, top.y), diagonal = upper_cell(lane.corner, 0);
            lane.corner = top.x;
            uint word = 0u;
            int aligned[ROWS], highest = 0;
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
            if (highest > 0 && highest >= best.score)  // seldom, after the first columns
                for (int r = 0; r < ROWS; ++r)
                    if (lane.row + r < pair.query_length)
                        best = better(best, aligned[r], lane.row + r, j);
            last_row[k & 1][t] = ivec2(up.h, up.f);
            if (t == WORKGROUP - 1) below_strip(j, ivec2(up.h, up.f));
            keep(direction_place(j), word);
        }
        barrier();
    }
}
