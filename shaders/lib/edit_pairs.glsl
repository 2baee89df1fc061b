// Pairs for edit distances in storage buffers: rows of the grid are queries, or there is one row
// and each slot has its own query. The only code that knows how they are stored.
//   EditPair edit_pair(uint slot, uint row)
//   void load_planes(EditPair, out uint planes[])   bits of the letters of a strip
//   uint target_letters(EditPair, int j)            those of columns j to j + 3, 8 bits each
//   uint plane_of(uint letters, int p)              all ones if bit p of the first is set, else 0
// Needs WORDS and PLANES.
struct EditSlot { uint query, target; int columns; };
struct EditPair {
    uint query, target;  // its number, its first word of letters
    int rows, columns;
    uint number;         // of all pairs of the buffers
};

layout(std430, binding = QUERIES_BINDING) readonly buffer Planes { uint plane_words[]; };
layout(std430, binding = ROWS_BINDING) readonly buffer Rows { int query_rows[]; };
layout(std430, binding = TARGETS_BINDING) readonly buffer Targets { uint target_words[]; };
layout(std430, binding = SLOTS_BINDING) readonly buffer Slots { EditSlot slots[]; };
uniform uint slot_count, first_row;
uniform int strip, strips;

EditPair edit_pair(uint slot, uint row) {
    EditSlot found = slots[slot];
    uint query = found.query + row;
    return EditPair(
        query, found.target, query_rows[query], found.columns, row * slot_count + slot);
}

void load_planes(EditPair pair, out uint planes[WORDS * PLANES]) {
    uint first = (pair.query * uint(strips) + uint(strip)) * uint(WORDS * PLANES);
    for (int w = 0; w < WORDS; ++w)
        for (int p = 0; p < PLANES; ++p)
            planes[w * PLANES + p] = plane_words[first + uint(w * PLANES + p)];
}

uint target_letters(EditPair pair, int j) { return target_words[pair.target + uint(j >> 2)]; }

uint plane_of(uint letters, int p) { return p < 8 ? uint(int(letters << (31 - p)) >> 31) : 0u; }

// Words of a query that lie before its first row: the first ones, so that its last row is in the
// last word.
int words_before(EditPair pair) { return strips * WORDS - ((pair.rows + 31) >> 5); }

int first_strip(EditPair pair) { return words_before(pair) / WORDS; }

// The bit of the last row of a strip.
int last_bit(EditPair pair) { return strip + 1 == strips ? (pair.rows - 1) & 31 : 31; }
