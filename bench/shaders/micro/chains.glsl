// CHAINS numbers in registers; each is computed ROUNDS times from itself and the next one, so that
// there is always enough to do and nothing to leave out. OPERATION 0 is x + y, 1 max(x, y), 2
// max(x - cost, y).
uniform int cost;
uniform int first;

const int UNROLLED = 4;  // rounds of a turn of the loop

Number next_of(Number x, Number y, Number less) {
    return OPERATION == 0 ? x + y : OPERATION == 1 ? max(x, y) : max(x - less, y);
}

int chained(int seed) {
    Number x[CHAINS], less = number(cost, cost);
    for (int k = 0; k < CHAINS; ++k) {
        int start = (seed * 37 + k * first) & 1023;
        x[k] = number(start, start ^ 341);
    }
    for (int round = 0; round < ROUNDS; round += UNROLLED)
        for (int again = 0; again < UNROLLED; ++again)
            for (int k = 0; k < CHAINS; ++k) x[k] = next_of(x[k], x[(k + 1) % CHAINS], less);
    int found = 0;
    for (int k = 0; k < CHAINS; ++k)
        for (int part = 0; part < RESULTS; ++part) found = found * 31 + value(x[k], part);
    return found;
}
