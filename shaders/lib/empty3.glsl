// What is in the place of a side that is not there yet. PACKED sides have two values below 2^16 - 1
// in a word, others only affine gaps make negative. LINEAR and PACKED may be defined.
#if defined(PACKED) || defined(LINEAR)
const int EMPTY = -1;
#else
const int EMPTY = -0x7fffffff - 1;
#endif
