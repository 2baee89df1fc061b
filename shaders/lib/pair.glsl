// The pairs of a batch in a storage buffer: lengths, and where their parts begin in other buffers.
struct Pair {
    int query_length, target_length;
    uint query, target;  // first letter in its buffer
    uint row_above;      // first column in the buffer of border rows
    uint directions;     // first word of direction bits
    uint path;           // first word of the path
    uint mask;           // first word of its mask
};

layout(std430, binding = PAIRS_BINDING) readonly buffer Pairs { Pair pairs[]; };

Pair pair_at(uint p) { return pairs[p]; }
