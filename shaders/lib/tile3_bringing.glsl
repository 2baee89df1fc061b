// Some invocations, HELPERS, bring the sides that the first lanes of a tile need in the next steps,
// a batch at once, and the letters of these rows. They ask for a batch AHEAD steps before its first
// one, and then until it is there. Without POLLING see tile3_whole.glsl. Needs tile3_places.glsl.
shared bool in_vain;
#if POLLING == 1
const int J_BATCH = BATCH * J_STEP, K_BATCH = BATCH * K_STEP, ROW_BATCH = BATCH * DEEP;
const int POLLS = 1 << 22;  // after some seconds something is wrong
Side j_batch[(J_BATCH + HELPERS - 1) / HELPERS], k_batch[(K_BATCH + HELPERS - 1) / HELPERS];
int letter_batch[(ROW_BATCH + HELPERS - 1) / HELPERS];

void ask_for(int helper, int step_) {
    uint j = j_in + uint(step_ * J_STEP + helper), k = k_in + uint(step_ * K_STEP + helper);
    if (tile.y > 0)
        for (int x = 0; x < j_batch.length(); ++x) j_batch[x] = sides[j + uint(x * HELPERS)];
    if (tile.z > 0)
        for (int x = 0; x < k_batch.length(); ++x) k_batch[x] = sides[k + uint(x * HELPERS)];
    for (int x = 0; x < letter_batch.length(); ++x)
        letter_batch[x] = letter(triple.a, triple.l, tile.x + step_ * DEEP + x * HELPERS + helper);
}

bool is_missing() {
    bool missing = false;
    for (int x = 0; x < j_batch.length(); ++x) missing = missing || is_empty(j_batch[x]);
    for (int x = 0; x < k_batch.length(); ++x) missing = missing || is_empty(k_batch[x]);
    return missing;
}

void wait_for(int helper, int step_) {
    int j = min(j_end - step_ * J_STEP, J_BATCH) - helper;
    int k = min(k_end - step_ * K_STEP, K_BATCH) - helper;
    for (int polls = 0; is_missing() && !in_vain; ++polls) {
        ask_for(helper, step_);
        for (int x = 0; x < j_batch.length(); ++x)
            if (x * HELPERS >= j) j_batch[x] = j_side(border_cell());
        for (int x = 0; x < k_batch.length(); ++x)
            if (x * HELPERS >= k) k_batch[x] = j_side(border_cell());
        if (polls == POLLS) in_vain = true;
    }
}

void take_batch(int helper, int step_) {
    int j = coming(step_, 0) * J_ROW + helper, k = K_COMING + coming(step_, 0) * K_ROW + helper;
    wait_for(helper, step_);
    for (int x = 0; x < j_batch.length(); ++x)
        if (x * HELPERS + helper < J_BATCH) lane_sides[j + x * HELPERS] = j_batch[x];
    for (int x = 0; x < k_batch.length(); ++x)
        if (x * HELPERS + helper < K_BATCH) lane_sides[k + x * HELPERS] = k_batch[x];
    for (int x = 0; x < letter_batch.length(); ++x) {
        int at = x * HELPERS + helper, place = step_ * DEEP + at & (LETTERS_AT_ONCE - 1);
        if (at < ROW_BATCH) tile_letters[place] = letter_batch[x];
    }
}

void bring(int helper, int now) {
    if ((now + 1) % BATCH == 0) take_batch(helper, now + 1);
    if ((now + 1 + AHEAD) % BATCH == 0) ask_for(helper, now + 1 + AHEAD);
}

void begin_bringing(int helper) {
    for (int x = 0; x < j_batch.length(); ++x) j_batch[x] = j_side(border_cell());
    for (int x = 0; x < k_batch.length(); ++x) k_batch[x] = j_side(border_cell());
    ask_for(helper, 0);
    take_batch(helper, 0);
    if (AHEAD == BATCH) ask_for(helper, BATCH);
}

void store_sides() {}
#else
#include "lib/tile3_whole.glsl"
#endif
