#version 430
// Empties the places of sides that tiles of subtable_waiting.comp will wait for, and their tickets.
layout(local_size_x = 256) in;
layout(std430, binding = SIDES_BINDING) writeonly buffer Sides { int side_words[]; };
layout(std430, binding = TICKETS_BINDING) writeonly buffer Tickets { uint tickets; };
uniform uint first_word, words;

void main() {
    uint t = gl_GlobalInvocationID.x, all = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    if (t == 0u) tickets = 0u;
    for (uint k = t; k < words; k += all) side_words[first_word + k] = EMPTY;
}
