// The residues of a batch of pairs; the only code that knows how they are stored: in textures, TILE
// residues per texel, one sequence per row, padded with the letter LETTERS, which matches nothing.
//   Pair pair_at(int p)                                  lengths in residues, row of the query
//   void target_residues(int p, int column, out ...)     letters of tile column `column` of pair p
//   void query_scores(Pair, int row, int letter, out ..) s(i, letter) for the rows i of a tile row
// Needs TILE and LETTERS.
#include "lib/texel.glsl"

uniform isampler2D pairs;
uniform usampler2D targets;
uniform usampler2D query_profile;  // texel (row, query * (LETTERS + 1) + letter)

struct Pair { int query_length, target_length, query; };

Pair pair_at(int p) {
    ivec4 texel = texelFetch(pairs, ivec2(0, p), 0);
    return Pair(texel.x, texel.y, texel.z);
}

void target_residues(int p, int column, out int letters[TILE]) {
    unpack(texelFetch(targets, ivec2(column, p), 0), letters);
}

void query_scores(Pair pair, int row, int letter, out int scores[TILE]) {
    unpack(texelFetch(query_profile, ivec2(row, pair.query * (LETTERS + 1) + letter), 0), scores);
}
