// Storage buffers of words of 16 bytes. An invocation has EACH of them, a work group those that lie
// together; behind the last word comes the first one again.
layout(std430, binding = 1) buffer Source { uvec4 source[]; };
layout(std430, binding = 2) buffer Destination { uvec4 destination[]; };
uniform int shift;
uniform int words;  // a power of two

int place(int k) {
    int first = (int(gl_WorkGroupID.x) * EACH + k) * WORKGROUP;
    return first + int(gl_LocalInvocationIndex) & words - 1;
}
