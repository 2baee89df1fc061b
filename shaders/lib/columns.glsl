// The letters of targets as lanes read them: a word has STEP columns, a byte a target, as code + 1;
// 0 is no letter. A word of none stands behind the last one.
// Needs number.glsl, STEP and COLUMNS_ARE, a qualifier.
struct Columns {
    uint first;  // word
    int words;
};

layout(std430, binding = COLUMNS_BINDING) COLUMNS_ARE buffer ColumnWords { uint column_words[]; };
layout(std430, binding = SLOTS_BINDING) readonly buffer Slots {
    Columns slots[];  // the longest first
};

uint word_of(Columns columns, int at) {
    return column_words[columns.first + min(uint(at), uint(columns.words))];
}

// The letter of each target in column c of a word.
ivec2 letters_in(uint word, int c) {
    int at = 8 * TARGETS * c;
    return ivec2(word >> at & 255u, word >> (at + 8 * (TARGETS - 1)) & 255u);
}
