#version 430
// Schedule: sub-tables as in subtable.comp (Sudo et al. 2012, section 6.4), but a dispatch computes
// all tiles, each with all rows of a dispatch. A tile waits for the sides of the tiles before it,
// whose places are EMPTY until they are there. A work group has three parts: LANES invocations
// compute, HELPERS bring the sides that the first lanes need in the next steps, as many pass on
// what the last lanes left in the step before. No tile needs one that is taken later, so that those
// which wait do so for tiles that are computed, in whatever order a device starts its work groups.
layout(local_size_x = WORKGROUP) in;
#include "three/lib/triples.glsl"
#include "three/lib/recurrence3.glsl"
#include "three/lib/cube.glsl"

layout(std430, binding = SIDES_BINDING) coherent volatile buffer Sides { Side sides[]; };
const int COMING = 2 * BATCH;
#include "three/lib/tile3.glsl"

uniform int most_polls;  // of a batch: something is wrong then
shared bool in_vain;
shared int letters_of_rows[LETTERS_AT_ONCE];  // of those that the lanes are in, and some more
const Best NO_BEST = Best(0x7fffffff, 0, 0, 0);  // an error

// Which tile a work group computes: the same tiles of some triples follow one another.
layout(std430, binding = TICKETS_BINDING) buffer Tickets { uint tickets; };
uniform ivec2 patches_at_once;
shared uint shared_ticket;
const int TRIPLES_AT_ONCE = 64, PATCHES_AT_ONCE = 8;  // measured: few wait, sides stay in the cache

// The place of a number in a table: in bands of some of its rows, column after column.
ivec2 banded(int number, int rows, ivec2 table) {
    int first = number / (rows * table.y) * rows, high = min(rows, table.x - first);
    number -= first * table.y;
    return ivec2(first + number % high, number / high);
}

void take_tile() {
    if (gl_LocalInvocationIndex == 0u) shared_ticket = atomicAdd(tickets, 1u);
    barrier();
    int patches = patches_at_once.x * patches_at_once.y, count = int(gl_NumWorkGroups.z);
    ivec2 taken = banded(int(shared_ticket), TRIPLES_AT_ONCE, ivec2(count, patches));
    triple = triples[taken.x];
    tile = ivec3(first_row, banded(taken.y, PATCHES_AT_ONCE, patches_at_once));
    tile_end = first_row + side_rows();
}

// Each tile has its own place for the sides between it and the next one, step after step.
int j_end, k_end;  // of a place
uint j_in, k_in, j_out, k_out;

void find_places() {
    j_end = (sub_tables_in_tile() + LANES_K - 1) * J_STEP;
    k_end = (sub_tables_in_tile() + LANES_J - 1) * K_STEP;
    j_out = triple.j_sides + uint((tile.y * patches().y + tile.z) * j_end);
    k_out = triple.k_sides + uint((tile.z * patches().x + tile.y) * k_end);
    j_in = j_out - uint(patches().y * j_end);
    k_in = k_out - uint(patches().x * k_end);
}

void pass_on(int helper, int now) {
    int j_from = (now - LANES_J) * J_STEP, k_from = (now - LANES_K) * K_STEP;
    if (uint(j_from) < uint(j_end) && tile.y + 1 < patches().x)
        for (int x = 0; x < DEEP; ++x)
            for (int w = helper; w < J_ROW; w += HELPERS)
                sides[j_out + uint(j_from + x * J_ROW + w)] =
                    lane_sides[j_between(LANES_J - 1, now - 1, x) + w];
    if (uint(k_from) < uint(k_end) && tile.z + 1 < patches().y)
        for (int x = 0; x < DEEP; ++x)
            for (int w = helper; w < K_ROW; w += HELPERS)
                sides[k_out + uint(k_from + x * K_ROW + w)] =
                    lane_sides[k_between(LANES_K - 1, now - 1, x) + w];
}

// A batch of sides that a helper has asked for, as they are, where lanes have a plane of cells: all
// invocations of a work group have as many registers as those that need the most.
#ifdef LINEAR
Cell as_cell(Side s) { return Cell(s); }

Side as_side(Cell c) { return c.h; }

bool is_empty(Side s) { return s == EMPTY; }
#elif defined(PACKED)
Cell as_cell(Side s) { return Cell(s.x, s.y, 0, 0, 0, 0, 0); }

Side as_side(Cell c) { return Side(c.h, c.ab); }

bool is_empty(Side s) { return any(equal(s, ivec2(EMPTY))); }
#else
Cell as_cell(Side s) { return Cell(s.x, s.y, s.z, 0, s.w, 0, 0); }

