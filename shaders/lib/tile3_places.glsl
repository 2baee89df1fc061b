// Places for the sides between tiles, of what lanes leave in one step, step after step. Tiles leave
// them where they got them from; with POLLING each has its own place, which is EMPTY until then. Some
// invocations, HELPERS, leave there in each step what the last lanes left in the one before.
// Needs tile3_sides.glsl.
int j_end, k_end;  // of a place
uint j_in, k_in, j_out, k_out;

void find_places() {
    ivec2 steps = tile_steps() + ivec2(LANES_K, LANES_J) - 1;
    j_end = steps.x * J_STEP;
    k_end = steps.y * K_STEP;
    int j = place_number(tile.y) * patches().y + tile.z;
    int k = place_number(tile.z) * patches().x + tile.y;
    j_out = triple.j_sides + uint(j * j_end);
    k_out = triple.k_sides + uint(k * k_end);
    j_in = j_out - uint(POLLING * patches().y * j_end);
    k_in = k_out - uint(POLLING * patches().x * k_end);
}

void pass_on(int helper, int now) {
    int j_from = (now - LANES_J) * J_STEP, k_from = (now - LANES_K) * K_STEP;
    if (uint(j_from) < uint(j_end) && tile.y + 1 < patches().x)
        for (int x = 0; x < DEEP; ++x)
            for (int w = helper; w < J_ROW; w += HELPERS)
                sides[j_out + uint(j_from + x * J_ROW + w)] =
                    lane_sides[j_between(LANES_J - 1, now - 1, x) + w];
    if (uint(k_from) < uint(k_end) && tile.z + 1 < patches().y)
        for (int x = 0; x < DEEP; ++x)
            for (int w = helper; w < K_ROW; w += HELPERS)
                sides[k_out + uint(k_from + x * K_ROW + w)] =
                    lane_sides[k_between(LANES_K - 1, now - 1, x) + w];
}
