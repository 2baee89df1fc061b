#version 430
// Schedule: edit distance, 32 rows of a column at once, as the bits of words (Myers 1999; Hyyro
// 2003). A lane has a query and a target of its own: WORDS words of vertical differences, a strip,
// in registers, and the letters of these rows in PLANES bit planes, compared with the letter of
// each column. Strips follow one another, in dispatches; the horizontal differences of the last row
// of one are kept for the next, 32 columns in two words.
layout(local_size_x = WORKGROUP) in;

// Rows of the grid are queries, or there is one row and each slot has its own query.
struct EditSlot { uint query, target; int columns; };
struct EditPair {
    uint query, target;  // its number, its first word of letters
    int rows, columns;
    uint number;         // of all pairs of the buffers
};

layout(std430, binding = QUERIES_BINDING) readonly buffer Planes { uint plane_words[]; };
layout(std430, binding = ROWS_BINDING) readonly buffer Rows { int query_rows[]; };
layout(std430, binding = TARGETS_BINDING) readonly buffer Targets { uint target_words[]; };
layout(std430, binding = SLOTS_BINDING) readonly buffer Slots { EditSlot slots[]; };
uniform uint slot_count, first_row;
uniform int strip, strips;
uniform int first_column, columns;  // of a dispatch; first_column is a multiple of 32

EditPair edit_pair(uint slot, uint row) {
    EditSlot found = slots[slot];
    uint query = found.query + row;
    return EditPair(
        query, found.target, query_rows[query], found.columns, row * slot_count + slot);
}

// Bits of the letters of a strip.
void load_planes(EditPair pair, out uint planes[WORDS * PLANES]) {
    uint first = (pair.query * uint(strips) + uint(strip)) * uint(WORDS * PLANES);
    for (int w = 0; w < WORDS; ++w)
        for (int p = 0; p < PLANES; ++p)
            planes[w * PLANES + p] = plane_words[first + uint(w * PLANES + p)];
}

// Those of columns j to j + 3, 8 bits each.
uint target_letters(EditPair pair, int j) { return target_words[pair.target + uint(j >> 2)]; }

// All ones if bit p of the first letter is set, else 0.
uint plane_of(uint letters, int p) { return p < 8 ? uint(int(letters << (31 - p)) >> 31) : 0u; }

// Words of a query that lie before its first row: the first ones, so that its last row is in the
// last word.
int words_before(EditPair pair) { return strips * WORDS - ((pair.rows + 31) >> 5); }

int first_strip(EditPair pair) { return words_before(pair) / WORDS; }

// The bit of the last row of a strip.
int last_bit(EditPair pair) { return strip + 1 == strips ? (pair.rows - 1) & 31 : 31; }

// Words of vertical differences, +1 (plus) or -1 (minus). Horizontal differences of a row or a word
// are two words too, .x for +1 and .y for -1.
layout(std430, binding = DIFFERENCES_BINDING) buffer Differences { uvec2 differences[]; };
layout(std430, binding = WORDS_BINDING) buffer Words { uvec2 kept_words[]; };
uniform uint pair_count;

// Where 32 columns of the last row of a strip are; pairs lie side by side.
uint place_of(EditPair pair, int j) { return uint(j >> 5) * pair_count + pair.number; }

// From a column to the next one (Hyyro 2003, figure 3): takes the rows that match the letter, and
// the word before in .x and .y, of which the last row counts; returns the horizontal differences of
// these rows.
uvec2 next_words(inout uint plus, inout uint minus, uint equal, uvec2 before) {
    uint vertical = equal | minus, match = equal | before.y >> 31;
    uint horizontal = (match & plus) + plus ^ plus | match;
    uvec2 rows = uvec2(minus | ~(horizontal | plus), plus & horizontal);
    uvec2 moved = rows << 1 | before >> 31;
    plus = moved.y | ~(vertical | moved.x);
    minus = moved.x & vertical;
    return rows;
}

void load_words(EditPair pair, out uint plus[WORDS], out uint minus[WORDS]) {
    for (int w = 0; w < WORDS; ++w) {
        uvec2 kept = kept_words[uint(w) * pair_count + pair.number];
        plus[w] = kept.x;
        minus[w] = kept.y;
    }
}

void store_words(EditPair pair, uint plus[WORDS], uint minus[WORDS]) {
    for (int w = 0; w < WORDS; ++w)
        kept_words[uint(w) * pair_count + pair.number] = uvec2(plus[w], minus[w]);
}

