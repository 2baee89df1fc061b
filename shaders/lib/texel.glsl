// What fragment.frag and query_profile.frag keep in a texel: TILE values, one a word of 32 bits, or
// with BITS 16 two, which keep their sign. Needs TILE, BITS and LETTERS.
#if BITS == 16
int value(uvec4 texel, int k) { return int(texel[k / 2] << (16 - 16 * (k % 2))) >> 16; }

void put(inout uvec4 texel, int k, int value) {
    texel[k / 2] |= uint(value & 0xffff) << (16 * (k % 2));
}
#else
int value(uvec4 texel, int k) { return int(texel[k]); }

void put(inout uvec4 texel, int k, int value) { texel[k] = uint(value); }
#endif

// Letters of a query in its profile: those of the alphabet and one of padding, behind them with
// POSITIONAL_GAPS what it costs to open and to extend a gap, and the sum of the latter up to there.
#ifdef POSITIONAL_GAPS
const int PROFILE_LETTERS = LETTERS + 4;
#else
const int PROFILE_LETTERS = LETTERS + 1;
#endif
