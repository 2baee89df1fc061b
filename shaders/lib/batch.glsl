// The residues of a batch of pairs; the only code that knows how they are stored: in textures, TILE
// residues per texel, one sequence per row, padded with the letter LETTERS, which matches nothing.
//   Pair pair_at(int p)                                  lengths in residues, row of the query
//   void target_residues(int p, int column, out ...)     letters of tile column `column` of pair p
//   void query_scores(Pair, int row, int letter, out ..) s(i, letter) for the rows i of a tile row
// POSITIONAL_GAPS: two letters more have what it costs in row i to open and to extend a gap;
// load_costs() brings those of a tile row, tile_costs() returns those of one of its rows.
// Needs TILE, BITS and LETTERS.
#include "lib/texel.glsl"
#include "lib/profile_size.glsl"

uniform isampler2D pairs;
uniform usampler2D targets;
uniform usampler2D query_profile;  // texel (row, query * PROFILE_LETTERS + letter)

struct Pair { int query_length, target_length, query; };

Pair pair_at(int p) {
    ivec4 texel = texelFetch(pairs, ivec2(0, p), 0);
    return Pair(texel.x, texel.y, texel.z);
}

void target_residues(int p, int column, out int letters[TILE]) {
    unpack(texelFetch(targets, ivec2(column, p), 0), letters);
}

void query_scores(Pair pair, int row, int letter, out int scores[TILE]) {
    unpack(texelFetch(query_profile, ivec2(row, pair.query * PROFILE_LETTERS + letter), 0), scores);
}

#ifdef POSITIONAL_GAPS
int row_opens[TILE], row_extends[TILE];

void load_costs(Pair pair, int row) {
    query_scores(pair, row, LETTERS + 1, row_opens);
    query_scores(pair, row, LETTERS + 2, row_extends);
}

ivec2 tile_costs(int r) { return ivec2(row_opens[r], row_extends[r]); }
#else
#define load_costs(pair, row)
#endif
