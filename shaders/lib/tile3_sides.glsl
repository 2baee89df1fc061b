// Sides in shared memory: those that enter the tile across j and k, which the last lanes replace by
// those that leave it; and those between lanes, of this step and the one before. A row has the
// sides that a lane hands to the next one, of all lanes side by side; along j also that of the
// neighbouring cell. Needs tile3.glsl and PER_WORD (sides3.glsl).
const int J_WORDS = (ACROSS + PER_WORD - 1) / PER_WORD, K_WORDS = (SIDE + PER_WORD - 1) / PER_WORD;
const int J_ROW = J_WORDS * LANES_K, K_ROW = K_WORDS * LANES_J;
const int J_BETWEEN = ROWS * J_ROW, K_OUTER = J_BETWEEN + 2 * DEEP * (LANES_J - 1) * J_ROW;
const int K_LANE = K_ROW + 32 / LANES_K;  // lanes use other banks of memory
const int K_BETWEEN = K_OUTER + ROWS * K_ROW;
shared Side tile_sides[K_BETWEEN + 2 * DEEP * (LANES_K - 1) * K_LANE];

const int AT_ONCE = 8;  // on their way from memory

void load_side(uint from, int to, int count, Side border, bool none) {
    for (int start = int(gl_LocalInvocationIndex); start < count; start += AT_ONCE * WORKGROUP) {
        Side coming[AT_ONCE];
        for (int x = 0; x < AT_ONCE; ++x) {
            coming[x] = border;
            int at = start + x * WORKGROUP;
            if (!none && at < count) coming[x] = sides[from + uint(at)];
        }
        for (int x = 0; x < AT_ONCE; ++x)
            if (start + x * WORKGROUP < count) tile_sides[to + start + x * WORKGROUP] = coming[x];
    }
}

void store_side(uint to, int from, int count) {
    for (int x = int(gl_LocalInvocationIndex); x < count; x += WORKGROUP)
        sides[to + uint(x)] = tile_sides[from + x];
}

uint j_first() { return triple.j_sides + uint((tile.z * rows() + first_row()) * J_ROW); }

uint k_first() { return triple.k_sides + uint((tile.y * rows() + first_row()) * K_ROW); }

void load_sides() {
    load_side(j_first(), 0, ROWS * J_ROW, j_side(border_cell()), tile.y == 0);
    load_side(k_first(), K_OUTER, ROWS * K_ROW, k_side(border_cell()), tile.z == 0);
}

void store_sides() {
    store_side(j_first(), 0, ROWS * J_ROW);
    store_side(k_first(), K_OUTER, ROWS * K_ROW);
}

// Where the lane (J, K) leaves a row in step `now`, and where the lane after it finds it.
int j_row(int J, int K, int row, int now, bool outer) {
    int between = J_BETWEEN + (((now & 1) * DEEP + row % DEEP) * (LANES_J - 1) + J) * J_ROW;
    return (outer ? row * J_ROW : between) + K;
}

int k_row(int J, int K, int row, int now, bool outer) {
    int between = K_BETWEEN + (((now & 1) * DEEP + row % DEEP) * (LANES_K - 1) + K) * K_LANE;
    return (outer ? K_OUTER + row * K_ROW : between) + J;
}

void load_borders(inout Cell here[ACROSS * ACROSS], int now, int J, int K, int row) {
    int j = j_row(J - 1, K, row, now - 1, J == 0), k = k_row(J, K - 1, row, now - 1, K == 0);
    Side j_words[J_WORDS], k_words[K_WORDS];
    for (int w = 0; w < J_WORDS; ++w) j_words[w] = tile_sides[j + w * LANES_K];
    for (int w = 0; w < K_WORDS; ++w) k_words[w] = tile_sides[k + w * LANES_J];
    for (int z = 0; z < ACROSS; ++z) here[z] = from_j(part(j_words[z / PER_WORD], z % PER_WORD));
    for (int y = 0; y < SIDE; ++y)
        here[(y + 1) * ACROSS] = from_k(part(k_words[y / PER_WORD], y % PER_WORD));
}

void store_borders(Cell here[ACROSS * ACROSS], int now, int J, int K, int row) {
    int j = j_row(J, K, row, now, J == LANES_J - 1), k = k_row(J, K, row, now, K == LANES_K - 1);
    for (int w = 0; w < J_WORDS; ++w) {
        int z = w * PER_WORD, next = min(z + 1, ACROSS - 1);
        tile_sides[j + w * LANES_K] =
            joined(j_side(here[SIDE * ACROSS + z]), j_side(here[SIDE * ACROSS + next]));
    }
    for (int w = 0; w < K_WORDS; ++w) {
        int y = w * PER_WORD, next = min(y + 1, SIDE - 1);
        tile_sides[k + w * LANES_J] =
            joined(k_side(here[(y + 1) * ACROSS + SIDE]), k_side(here[(next + 1) * ACROSS + SIDE]));
    }
}
