#version 330
// Query profile: the substitution scores of every letter against TILE query residues, one texel.
// Pixel x = tile row, y = query * (LETTERS + 1) + letter; padding letters score `padding`.
#include "lib/texel.glsl"

uniform usampler2D queries;
uniform isampler2D substitution;  // x = letter of the target, y = letter of the query
uniform int query_letters;  // from which on there is padding; positions of profiles are letters
uniform int padding;
out uvec4 scores;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int query = at.y / (LETTERS + 1), letter = at.y % (LETTERS + 1);
    int residues[TILE], s[TILE];
    unpack(texelFetch(queries, ivec2(at.x, query), 0), residues);
    for (int r = 0; r < TILE; ++r) {
        bool real = letter < LETTERS && residues[r] < query_letters;
        s[r] = real ? texelFetch(substitution, ivec2(letter, residues[r]), 0).r : padding;
    }
    scores = pack(s);
}
