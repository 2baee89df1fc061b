#version 430
// Schedule: sums over all local alignments, see glsw/wings/profiles/forward_sums.py. As in lanes.comp a chain
// of CHAIN lanes, which have ROWS rows of a profile each, goes along the columns of a target, STEP
// of them in a step; one strip in a dispatch. Sums are floats times 2^scale, a scale for each lane:
// the lowest that keeps the numbers of its rows in range.
layout(local_size_x = WORKGROUP) in;

struct Pair { uint first_block, blocks, first_word, words, border; };

// Odds of each ROWS rows, a block, with each letter; those of block 0 and of letter LETTERS are 0.
layout(std430, binding = QUERIES_BINDING) readonly buffer Odds { vec4 odds[]; };
layout(std430, binding = TARGETS_BINDING) readonly buffer Targets { uint words[]; };  // STEP letters
layout(std430, binding = PAIRS_BINDING) readonly buffer Pairs { Pair pairs[]; };
layout(std430, binding = ROW_ABOVE_BINDING) buffer Borders { float borders[]; };
layout(std430, binding = BEST_BINDING) buffer Sums { vec2 sums[]; };  // a number and its scale

uniform int first_group;
uniform int strip;

const uint PADDING = uint(LETTERS) * 0x01010101u;
const float OPEN = 0.016, EXTEND = 0.6, NO_GAP = 0.92;  // of a gap: its beginning and its end
const int SLACK = 16;  // a scale may be so much higher or lower than it has to be
const int HANDED = 2 * STEP + 1;

// What the last row of a lane gives to the row below it, in each column: odds of what ends there,
// so that a pair may follow, and of a gap that goes on.
struct Row { float ended[STEP], gap[STEP]; int scale; };

float power_of_2(int k) { return k < -126 ? 0.0 : intBitsToFloat((min(k, 127) + 127) << 23); }

int exponent_of(float x) { return (floatBitsToInt(x) >> 23) - 127; }

// A number with a scale, and another one.
vec2 sum(vec2 a, vec2 b) {
    int scale = int(max(a.y, b.y));
    float total = a.x * power_of_2(int(a.y) - scale) + b.x * power_of_2(int(b.y) - scale);
    int more = max(exponent_of(total), 0);
    return vec2(total * power_of_2(-more), scale + more);
}

Row no_row() {
    Row row;
    for (int c = 0; c < STEP; ++c) row.ended[c] = row.gap[c] = 0.0;
    row.scale = 0;
    return row;
}

#if CHAIN > 1
shared float handed[2 * HANDED * WORKGROUP];  // by turns, so that there is one barrier a step

Row from_lane_before(int k, Row mine, Row above) {
    int lane = int(gl_LocalInvocationIndex), place = (k & 1) * HANDED * WORKGROUP + lane;
    for (int c = 0; c < STEP; ++c) {
        handed[place + 2 * c * WORKGROUP] = mine.ended[c];
        handed[place + (2 * c + 1) * WORKGROUP] = mine.gap[c];
    }
    handed[place + 2 * STEP * WORKGROUP] = float(mine.scale);
    barrier();
    if (lane % CHAIN == 0) return above;
    for (int c = 0; c < STEP; ++c) {
        above.ended[c] = handed[place - 1 + 2 * c * WORKGROUP];
        above.gap[c] = handed[place - 1 + (2 * c + 1) * WORKGROUP];
    }
    above.scale = int(handed[place - 1 + 2 * STEP * WORKGROUP]);
    return above;
}

vec2 sum_of_chain(vec2 mine) {
    int lane = int(gl_LocalInvocationIndex);
    barrier();
    handed[lane] = mine.x;
    handed[WORKGROUP + lane] = mine.y;
    barrier();
    vec2 total = vec2(0.0);
    for (int t = 0; t < CHAIN; ++t) {
        int other = lane - lane % CHAIN + t;
        total = sum(total, vec2(handed[other], handed[WORKGROUP + other]));
    }
    return total;
}
#else
Row from_lane_before(int k, Row mine, Row above) { return above; }