// Row 0, column 0, and the distance, which is in the last row. With INFIX the target's ends are
// free: row 0 has zeros, and the smallest distance of the last row counts, the first one of equals.
// Words before the first row match nothing: with column 0 as here they are like row 0.
struct Distance { int now, least, end; };  // `end` is the number of columns before it

#ifdef INFIX
layout(std430, binding = DISTANCES_BINDING) buffer Distances { Distance distances[]; };

uvec2 row_0() { return uvec2(0u); }

int word_of_column_0(EditPair pair, int word) { return -1; }

void follow_last_row(inout Distance distance, EditPair pair, uvec2 row, int j) {
    uvec2 change = row >> last_bit(pair) & 1u;
    distance.now += int(change.x) - int(change.y);
    if (distance.now < distance.least) {
        distance.least = distance.now;
        distance.end = j + 1;
    }
}

void add_rows(inout Distance distance, EditPair pair, uint plus[WORDS], uint minus[WORDS]) {}

// Where column j of a strip begins.
Distance distance_before(EditPair pair, int j) {
    return j == 0 ? Distance(pair.rows, pair.rows, 0) : distances[pair.number];
}

void store_distance(EditPair pair, Distance distance) { distances[pair.number] = distance; }
#else
layout(std430, binding = DISTANCES_BINDING) buffer Distances { int distances[]; };

uvec2 row_0() { return uvec2(~0u, 0u); }

int word_of_column_0(EditPair pair, int word) { return word < words_before(pair) ? 0 : -1; }

void follow_last_row(inout Distance distance, EditPair pair, uvec2 row, int j) {}

// The distance is that of row 0 and the sum of the last column's differences.
void add_rows(inout Distance distance, EditPair pair, uint plus[WORDS], uint minus[WORDS]) {
    for (int w = 0; w < WORDS; ++w) {
        uint inside = w + 1 < WORDS ? ~0u : ~0u >> (31 - last_bit(pair));
        distance.least += bitCount(plus[w] & inside) - bitCount(minus[w] & inside);
    }
}

// Strips add to it.
Distance distance_before(EditPair pair, int j) {
    bool first = j == 0 && strip == first_strip(pair);
    int before = first ? pair.columns : distances[pair.number];
    return Distance(0, before, pair.columns);
}

void store_distance(EditPair pair, Distance distance) { distances[pair.number] = distance.least; }
#endif

void first_words(EditPair pair, out uint plus[WORDS], out uint minus[WORDS]) {
    for (int w = 0; w < WORDS; ++w) {
        plus[w] = uint(word_of_column_0(pair, strip * WORDS + w));
        minus[w] = 0u;
    }
}

void main() {
    if (gl_GlobalInvocationID.x >= slot_count) return;
    EditPair pair = edit_pair(gl_GlobalInvocationID.x, first_row + gl_WorkGroupID.y);
    if (first_column > 0 && first_column >= pair.columns) return;
    uint planes[WORDS * PLANES], masks[PLANES], plus[WORDS], minus[WORDS];
    load_planes(pair, planes);
    if (first_column > 0) load_words(pair, plus, minus);
    else first_words(pair, plus, minus);
    Distance distance = distance_before(pair, first_column);
    int stop = min(pair.columns, first_column + columns);
    bool inside = strip > first_strip(pair);
    for (int block = first_column; block < stop; block += 32) {
        int end = min(block + 32, stop);
        // The next column's horizontal differences above the strip are the highest bits.
        uvec2 above = inside ? differences[place_of(pair, block)] : row_0(), below = uvec2(0u);
        for (int word = block; word < end; word += 4) {
            uint letters = target_letters(pair, word);
            int next_word = min(word + 4, end);
            for (int j = word; j < next_word; ++j, letters >>= 8, above <<= 1) {
                for (int p = 0; p < PLANES; ++p) masks[p] = plane_of(letters, p);
                uvec2 row = above;
                for (int w = 0; w < WORDS; ++w) {
                    uint unequal = 0u;
                    for (int p = 0; p < PLANES; ++p) unequal |= planes[w * PLANES + p] ^ masks[p];
                    row = next_words(plus[w], minus[w], ~unequal, row);
                }
                below = below << 1 | row >> 31;
                follow_last_row(distance, pair, row, j);
            }
        }
        if (strip + 1 < strips) differences[place_of(pair, block)] = below << (block + 32 - end);
    }
    if (stop < pair.columns) store_words(pair, plus, minus);
    else add_rows(distance, pair, plus, minus);
    store_distance(pair, distance);
}
