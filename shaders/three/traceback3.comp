#version 430
// Traceback of three sequences on the device (Sudo et al. 2012, section 3), an invocation per
// triple: from the best cell along the bits of directions3.glsl to where H is 0. It writes runs of
// equal columns, the last one first. A trace pauses above the first sub-table that has directions,
// and after MAX_STEPS columns. With MASKED it forbids the cells in which columns of two or three
// letters end, for the next alignment.
layout(local_size_x = 32) in;
#include "three/lib/triples.glsl"
#include "three/lib/directions3.glsl"

struct Trace { int i, j, k, column; uint run, runs, over, pad; };  // letters ahead; column: 0 in H

layout(std430, binding = TRACES_BINDING) buffer Traces { Trace traces[]; };
layout(std430, binding = PATHS_BINDING) writeonly buffer Paths { uint paths[]; };
layout(std430, binding = DIRECTIONS_BINDING) readonly buffer Directions { uint direction_words[]; };
layout(std430, binding = MASKS_BINDING) buffer Masks { uint mask_words[]; };
uniform int triple_count;
uniform int first_sub_table;  // along i

const int MASK_WORDS = (CELLS + 31) / 32;
const ivec3 SIZE = ivec3(DEEP, SIDE, SIDE);
const int MAX_STEPS = 20000;

uint word_at(uint first, ivec3 place, ivec2 count, int word) {
    return direction_words[first + word_place(place.x, place.y, place.z, word, WORDS, count)];
}

uint bits_at(uint first, ivec3 place, ivec2 count, int bit) {
    int word = bit >> 5, shift = bit & 31;
    uint low = word_at(first, place, count, word) >> shift;
    if (shift + BITS > 32) low |= word_at(first, place, count, word + 1) << (32 - shift);
    return low & ((1u << BITS) - 1u);
}

void forbid(uint first, ivec3 place, ivec2 count, int number, int column) {
    if (MASKED == 1 && (column & (column - 1)) != 0)
        mask_words[first + word_place(place.x, place.y, place.z, number >> 5, MASK_WORDS, count)] |=
            1u << (number & 31);
}

void main() {
    uint p = gl_GlobalInvocationID.x;
    if (p >= uint(triple_count)) return;
    Triple triple = triples[p];
    Trace trace = traces[p];
    ivec2 across = ivec2(LANES_J, LANES_K) * SIDE;
    ivec2 count = (ivec2(triple.m, triple.n) + across - 1) / across * ivec2(LANES_J, LANES_K);
    for (int step_ = 0; step_ < MAX_STEPS && trace.over == 0u; ++step_) {
        ivec3 at = ivec3(trace.i, trace.j, trace.k) - 1, place = at / SIZE, cell_ = at % SIZE;
        bool outside = at.x < 0 || at.y < 0 || at.z < 0;
        if (!outside && place.x < first_sub_table) break;
        uint bits = 0u;
        int number = (cell_.x * SIDE + cell_.y) * SIDE + cell_.z;
        ivec3 here = place - ivec3(first_sub_table, 0, 0);
        if (!outside) bits = bits_at(triple.directions, here, count, number * BITS);
        int pending = trace.column < 0 ? column_before(-trace.column, bits) : trace.column;
        int column = pending == 0 ? int(bits & 7u) : pending;
        if (column == 0) {
            trace.over = 1u;
            break;
        }
        forbid(triple.mask, place, count, number, column);
        if (trace.run > 0u && (trace.run & 7u) != uint(column)) {
            paths[triple.path + trace.runs++] = trace.run;
            trace.run = 0u;
        }
        trace.run = (trace.run & ~7u) + 8u | uint(column);
        trace.i -= column & 1;
        trace.j -= column >> 1 & 1;
        trace.k -= column >> 2 & 1;
        trace.column = column == 7 ? 0 : -column;
    }
    if (trace.over == 1u && trace.run > 0u) {
        paths[triple.path + trace.runs++] = trace.run;
        trace.run = 0u;
    }
    traces[p] = trace;
}
