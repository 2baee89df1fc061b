// Where alignments of three sequences begin and end. Without WHOLE anywhere. With it an alignment
// contains at least WHOLE of them from the first letter, and at least as many to the last one: 3 in
// global, 1 in semi-global alignment. Every sequence then begins with a letter that aligns with
// none, so that its cell is that before the first letter; H is higher by `origin`, and so never 0
// inside the table. Needs NO_LETTER (triples.glsl); WHOLE may be defined.
#ifdef WHOLE
uniform int origin;

int how_many(bvec3 x) { return int(x.x) + int(x.y) + int(x.z); }

// The least H of a cell: that of an alignment which begins there, or 0.
int least_of(int a, int b, int c) {
    return how_many(equal(ivec3(a, b, c), ivec3(NO_LETTER))) >= WHOLE ? origin : 0;
}

// Whether alignments end in a cell, from the letters that are ahead of it, with its own.
bool is_end(ivec3 ahead) {
    return all(greaterThan(ahead, ivec3(0))) && how_many(equal(ahead, ivec3(1))) >= WHOLE;
}
#else
int least_of(int a, int b, int c) { return 0; }

bool is_end(ivec3 ahead) { return true; }
#endif
