// The results of a tile: its best cell; with TABLE its part of the table, with DIRECTIONS its bits.
// Needs tile3_bringing.glsl, tile3_planes.glsl, cube.glsl and directions3.glsl.
shared Best candidates[LANES];
const Best NO_BEST = Best(0x7fffffff, 0, 0, 0);  // an error

uint best_place() { return triple.best + uint(patch_number()); }

Best best_of_tiles_above() { return tile.x == 0 ? NOTHING : best_cells[best_place()]; }

// Every invocation calls it.
void store_best(Best mine) {
    int t = int(gl_LocalInvocationIndex);
    if (t < LANES) candidates[t] = mine;
    barrier();
    for (int half_size = LANES / 2; half_size > 0; half_size /= 2) {
        if (t < half_size) candidates[t] = better(candidates[t], candidates[t + half_size]);
        barrier();
    }
    if (t == 0) best_cells[best_place()] = in_vain ? NO_BEST : candidates[0];
}

#ifdef TABLE
layout(std430, binding = DIRECTIONS_BINDING) writeonly buffer Table {
    int table[];  // of rows from first_kept on
};

void store_cells(Lane lane, int i, Cell here[HELD]) {
    int row = i - first_kept;
    for (int x = 0; x < SIDE * SIDE; ++x) {
        int j = lane.j + x / SIDE, k = lane.k + x % SIDE;
        if (i < triple.l && j < triple.m && k < triple.n)
            table[uint((row * triple.m + j) * triple.n + k)] =
                here[(x / SIDE + 1) * ACROSS + x % SIDE + 1].h;
    }
}
#else
void store_cells(Lane lane, int i, Cell here[HELD]) {}
#endif
#ifdef DIRECTIONS
layout(std430, binding = DIRECTIONS_BINDING) writeonly buffer Directions {
    uint direction_words[];
};

void keep(uint words[WORDS], int at, int J, int K) {
    ivec3 place = sub_table(at, J, K) - ivec3(first_kept / DEEP, 0, 0);
    for (int w = 0; w < WORDS; ++w) {
        uint at = word_place(place.x, place.y, place.z, w, WORDS, columns());
        direction_words[triple.directions + at] = words[w];
    }
}
#else
void keep(uint words[WORDS], int at, int J, int K) {}
#endif
