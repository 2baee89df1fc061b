// POSITIONAL_GAPS: the gap costs of the rows of a lane, which the query profile has in place of scores
// with the four last letters: a word of each row, for its E and for F of the row below it. Without it
// costs stay as they are.
// Needs with POSITIONAL_GAPS query_profile.glsl, Costs (recurrence_column.glsl), and NUMBER 0.
#ifdef POSITIONAL_GAPS
void costs_at_row(out Costs costs, int r) {
    int letter = LETTERS - 3 + r % 4, place = lane_in_chain() + letter * STRIDE + r / 4 * CHAIN;
    ivec4 word = ivec4(query_profile_at(0, HEADS + place));
    costs = Costs(word.x, word.y, word.z, word.w);
}
#else
#define costs_at_row(costs, r)
#endif
