#version 330
// Query profile: the substitution scores of every letter against TILE query residues, one texel.
// Pixel x = tile row, y = query * PROFILE_LETTERS + letter; padding letters score `padding`.
#include "lib/texel.glsl"
#include "lib/profile_size.glsl"

uniform usampler2D queries;
// x = letter of the target, behind them gap costs, y = letter of the query
uniform isampler2D substitution;
uniform int query_letters;  // from which on there is padding; positions of profiles are letters
uniform int padding;
out uvec4 scores;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int query = at.y / PROFILE_LETTERS, letter = at.y % PROFILE_LETTERS;
    int residues[TILE], s[TILE];
    unpack(texelFetch(queries, ivec2(at.x, query), 0), residues);
    for (int r = 0; r < TILE; ++r) {
        bool real = is_real(letter) && residues[r] < query_letters;
        s[r] = real ? texelFetch(substitution, ivec2(column_of(letter), residues[r]), 0).r
                    : below_query(letter);
    }
    scores = pack(s);
}
