// The last row of a strip, H and F of each column, which the next strip takes as the row above it.
// The chains of a work group have theirs side by side. Needs Border (chain.glsl) and STEP.
layout(std430, binding = BORDERS_BINDING) coherent buffer Borders { Border borders[]; };

Border[STEP] load_borders(uint first, int step, int chains) {
    Border above[STEP];
    for (int c = 0; c < STEP; ++c) above[c] = borders[first + uint((step * STEP + c) * chains)];
    return above;
}

void store_borders(uint first, int step, int chains, Border below[STEP]) {
    for (int c = 0; c < STEP; ++c) borders[first + uint((step * STEP + c) * chains)] = below[c];
}
