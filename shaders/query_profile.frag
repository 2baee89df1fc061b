#version 330
// Query profile: the substitution scores of every letter against TILE query residues, one texel,
// from the substitution matrix in a texture (Liu et al. 2006, section 5).
// Pixel x = tile row, y = query * PROFILE_LETTERS + letter. Padding scores `padding`, but costs of
// gaps are 0 below the query.
#include "lib/texel.glsl"

uniform usampler2D queries;
uniform isampler2D substitution;  // x = letter, or behind all one of the costs; y = query letter
uniform int query_letters;        // from which on there is padding; positions of profiles are letters
uniform int padding;
out uvec4 scores;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int query = at.y / PROFILE_LETTERS, letter = at.y % PROFILE_LETTERS;
    int x = letter - int(letter > LETTERS);  // the texture has no padding
    uvec4 residues = texelFetch(queries, ivec2(at.x, query), 0);
    scores = uvec4(0u);
    for (int r = 0; r < TILE; ++r) {
        int residue = value(residues, r), score = letter > LETTERS ? 0 : padding;
        if (letter != LETTERS && residue < query_letters)
            score = texelFetch(substitution, ivec2(x, residue), 0).r;
        put(scores, r, score);
    }
}
