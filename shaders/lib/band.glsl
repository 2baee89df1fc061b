// Regions of a grid that are computed at once because a path that goes back along the diagonal
// from the last of them passes through them: those on the diagonal, and after each of these the one
// above it and the one left of it. Places in the grid are (row, column).
uniform ivec2 last_region;
uniform ivec2 region_size;  // rows and columns of a region
uniform int region_count;

ivec2 place_of(int region) {
    int side = region % 3;
    return last_region - region / 3 - ivec2(side == 1 ? 1 : 0, side == 2 ? 1 : 0);
}

// The number of a region, -1 if it is not one of them.
int region_at(ivec2 place) {
    ivec2 back = last_region - place;
    int lean = back.x - back.y;
    int region = 3 * min(back.x, back.y) + (lean == 0 ? 0 : lean > 0 ? 1 : 2);
    return abs(lean) > 1 || region >= region_count ? -1 : region;
}
