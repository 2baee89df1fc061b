// H and E or F of kept rows and columns, see tiles.glsl. NARROW: both have 16 bits, in a word.
// PACKED: H has 24 bits, and 8 bits say how far E or F is below H, since no gap counts that is
// lower by 255 than one that begins here.
#ifdef NARROW
#define KEPT_VALUE int

int to_keep(ivec2 value) { return value.x << 16 | value.y & 0xffff; }

ivec2 from_kept(int word) { return ivec2(word >> 16, word << 16 >> 16); }
#elif defined(PACKED)
#define KEPT_VALUE uint

uint to_keep(ivec2 value) { return uint(value.x) << 8 | uint(min(value.x - value.y, 255)); }

ivec2 from_kept(uint word) { return int(word >> 8) - ivec2(0, word & 255u); }
#else
#define KEPT_VALUE ivec2
#define to_keep(value) value
#define from_kept(value) value
#endif

layout(std430, binding = KEPT_BINDING) buffer Kept { KEPT_VALUE kept[]; };
