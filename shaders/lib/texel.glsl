// What fragment.frag and query_profile.frag keep in a texel: TILE values, one a word of 32 bits, or
// with BITS 16 two, which keep their sign. Needs TILE, BITS and LETTERS.
#if BITS == 16
void unpack(uvec4 texel, out int values[TILE]) {
    for (int k = 0; k < TILE; k += 2) {
        values[k] = int(texel[k / 2] << 16) >> 16;
        values[k + 1] = int(texel[k / 2]) >> 16;
    }
}

uvec4 pack(int values[TILE]) {
    uvec4 texel = uvec4(0u);
    for (int k = 0; k < TILE; k += 2)
        texel[k / 2] = uint(values[k] & 0xffff) | uint(values[k + 1] << 16);
    return texel;
}
#else
void unpack(uvec4 texel, out int values[TILE]) {
    for (int k = 0; k < TILE; ++k) values[k] = int(texel[k]);
}

uvec4 pack(int values[TILE]) {
    uvec4 texel = uvec4(0u);
    for (int k = 0; k < TILE; ++k) texel[k] = uint(values[k]);
    return texel;
}
#endif

int last_of(uvec4 texel) {
    int values[TILE];
    unpack(texel, values);
    return values[TILE - 1];
}

// Letters of a query in its profile: those of the alphabet and one of padding, behind them with
// POSITIONAL_GAPS what it costs to open and to extend a gap.
#ifdef POSITIONAL_GAPS
const int PROFILE_LETTERS = LETTERS + 3;
#else
const int PROFILE_LETTERS = LETTERS + 1;
#endif
