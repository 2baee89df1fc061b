// Where a query profile is (QUERY_PROFILE, from 1, see query_profile.glsl): load_query_profile()
// makes a strip of it ready, query_profile_at() returns a word of it, for one of the targets.
// Needs query_profile_layout.glsl and WORKGROUP.
#if QUERY_PROFILE == 1
layout(std140, binding = QUERY_PROFILE_BINDING) uniform QueryProfile { uvec4 query_profile[SIZE]; };

void load_query_profile(int slot, int strip) {}

uvec4 query_profile_at(int target, int k) { return query_profile[k]; }
#else
layout(std430, binding = QUERY_PROFILE_BINDING) readonly buffer QueryProfile {
    uvec4 query_profile[];
};
#if QUERY_PROFILE == 2
shared uvec4 strip_query_profile[SIZE];

void load_query_profile(int slot, int strip) {
    barrier();
    for (int k = int(gl_LocalInvocationIndex); k < SIZE; k += WORKGROUP)
        strip_query_profile[k] = query_profile[strip * SIZE + k];
    barrier();
}

uvec4 query_profile_at(int target, int k) { return strip_query_profile[k]; }
#else
int first_word;

void load_query_profile(int slot, int strip) { first_word = strip * SIZE; }

uvec4 query_profile_at(int target, int k) { return query_profile[first_word + k]; }
#endif
#endif
