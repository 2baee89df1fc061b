// Choices without conditions, of which compilers make branches: on an H100 38 of them in a step of
// sweep.glsl cost three times its cells. Needs nothing.
uint unlike(int a, int b) { return min(uint(a - b), 1u); }  // 0 if they are equal, else 1

// One of two, given `unlike`.
uint chosen(uint unlike, uint same, uint other) { return same + (other - same) * unlike; }
