// The sums of the scores in the words of two parts of a query profile.
// Needs number.glsl.
uvec4 sum_of_words(uvec4 a, uvec4 b) {
#if NUMBER == 0
    return a + b;
#elif NUMBER == 1
    for (int k = 0; k < 4; ++k) a[k] = bits(from_bits(a[k]) + from_bits(b[k]));
    return a;
#else
    if (TARGETS == 2) return floatBitsToUint(uintBitsToFloat(a) + uintBitsToFloat(b));
    for (int k = 0; k < 4; ++k) a[k] = packHalf2x16(unpackHalf2x16(a[k]) + unpackHalf2x16(b[k]));
    return a;
#endif
}
