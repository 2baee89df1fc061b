// What the invocations find, added up in PLACES places, so that each of them is checked. Those whose
// numbers are alike in their last six bits compute the same: that is their seed.
layout(std430, binding = 0) buffer Results { int results[]; };
const uint PLACES = 4096u;

int seed() { return int(gl_GlobalInvocationID.x & 63u); }

void add_result(int found) { atomicAdd(results[gl_GlobalInvocationID.x & (PLACES - 1u)], found); }
