// A strip of WORKGROUP x ROWS rows moves over columns, an anti-diagonal of invocations a step
// (Aymone 2022, section IV): invocation t has ROWS rows, and at step k column first + k - t. Of the
// three rolling anti-diagonals it keeps its own part of k - 1 (h, e) and what it has seen of k - 2
// (corner) in registers, and reads the last row of the invocation above in shared memory.
// What includes this defines where the row above the strip comes from and where its last row goes,
// H and F of column j, and the place of the direction word of column j:
ivec2 above_strip(int j);
void below_strip(int j, ivec2 hf);
uint direction_place(int j);

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
        lane.letters[r] = query_letter(pair, row + r);
    }
    return lane;
}

void sweep(Pair pair, int first, int end, inout Lane lane, inout Best best) {
    int t = int(gl_LocalInvocationIndex);
    // The windows hold columns first + k - WORKGROUP ... first + k + WORKGROUP - 1 in a ring; the
    // next part is loaded WORKGROUP steps before it is needed.
    ivec2 next_top = above_strip(min(first + t, end - 1));
    int next_letter = target_letter(pair, first + t);
    for (int k = 0; k < end - first + WORKGROUP - 1; ++k) {
        if (k % WORKGROUP == 0) {
            int slot = (k + t) % (2 * WORKGROUP), ahead = first + k + WORKGROUP + t;
            top_window[slot] = next_top;
            letter_window[slot] = next_letter;
            next_top = above_strip(min(ahead, end - 1));
            next_letter = target_letter(pair, ahead);
        }
        int j = first + k - t;
        if (j >= first && j < end) {
            ivec2 top = t == 0 ? top_window[k % (2 * WORKGROUP)] : last_row[(k + 1) & 1][t - 1];
            int letter = letter_window[(k - t) % (2 * WORKGROUP)];
            Cell up = Cell(top.x, 0, top.y, 0), diagonal = Cell(lane.corner, 0, 0, 0);
            lane.corner = top.x;
            uint word = 0u;
            for (int r = 0; r < ROWS; ++r) {
                Cell left = Cell(lane.h[r], lane.e[r], 0, 0);
                Cell here = cell(diagonal, left, up, score(lane.letters[r], letter));
                best = better(best, here.m, lane.row + r, j);
                note(word, r, here, left, up);
                lane.h[r] = here.h;
                lane.e[r] = here.e;
                diagonal = left;
                up = here;
            }
            last_row[k & 1][t] = ivec2(up.h, up.f);
            if (t == WORKGROUP - 1) below_strip(j, ivec2(up.h, up.f));
            keep(direction_place(j), word);
        }
        barrier();
    }
}
