#version 330
// Bytes per second that a fragment shader fetches from a small texture, 16 at a time, at places that
// differ from pixel to pixel.
#include "micro/seeds.glsl"

uniform isampler2D table;
layout(location = 0) out int result;

const int SIZE = 32, UNROLLED = 4;

void main() {
    int at = seed() * 37;
    ivec4 found = ivec4(0);
    for (int turn = 0; turn < TURNS; turn += UNROLLED) {
        for (int k = 0; k < UNROLLED; ++k) {
            int place = at + 67 * k;
            found += texelFetch(table, ivec2(place, place >> 5) & (SIZE - 1), 0);
        }
        at += 101;
    }
    result = found.x + 3 * found.y + 5 * found.z + 7 * found.w;
}
