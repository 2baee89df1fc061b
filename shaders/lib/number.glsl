// The number type of a lane; this include comes first, because of its extensions.
//   NUMBER 0  a 32-bit integer: one target per lane
//   NUMBER 1  a pair of 16-bit floats: two targets, or TWO_QUERIES; exact below LIMIT
//   NUMBER 2  the same in registers of 32 bits, where 16-bit floats do not exist; with MEDIUMP, in
//             a shader of OpenGL ES, the compiler may choose 16 bits
// A float is a score / LIMIT, so that a difference with a floor of 0 is a saturating one, which
// costs nothing; scores from LIMIT on may be wrong. Bits are what is kept and shuffled.
// Needs NUMBER.
#define Bits uint
#if NUMBER == 0
#define Number int
const int TARGETS = 1, RESULTS = 1, LOWEST = -(1 << 30);

Number number(int a, int b) { return a; }

int value(Number x, int k) { return x; }

Number sum(Number x, Number y) { return x + y; }

#ifdef GLOBAL_MODE
Number floored(Number x) { return x; }
#else
Number floored(Number x) { return max(x, 0); }
#endif

Number reduced(Number x, Number cost) { return x - cost; }

Bits bits(Number x) { return uint(x); }

Number from_bits(Bits x) { return int(x); }
#else
#if NUMBER == 1
#extension GL_NV_gpu_shader5 : enable
#extension GL_AMD_gpu_shader_half_float : enable
#define Number f16vec2
#define Half float16_t
#define bits(x) packFloat2x16(x)
#define from_bits(x) unpackFloat2x16(x)
#else
#ifdef MEDIUMP
precision mediump float;
#endif
#define Number vec2
#define Half float
#define bits(x) packHalf2x16(x)
#define from_bits(x) unpackHalf2x16(x)
#endif
#ifdef TWO_QUERIES
const int TARGETS = 1, RESULTS = 2;
#else
const int TARGETS = 2, RESULTS = 2;
#endif
const int LIMIT = 2048, LOWEST = -2 * LIMIT;

Number number(int a, int b) {
    highp vec2 x = vec2(a, b);  // which may be beyond 16 bits
    return Number(x / float(LIMIT));
}

int value(Number x, int k) {
    highp float y = float(x[k]);
    return int(y * float(LIMIT));
}

Number sum(Number x, Number y) { return x + y; }

#ifdef GLOBAL_MODE
Number reduced(Number x, Number cost) { return x - cost; }
#else
Number reduced(Number x, Number cost) { return clamp(x - cost, Half(0), Half(1)); }
#endif

Number floored(Number x) { return x; }
#endif
