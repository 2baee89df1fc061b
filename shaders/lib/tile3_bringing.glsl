// Some invocations, HELPERS, bring the sides that the first lanes of a tile need in the next steps,
// a batch at once, and the letters of these rows. They ask for a batch AHEAD steps before its first
// one, and then until it is there, or in vain. Without POLLING see tile3_whole.glsl. Needs tile3_places.glsl.
shared bool in_vain;
#if POLLING == 1
#include "lib/tile3_batch.glsl"
const int J_BATCH = BATCH * J_STEP, K_BATCH = BATCH * K_STEP, ROW_BATCH = BATCH * DEEP;
const int J_ASKED = (J_BATCH + HELPERS - 1) / HELPERS;  // by a helper: cells of the batch
const int ASKED = J_ASKED + (K_BATCH + HELPERS - 1) / HELPERS;
uniform int most_polls;  // of a batch: something is wrong then
int letter_batch[(ROW_BATCH + HELPERS - 1) / HELPERS];

void ask_for(inout Cell batch[HELD], int helper, int step_) {
    uint j = j_in + uint(step_ * J_STEP + helper), k = k_in + uint(step_ * K_STEP + helper);
    if (tile.y > 0)
        for (int x = 0; x < J_ASKED; ++x) batch[x] = as_cell(sides[j + uint(x * HELPERS)]);
    if (tile.z > 0)
        for (int x = J_ASKED; x < ASKED; ++x)
            batch[x] = as_cell(sides[k + uint((x - J_ASKED) * HELPERS)]);
    for (int x = 0; x < letter_batch.length(); ++x)
        letter_batch[x] = letter(triple.a, triple.l, tile.x + step_ * DEEP + x * HELPERS + helper);
}

void forget(inout Cell batch[HELD], int j, int k) {
    for (int x = 0; x < ASKED; ++x)
        if (x < J_ASKED ? x * HELPERS >= j : (x - J_ASKED) * HELPERS >= k)
            batch[x] = as_cell(j_side(border_cell()));
}

bool is_missing(Cell batch[HELD]) {
    bool missing = false;
    for (int x = 0; x < ASKED; ++x) missing = missing || is_empty(as_side(batch[x]));
    return missing;
}

void wait_for(inout Cell batch[HELD], int helper, int step_) {
    int j = min(j_end - step_ * J_STEP, J_BATCH) - helper;
    int k = min(k_end - step_ * K_STEP, K_BATCH) - helper;
    for (int polls = 0; is_missing(batch) && polls < most_polls && !in_vain; ++polls) {
        ask_for(batch, helper, step_);
        forget(batch, j, k);
    }
    if (is_missing(batch)) in_vain = true;  // also where a driver ends loops
}

void take_batch(inout Cell batch[HELD], int helper, int step_) {
    int j = coming(step_, 0) * J_ROW + helper, k = K_COMING + coming(step_, 0) * K_ROW + helper;
    wait_for(batch, helper, step_);
    for (int x = 0; x < J_ASKED; ++x)
        if (x * HELPERS + helper < J_BATCH) lane_sides[j + x * HELPERS] = as_side(batch[x]);
    for (int x = 0; x < ASKED - J_ASKED; ++x)
        if (x * HELPERS + helper < K_BATCH)
            lane_sides[k + x * HELPERS] = as_side(batch[J_ASKED + x]);
    for (int x = 0; x < letter_batch.length(); ++x) {
        int at = x * HELPERS + helper, place = step_ * DEEP + at & (LETTERS_AT_ONCE - 1);
        if (at < ROW_BATCH) tile_letters[place] = letter_batch[x];
    }
}

void bring(inout Cell batch[HELD], int helper, int now) {
    if ((now + 1) % BATCH == 0) take_batch(batch, helper, now + 1);
    if ((now + 1 + AHEAD) % BATCH == 0) ask_for(batch, helper, now + 1 + AHEAD);
}

void begin_bringing(inout Cell batch[HELD], int helper) {
    forget(batch, 0, 0);
    ask_for(batch, helper, 0);
    take_batch(batch, helper, 0);
    if (AHEAD == BATCH) ask_for(batch, helper, BATCH);
}

void store_sides() {}
#else
#include "lib/tile3_whole.glsl"
#endif
