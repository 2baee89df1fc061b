// The last column of the best alignment that ends in a cell: 0 where H is `least`
// (recurrence3.glsl), else the sum of 1 (a), 2 (b), 4 (c): 3 bits. With affine gaps 2 bits more for
// each X: 0 if it follows H, 1 and 2 a column of a kind next to it, 3 one of its own kind. A
// sub-table has its bits side by side in WORDS words: cube.glsl writes them, traceback3.comp reads
// them. Needs DEEP and SIDE; LINEAR may be defined.
const int CELLS = DEEP * SIDE * SIDE;
#ifdef LINEAR
const int BITS = 3;
#else
const int BITS = 16;
#endif
const int WORDS = (CELLS * BITS + 31) / 32;

// A word of the sub-table (i, j, k) of as many along j and k; those of neighbours lie side by side.
uint word_place(int i, int j, int k, int word, int words, ivec2 count) {
    return uint(((i * words + word) * count.y + k) * count.x + j);
}

// Of a column with gaps, the one next to it with the smaller code, or the other.
int next_to(int column, bool other) {
    bool single = (column & (column - 1)) == 0;
    int set = single ? 7 ^ column : column, low = set & -set;
    int chosen = other ? set ^ low : low;
    return single ? column | chosen : chosen;
}

// The column before `column`, of which bits of the cell before it say whether its gap goes on.
int column_before(int column, uint bits) {
    uint choice = BITS == 3 ? 0u : bits >> (1 + 2 * column) & 3u;
    return choice == 0u ? 0 : choice == 3u ? column : next_to(column, choice == 2u);
}
