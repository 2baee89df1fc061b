// A cell of a sub-table of DEEP x SIDE x SIDE cells (Sudo et al. 2012, figure 11) from its
// neighbours, and what is kept of the sub-table: sides for its neighbours, the best cell,
// directions. Sub-tables are computed plane by plane along i. LINEAR and PACKED may be defined.
// Needs 1 or 0 for MASKED and DIRECTIONS.
#include "three/lib/triples.glsl"
#include "three/lib/recurrence3.glsl"
#include "three/lib/directions3.glsl"

const int ACROSS = SIDE + 1;  // a plane of cells has those before it along j and k, too

// A side: H of a cell, and X of the columns that leave it along one axis, for its neighbour there.
// PACKED 1, for scores below 2^16: two values in a word; with LINEAR gaps they are H of two cells.
// PACKED 2, for `opens` below 2^10 - 1 and any score: a word for H, and one for the three X. As H -
// opens <= X <= H, it has by how much they are less.
#if defined(PACKED) && defined(LINEAR)
const int PER_WORD = 2;
#else
const int PER_WORD = 1;
#endif

#ifdef LINEAR
#define Side int

Side joined(Side first, Side second) { return PER_WORD == 1 ? first : first | second << 16; }

Side part(Side word, int x) {
    return PER_WORD == 1 ? word : x == 0 ? word & 65535 : int(uint(word) >> 16);
}

Cell on_border(Cell c, bool j, bool k) { return c; }

Cell for_side(Cell c, bool j, bool k) { return c; }

Side i_side(Cell c) { return c.h; }

Side j_side(Cell c) { return c.h; }

Side k_side(Cell c) { return c.h; }

Cell from_i(Side s) { return Cell(s); }

Cell from_j(Side s) { return Cell(s); }

Cell from_k(Side s) { return Cell(s); }
#else
#ifdef PACKED
#define Side ivec2

#if PACKED == 1
Side side(int h, int x, int y, int z) {
    return Side(h | x + opens << 16, y + opens | z + opens << 16);
}

ivec4 values(Side s) {
    uvec2 high = uvec2(s) >> 16;
    return ivec4(s.x & 65535, int(high.x) - opens, (s.y & 65535) - opens, int(high.y) - opens);
}
#else
Side side(int h, int x, int y, int z) {
    return Side(h, (h - x) + (h - y << 10) + (h - z << 20));
}

ivec4 values(Side s) {
    return ivec4(s.x, s.x - ivec3(s.y & 1023, s.y >> 10 & 1023, s.y >> 20));
}
#endif
#else
#define Side ivec4

Side side(int h, int x, int y, int z) { return Side(h, x, y, z); }

ivec4 values(Side s) { return s; }
#endif

// A cell that lies behind the borders in j and k, or on one of them: then it was made of a side,
// and there is `none` in place of each X that it does not have and no one asks for.
Cell own_of(Cell c, bool j, bool k, int none) {
    return Cell(c.h, k ? c.ab : none, j ? c.ac : none, c.bc, j && k ? c.a : none, k ? c.b : none,
                j ? c.c : none);
}

Cell on_border(Cell c, bool j, bool k) { return own_of(c, j, k, 0); }

#if defined(PACKED) && PACKED == 2
Cell for_side(Cell c, bool j, bool k) { return own_of(c, j, k, c.h); }
#else
Cell for_side(Cell c, bool j, bool k) { return c; }
#endif

Side joined(Side first, Side second) { return first; }

Side part(Side word, int x) { return word; }

Side i_side(Cell c) { return side(c.h, c.ab, c.ac, c.a); }

Side j_side(Cell c) { return side(c.h, c.ab, c.bc, c.b); }

Side k_side(Cell c) { return side(c.h, c.ac, c.bc, c.c); }

Cell from_i(Side s) {
    ivec4 v = values(s);
    return Cell(v.x, v.y, v.z, 0, v.w, 0, 0);
}

Cell from_j(Side s) {
    ivec4 v = values(s);
    return Cell(v.x, v.y, 0, v.z, 0, v.w, 0);
}

Cell from_k(Side s) {
    ivec4 v = values(s);
    return Cell(v.x, 0, v.y, v.z, 0, 0, v.w);
}
#endif

// The best cell so far: score, d = i + j + k, i, j. Among equal scores the smallest d wins, then
// the smallest i, then j: no column before this cell could be left out, and the result does not
// depend on the schedule.
#define Best ivec4
const Best NOTHING = Best(0);

Best better(Best a, Best b) {
    bool smaller = a.y != b.y ? a.y < b.y : a.z != b.z ? a.z < b.z : a.w <= b.w;
    return (a.x != b.x ? a.x > b.x : smaller) ? a : b;
}

