// Where the borders of a work group lie: in places of its own, or with PLACES, the number of work
// groups that the device has at once, in one that it takes when it begins and leaves when it ends.
// Each holds one place at most, so that one is free. Should a device have more of them at once than
// it tells, one waits for another that runs.
// Needs nothing.
layout(std430, binding = GROUPS_BINDING) readonly buffer Groups {
    uint group_borders[];  // the first of each group of targets
};
uniform uint first_border, border_stride;  // the stride from one query along y to the next

uint own_borders(int group) {
    return group_borders[group] - first_border + gl_WorkGroupID.y * border_stride;
}

#ifdef PLACES
layout(std430, binding = PLACES_BINDING) coherent buffer Places { uint taken[]; };
uniform uint place_stride;  // 0: work groups have their own
shared uint place;

uint borders_of(int group) {
    if (place_stride == 0u) return own_borders(group);
    if (gl_LocalInvocationIndex == 0u) {
        uint at = (gl_WorkGroupID.x + gl_WorkGroupID.y) * 11u % uint(PLACES);
        while (atomicExchange(taken[at], 1u) != 0u) at = at + 1u < uint(PLACES) ? at + 1u : 0u;
        place = at;
    }
    barrier();
    return place * place_stride;
}

// Behind a barrier, after which nobody of the work group reads or writes borders.
void leave_borders() {
    if (place_stride > 0u && gl_LocalInvocationIndex == 0u) atomicExchange(taken[place], 0u);
}
#else
uint borders_of(int group) { return own_borders(group); }

void leave_borders() {}
#endif
