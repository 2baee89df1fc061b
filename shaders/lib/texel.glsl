// TILE values in one texel of 32-bit words: one a word, or with BITS 16 two, which keep their sign.
// Needs TILE and BITS.
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
