// STREAM: the rows of several queries one behind another, perhaps in two streams side by side. Each
// query begins in a lane of its own, which gets no row from above. The query profile tells a lane
// where what comes from above goes on (a mask: half a word for a stream), the rows of scores of its
// two queries, and whether its next strip has others. Without it a chain has one query or two.
// Needs number.glsl, chain.glsl, lane_scores.glsl and query_profile.glsl.
#ifdef STREAM
Bits going_on;

uvec4 queries_of_lane() { return query_profile_at(0, 1 + lane_in_chain()); }

// Return the number of the strip, and what else is at the head of the profile.
uvec4 begin_strip(int slot, uint s) {
    uvec4 head = query_profile_head();
    going_on = queries_of_lane().x;
    for (uint k = uint(lane_in_chain()); s == 0u && k < head.x; k += uint(CHAIN))
        for (int result = 0; result < RESULTS; ++result)
            best_scores[place_of_score(slot, int(head.w + k), result)] = 0;
    memoryBarrierBuffer();
    barrier();
    return uvec4(s, head.yzw);
}

Border of_same_query(Border above) { return Border(above.h & going_on, above.f & going_on); }

void end_strip(int slot, inout Number best) {
    uvec4 queries = queries_of_lane();
    if (queries.w == 0u) return;
    for (int k = 0; k < RESULTS; ++k)
        atomicMax(best_scores[place_of_score(slot, int(queries[1 + k]), k)], value(best, k));
    best = number(0, 0);
}

void end_scores(int slot, Number best) {}
#else
#define begin_strip(slot, s) query_profile_head()
#define of_same_query(above) above
#define end_strip(slot, best)

void end_scores(int slot, Number best) {
    best = best_of_chain(best);
    bool again = strip_count == 1u && query_profile_head().x > 0u;
    if (lane_in_chain() == 0) store_scores(slot, best, again);
}
#endif
