// The rows of queries one behind another, perhaps in two streams side by side. Each query begins in
// a lane of its own, which gets no row from above. The query profile tells a lane where what comes
// from above goes on (a mask: half a word for a stream), the rows of scores of its two queries, and
// whether these end with this strip.
// Needs number.glsl, chain.glsl, lane_scores.glsl and query_profile.glsl.
Bits going_on;

// Begin strip s, and return its number, and what else is at the head of the profile.
uvec4 begin_strip(int slot, uint s) {
    uvec4 head = query_profile_head();
    going_on = queries_of_lane().x;
    if (s == 0u) {
        for (uint k = uint(lane_in_chain()); k < head.x; k += uint(CHAIN))
            for (int result = 0; result < RESULTS; ++result)
                best_scores[place_of_score(slot, int(head.w + k), result)] = 0;
        if (CHAIN > 1) {  // llvmpipe keeps all that lives across a barrier in memory
            memoryBarrierBuffer();
            barrier();
        }
    }
    return uvec4(s, head.yzw);
}

#if QUERY_PROFILE < 2  // of one strip in a dispatch, which has one query or two
#define of_same_query(above) above
#else
Border of_same_query(Border above) { return Border(above.h & going_on, above.f & going_on); }
#endif

void end_strip(int slot, inout Number best) {
    uvec4 queries = queries_of_lane();
    if (queries.w == 0u) return;
    for (int k = 0; k < RESULTS; ++k)
        atomicMax(best_scores[place_of_score(slot, int(queries[1 + k]), k)], value(best, k));
    best = number(0, 0);
}

void end_scores(int slot, Number best) {}
