// Sides in shared memory: those that come from tiles before, of two batches of steps, and those that
// lanes leave, of this step and the one before; of the last lanes they leave the tile. A row has the
// sides that a lane hands to the next one, of all lanes side by side; along j also that of the
// neighbouring cell. Needs tile3.glsl, BATCH and PER_WORD (cube.glsl).
const int J_WORDS = (ACROSS + PER_WORD - 1) / PER_WORD, K_WORDS = (SIDE + PER_WORD - 1) / PER_WORD;
const int J_ROW = J_WORDS * LANES_K, K_ROW = K_WORDS * LANES_J;
const int J_STEP = DEEP * J_ROW, K_STEP = DEEP * K_ROW;
const int K_LANE = K_ROW + 32 / LANES_K;  // lanes use other banks of memory
const int K_COMING = COMING * J_STEP, J_BETWEEN = K_COMING + COMING * K_STEP;
const int K_BETWEEN = J_BETWEEN + 2 * LANES_J * J_STEP;
shared Side lane_sides[K_BETWEEN + 2 * DEEP * LANES_K * K_LANE];
shared int tile_letters[LETTERS_AT_ONCE];  // of rows that the lanes are in, and some more

int coming(int now, int x) { return (POLLING == 1 ? now & (COMING - 1) : now) * DEEP + x; }

int j_between(int J, int now, int x) {
    return J_BETWEEN + (((now & 1) * DEEP + x) * LANES_J + J) * J_ROW;
}

int k_between(int K, int now, int x) {
    return K_BETWEEN + (((now & 1) * DEEP + x) * LANES_K + K) * K_LANE;
}

// Where a lane leaves its sides: those that leave a tile, without POLLING, where others came from.
int j_leaving(int J, int now, int x) {
    bool last = POLLING == 0 && J == LANES_J - 1;
    return last ? coming(now - J, x) * J_ROW : j_between(J, now, x);
}

int k_leaving(int K, int now, int x) {
    bool last = POLLING == 0 && K == LANES_K - 1;
    return last ? K_COMING + coming(now - K, x) * K_ROW : k_between(K, now, x);
}

int letter_of_row(int row) { return tile_letters[row & (LETTERS_AT_ONCE - 1)]; }

void load_borders(inout Cell here[HELD], int now, int J, int K, int x) {
    int j = K + (J == 0 ? coming(now, x) * J_ROW : j_between(J - 1, now - 1, x));
    int k = J + (K == 0 ? K_COMING + coming(now, x) * K_ROW : k_between(K - 1, now - 1, x));
    Side j_words[J_WORDS], k_words[K_WORDS];
    for (int w = 0; w < J_WORDS; ++w) j_words[w] = lane_sides[j + w * LANES_K];
    for (int w = 0; w < K_WORDS; ++w) k_words[w] = lane_sides[k + w * LANES_J];
    for (int z = 0; z < ACROSS; ++z) here[z] = from_j(part(j_words[z / PER_WORD], z % PER_WORD));
    for (int y = 0; y < SIDE; ++y)
        here[(y + 1) * ACROSS] = from_k(part(k_words[y / PER_WORD], y % PER_WORD));
}

void store_borders(Cell here[HELD], int now, int J, int K, int x) {
    int j = j_leaving(J, now, x) + K, k = k_leaving(K, now, x) + J;
    for (int w = 0; w < J_WORDS; ++w) {
        int z = w * PER_WORD, next = min(z + 1, ACROSS - 1);
        Cell first = here[SIDE * ACROSS + z];
        lane_sides[j + w * LANES_K] = joined(j_side(for_side(first, true, z > 0)),
                                             j_side(here[SIDE * ACROSS + next]));
    }
    for (int w = 0; w < K_WORDS; ++w) {
        int y = w * PER_WORD, next = min(y + 1, SIDE - 1);
        lane_sides[k + w * LANES_J] =
            joined(k_side(here[(y + 1) * ACROSS + SIDE]), k_side(here[(next + 1) * ACROSS + SIDE]));
    }
}

// Nothing that may be left for other tiles is EMPTY.
void fill_sides() {
    for (int x = int(gl_LocalInvocationIndex); x < lane_sides.length(); x += WORKGROUP)
        lane_sides[x] = j_side(border_cell());
}
