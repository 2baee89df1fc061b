// The last column of the best alignment that ends in a cell: 0 where H is `least`
// (recurrence3.glsl), else the sum of 1 (a), 2 (b), 4 (c): 3 bits. With affine gaps 2 bits more for
// each X: 0 if it follows H, 1 and 2 a column of a kind next to it, 3 one of its own kind. A
// sub-table has its bits side by side in WORDS words, read by traceback3.comp. Without DIRECTIONS
// nothing is kept. Needs DEEP and SIDE, and with DIRECTIONS Moves and Cell (recurrence3.glsl).
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

#ifdef DIRECTIONS
#include "lib/choices.glsl"

uint source(Moves d, int h, int least) {
    int before = h + gap_cost();
    uint move = chosen(unlike(before, d.b), 2u, 4u);
    move = chosen(unlike(before, d.a), 1u, move);
    move = chosen(unlike(before, d.bc), 6u, move);
    move = chosen(unlike(before, d.ac), 5u, move);
    move = chosen(unlike(before, d.ab), 3u, move);
    return chosen(unlike(h, d.abc), 7u, move) * unlike(h, least);
}
#ifdef LINEAR
uint direction(Moves d, Cell c, int least) { return source(d, c.h, least); }
#else
uint followed(int x, int opened, int next, int other) {
#ifdef IDENTITY
    return 3u * unlike(x, opened);
#else
    uint gap = chosen(unlike(x, other - mixed), 2u, 3u);
    return chosen(unlike(x, next - mixed), 1u, gap) * unlike(x, opened);
#endif
}

uint direction(Moves d, Cell c, int least) {
    int x = c.h - opens;
    return source(d, c.h, least) | followed(c.a, x, d.ab, d.ac) << 3 |
           followed(c.b, x, d.ab, d.bc) << 5 | followed(c.ab, x, d.a, d.b) << 7 |
           followed(c.c, x, d.ac, d.bc) << 9 | followed(c.ac, x, d.a, d.c) << 11 |
           followed(c.bc, x, d.b, d.c) << 13;
}
#endif

void note(inout uint words[WORDS], int number, Moves d, Cell c, int least) {
    uint bits = direction(d, c, least);
    int at = number * BITS;
    words[at >> 5] |= bits << (at & 31);
    if ((at & 31) + BITS > 32) words[(at >> 5) + 1] |= bits >> (32 - (at & 31));
}
#else
void note(inout uint words[WORDS], int number, Moves d, Cell c, int least) {}
#endif
