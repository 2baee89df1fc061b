#version 430
// Schedule: edit distance, 32 rows of a column at once, as the bits of words (Myers 1999; Hyyro
// 2003). A lane has a query and a target of its own: WORDS words of vertical differences, a strip,
// in registers, and the letters of these rows in PLANES bit planes, compared with the letter of
// each column. Strips follow one another, in dispatches; the horizontal differences of the last row
// of one are kept for the next, 32 columns in two words.
layout(local_size_x = WORKGROUP) in;
#include "lib/edit_pairs.glsl"
#include "lib/edit_words.glsl"
#include "lib/edit_distance.glsl"

uniform int first_column, columns;  // of a dispatch; first_column is a multiple of 32

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
