// Of each block of a row its largest P behind its last column, and the carry into it: P before its
// first column.
// Needs nothing.
layout(std430, binding = CARRIES_BINDING) buffer Carries { int carries[]; };
uniform int blocks;  // of the longest target

int total_place(uint p, int block) { return int(p) * 2 * blocks + block; }
int carry_place(uint p, int block) { return (int(p) * 2 + 1) * blocks + block; }