Side as_side(Cell c) { return Side(c.h, c.ab, c.ac, c.a); }

bool is_empty(Side s) { return any(equal(s, ivec4(EMPTY))); }
#endif

// Helpers ask for a batch AHEAD steps before its first one, and then until it is there, or in vain;
// and for the letters of these rows.
const int J_BATCH = BATCH * J_STEP, K_BATCH = BATCH * K_STEP, ROW_BATCH = BATCH * DEEP;
const int J_ASKED = (J_BATCH + HELPERS - 1) / HELPERS;  // by a helper: cells of the batch
const int ASKED = J_ASKED + (K_BATCH + HELPERS - 1) / HELPERS;
int letter_batch[(ROW_BATCH + HELPERS - 1) / HELPERS];

int coming(int now, int x) { return (now & (COMING - 1)) * DEEP + x; }

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
        if (at < ROW_BATCH) letters_of_rows[place] = letter_batch[x];
    }
}

void begin_bringing(inout Cell batch[HELD], int helper) {
    forget(batch, 0, 0);
    ask_for(batch, helper, 0);
    take_batch(batch, helper, 0);
    if (AHEAD == BATCH) ask_for(batch, helper, BATCH);
}

void bring(inout Cell batch[HELD], int helper, int now) {
    if ((now + 1) % BATCH == 0) take_batch(batch, helper, now + 1);
    if ((now + 1 + AHEAD) % BATCH == 0) ask_for(batch, helper, now + 1 + AHEAD);
}

// The cells of sub-table (I, J, K), plane after plane, as in subtable.comp.
Best compute(int I, int J, int K, Lane lane, inout Cell before[HELD], inout Cell here[HELD],
             Best best) {
    int highest = 0, now = I + J + K;
    uint words[WORDS];
    for (int w = 0; w < WORDS; ++w) words[w] = 0u;
    load_mask(triple.mask, sub_table(I, J, K), columns());
    for (int x = 0; x < DEEP; ++x) {
        int row = I * DEEP + x, i = tile.x + row;
        RowScores scores = row_scores(lane, letters_of_rows[row & (LETTERS_AT_ONCE - 1)]);
        int j = J == 0 ? coming(now, x) * J_ROW : j_between(J - 1, now - 1, x);
        int k = K == 0 ? K_COMING + coming(now, x) * K_ROW : k_between(K - 1, now - 1, x);
        load_borders(here, K + j, J + k);
        for (int y = 0; y < SIDE; ++y) {
            for (int z = 0; z < SIDE; ++z) {
                int at = (y + 1) * ACROSS + z + 1, j = at - ACROSS;  // one back along j
                here[at] = next_cell(lane, scores, triple.l - i, x, y, z, before[j - 1], before[j],
                                     before[at - 1], here[j - 1], before[at], here[j],
                                     here[at - 1], words, highest);
            }
        }
        store_borders(here, K + j_between(J, now, x), J + k_between(K, now, x));
        store_table(lane, i, here);
        before = here;
    }
    store_directions(words, sub_table(I, J, K));
    bool higher = highest >= max(best.x, 1) * NUMBERS;
    return higher ? better(best, best_of(highest, tile.x + I * DEEP, lane.j, lane.k)) : best;
}

void main() {
    int t = int(gl_LocalInvocationIndex), J = t / LANES_K, K = t % LANES_K;
    take_tile();
    if (outside()) return;
    int taker = t - LANES, giver = t - LANES - HELPERS, sub_tables = sub_tables_in_tile();
    bool takes = uint(taker) < uint(HELPERS), gives = uint(giver) < uint(HELPERS);
    in_vain = false;
    load_scores();
    fill_sides();  // nothing that may be passed on is EMPTY
    find_places();
    barrier();
    Cell before[HELD], here[HELD];
    if (takes) begin_bringing(before, taker);
    barrier();
    Lane lane = lane_at(triple, (tile.y * LANES_J + J) * SIDE, (tile.z * LANES_K + K) * SIDE);
    Best best = best_of_tiles_above();
    if (t < LANES) load_plane(before);
    int now = 0, steps = sub_tables + LANES_J + LANES_K - 1;
    for (; now < steps; ++now) {
        int I = t < LANES ? now - J - K : -1;
        if (gives) pass_on(giver, now);
        if (uint(I) < uint(sub_tables)) best = compute(I, J, K, lane, before, here, best);
        if (takes) bring(before, taker, now);
        barrier();
    }
    if (now < steps) in_vain = true;  // a driver ends loops
    if (t < LANES) store_plane(before);
    barrier();
    store_best(in_vain ? NO_BEST : best);
}