vec2 sum_of_chain(vec2 mine) { return mine; }
#endif

Row load_row(int place) {
    Row row;
    for (int c = 0; c < STEP; ++c) {
        row.ended[c] = borders[place + 2 * c];
        row.gap[c] = borders[place + 2 * c + 1];
    }
    row.scale = int(borders[place + 2 * STEP]);
    return row;
}

void store_row(int place, Row row) {
    for (int c = 0; c < STEP; ++c) {
        borders[place + 2 * c] = row.ended[c];
        borders[place + 2 * c + 1] = row.gap[c];
    }
    borders[place + 2 * STEP] = float(row.scale);
}

void main() {
    const int chains = WORKGROUP / CHAIN;
    int lane = int(gl_LocalInvocationIndex), t = lane % CHAIN;
    int first_pair = (first_group + int(gl_WorkGroupID.x)) * chains, number = first_pair + lane / CHAIN;
    Pair pair = pairs[number];
    int longest = 0;
    for (int p = 0; p < chains; ++p) {
        Pair other = pairs[first_pair + p];
        if (strip * CHAIN < int(other.blocks)) longest = max(longest, int(other.words));
    }
    int block = strip * CHAIN + t, words_of_pair = int(pair.words), border = int(pair.border) * HANDED;
    bool inside = block < int(pair.blocks), has_above = t == 0 && strip > 0 && inside;
    bool has_below = t == CHAIN - 1 && block + 1 < int(pair.blocks);
    uint first_odds = (inside ? pair.first_block + uint(block) : 0u) * uint(LETTERS + 1);
    float ended[ROWS], inserted[ROWS], corner = 0.0;
    for (int r = 0; r < ROWS; ++r) ended[r] = inserted[r] = 0.0;
    int scale = 0;
    vec2 total = vec2(0.0);
    Row below = no_row();
    for (int k = 0; k < longest + CHAIN - 1; ++k) {
        int at = k - t;
        bool there = at >= 0 && at < words_of_pair;
        uint word = there ? words[pair.first_word + uint(at)] : PADDING;
        Row above = no_row();
        if (has_above && there) above = load_row(border + at * HANDED);
        above = from_lane_before(k, below, above);

        float most = corner, arriving = 0.0;
        for (int r = 0; r < ROWS; ++r) most = max(most, ended[r]);
        for (int c = 0; c < STEP; ++c) arriving = max(arriving, above.ended[c]);
        int needed = max(exponent_of(most) + scale, exponent_of(arriving) + above.scale);
        needed = max(needed, 0);
        if (abs(needed - scale) > SLACK) {
            float factor = power_of_2(scale - needed);
            for (int r = 0; r < ROWS; ++r) {
                ended[r] *= factor;
                inserted[r] *= factor;
            }
            corner *= factor;
            scale = needed;
        }
        float factor = power_of_2(above.scale - scale), one = power_of_2(-scale), some = 0.0;
        for (int c = 0; c < STEP; ++c) {
            uint first = (first_odds + bitfieldExtract(word, 8 * c, 8)) * uint(ROWS / 4);
            float gap = above.gap[c] * factor, before = corner;
            corner = above.ended[c] * factor;
            for (int r = 0; r < ROWS; ++r) {
                float pairs_here = odds[first + uint(r / 4)][r % 4] * (one + before);
                before = ended[r];
                some += pairs_here;
                ended[r] = NO_GAP * pairs_here + OPEN * (inserted[r] + gap);
                inserted[r] = EXTEND * inserted[r] + pairs_here;
                gap = EXTEND * gap + pairs_here;
            }
            below.ended[c] = ended[ROWS - 1];
            below.gap[c] = gap;
        }
        below.scale = scale;
        total = sum(total, vec2(some, scale));
        if (has_below && there) store_row(border + at * HANDED, below);
    }
    total = sum_of_chain(total);
    if (t == 0 && inside) sums[number] = strip > 0 ? sum(sums[number], total) : total;
}
