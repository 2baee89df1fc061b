#version 430
// Next to nothing: what a dispatch costs. Each needs what the one before has written.
layout(local_size_x = 1) in;

layout(std430, binding = 0) buffer Results { int results[]; };

void main() { results[0] += 1; }
