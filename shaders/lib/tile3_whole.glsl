// Without POLLING a tile gets all its sides before it is computed, and stores them behind it.
// Needs tile3_places.glsl.
void begin_bringing(inout Cell batch[HELD], int helper) {
    for (int x = helper; x < j_end; x += WORKGROUP)
        if (tile.y > 0) lane_sides[x] = sides[j_in + uint(x)];
    for (int x = helper; x < k_end; x += WORKGROUP)
        if (tile.z > 0) lane_sides[K_COMING + x] = sides[k_in + uint(x)];
    for (int x = helper; x < tile_steps() * DEEP; x += WORKGROUP)
        tile_letters[x] = letter(triple.a, triple.l, tile.x + x);
}

void store_sides() {
    for (int x = int(gl_LocalInvocationIndex); x < j_end; x += WORKGROUP)
        sides[j_out + uint(x)] = lane_sides[x];
    for (int x = int(gl_LocalInvocationIndex); x < k_end; x += WORKGROUP)
        sides[k_out + uint(x)] = lane_sides[K_COMING + x];
}

void bring(inout Cell batch[HELD], int helper, int now) {}
