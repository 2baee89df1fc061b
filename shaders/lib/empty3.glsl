// What is in the place of a side that is not there yet: no side has it, as no H is negative, and of
// several values in a word one at least is below its highest (cube.glsl). LINEAR and PACKED may be defined.
#if defined(PACKED) || defined(LINEAR)
const int EMPTY = -1;
#else
const int EMPTY = -0x7fffffff - 1;
#endif
