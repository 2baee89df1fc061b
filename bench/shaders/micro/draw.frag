#version 330
// Next to nothing: what a draw costs. Each needs what the one before has drawn.
uniform isampler2D before;
uniform int number;
layout(location = 0) out int after;

void main() { after = texelFetch(before, ivec2(gl_FragCoord.xy), 0).r + number; }
