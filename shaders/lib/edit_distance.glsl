// Row 0, column 0, and the distance, which is in the last row. With INFIX the target's ends are
// free: row 0 has zeros, and the smallest distance of the last row counts, the first one of equals.
// Words before the first row match nothing: with column 0 as here they are like row 0.
// Needs edit_words.glsl.
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