layout(std430, binding = BEST_BINDING) buffer BestCells { Best best_cells[]; };

// A cell of a sub-table as one number, the larger the better: H, and by how little it lies behind.
int behind(int x, int y, int z) { return ((x + y + z) * DEEP + x) * SIDE + y; }

const int NUMBERS = 256;  // more than any behind()

int as_number(int h, int x, int y, int z) { return h * NUMBERS + (NUMBERS - 1 - behind(x, y, z)); }

// From such a number of the sub-table at (i, j, k).
Best best_of(int number, int i, int j, int k) {
    int low = NUMBERS - 1 - number % NUMBERS, sum = low / (DEEP * SIDE);
    return Best(number / NUMBERS, i + j + k + sum, i + low / SIDE % DEEP, j + low % SIDE);
}

// Cells in which no column of two or three letters may end: one bit each, in words of a sub-table,
// and those outside the table, where two letters against a gap could have a score that is forbidden
// inside. Without MASKED there are none.
layout(std430, binding = MASKS_BINDING) readonly buffer Masks { uint mask_words[]; };
const int MASK_WORDS = (CELLS + 31) / 32;
const int FORBIDDEN = -0x20000000;
uint forbidden[MASK_WORDS];

void load_mask(uint first, ivec3 at, ivec2 count) {
    if (MASKED == 1)
        for (int w = 0; w < MASK_WORDS; ++w)
            forbidden[w] = mask_words[first + word_place(at.x, at.y, at.z, w, MASK_WORDS, count)];
}

Column unless_forbidden(int number, bool inside, Column s) {
    bool no = !inside || (forbidden[number >> 5] >> (number & 31) & 1u) != 0u;
    return MASKED == 1 && no ? Column(FORBIDDEN, FORBIDDEN, FORBIDDEN, FORBIDDEN) : s;
}

// Directions as directions3.glsl says; without DIRECTIONS nothing is noted. Choices are made as in
// directions.glsl.
uint unlike(int a, int b) { return min(uint(a - b), 1u); }

uint chosen(uint unlike, uint same, uint other) { return same + (other - same) * unlike; }

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
    if (DIRECTIONS == 0) return;
    uint bits = direction(d, c, least);
    int at = number * BITS;
    words[at >> 5] |= bits << (at & 31);
    if ((at & 31) + BITS > 32) words[(at >> 5) + 1] |= bits >> (32 - (at & 31));
}

// An invocation's column of sub-tables, SIDE cells wide along j and k: its letters, the scores of
// the pairs of b and c. `ahead`: letters of b and of c from the first one on.
struct Lane { int j, k, b[SIDE], c[SIDE], bc[SIDE * SIDE]; ivec2 ahead; };

Lane lane_at(Triple triple, int j, int k) {
    Lane lane;
    lane.j = j;
    lane.k = k;
    lane.ahead = ivec2(triple.m - j, triple.n - k);
    for (int x = 0; x < SIDE; ++x) {
        lane.b[x] = letter(triple.b, triple.m, j + x);
        lane.c[x] = letter(triple.c, triple.n, k + x);
    }
    for (int x = 0; x < SIDE * SIDE; ++x) lane.bc[x] = paired(lane.b[x / SIDE], lane.c[x % SIDE]);
    return lane;
}

struct RowScores { int a, ab[SIDE], ac[SIDE]; };  // a letter of a, and with those of b and c

RowScores row_scores(Lane lane, int a) {
    RowScores s;
    s.a = a;
    for (int y = 0; y < SIDE; ++y) {
        s.ab[y] = paired(a, lane.b[y]);
        s.ac[y] = paired(a, lane.c[y]);
    }
    return s;
}

// A cell (x, y, z) of a sub-table from its seven neighbours; notes its directions, and raises
// `best` to its number if alignments may end in it. `ahead`: letters of a from that of `row` on.
Cell next_cell(Lane lane, RowScores row, int ahead, int x, int y, int z, Cell abc, Cell ab, Cell ac,
               Cell bc, Cell a, Cell b, Cell c, inout uint words[WORDS], inout int best) {
    int number = (x * SIDE + y) * SIDE + z;
    ivec3 left = ivec3(ahead, lane.ahead - ivec2(y, z));
    bool inside = all(greaterThan(left, ivec3(0)));
    Column s = column(row.ab[y], row.ac[z], lane.bc[y * SIDE + z]);
    Moves d = moves(abc, ab, ac, bc, a, b, c, unless_forbidden(number, inside, s));
    int least = least_of(row.a, lane.b[y], lane.c[z]);
    Cell here = cell(d, least);
    if (is_end(left)) best = max(best, as_number(here.h, x, y, z));
    note(words, number, d, here, least);
    return here;
}
