// Words of vertical differences, +1 (plus) or -1 (minus), and how they change from a column to the
// next one (Hyyro 2003, figure 3). Horizontal differences of a row or a word are two words too, .x
// for +1 and .y for -1. Needs edit_pairs.glsl.
layout(std430, binding = DIFFERENCES_BINDING) buffer Differences { uvec2 differences[]; };
layout(std430, binding = WORDS_BINDING) buffer Words { uvec2 kept_words[]; };
uniform uint pair_count;

// Where 32 columns of the last row of a strip are; pairs lie side by side.
uint place_of(EditPair pair, int j) { return uint(j >> 5) * pair_count + pair.number; }

// Takes the rows that match the letter, and the word before in .x and .y, of which the last row
// counts; returns the horizontal differences of these rows.
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
