// How a query profile lies in words of 16 bytes: a head, one for each lane, then for
// each letter, and 0 for none, the rows of a strip. A word has four numbers of 32 bits; HALVES are
// two rows each.
// Needs number.glsl, CHAIN, ROWS, STRIDE and LETTERS.
const bool HALVES = TARGETS == 2;
const int IN_WORD = HALVES ? 2 : 1, PARTS = ROWS / (4 * IN_WORD);
const int HEADS = 1 + CHAIN;
const int SIZE = HEADS + (LETTERS + 1) * STRIDE;
