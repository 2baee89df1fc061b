// The sums of the scores in the words of two parts of a query profile.
// Needs number.glsl.
uvec4 sum_of_words(uvec4 a, uvec4 b) {
#if NUMBER == 0
    return a + b;
#else
    for (int k = 0; k < 4; ++k) a[k] = bits(from_bits(a[k]) + from_bits(b[k]));
    return a;
#endif
}
