// Planes of cells across i, which a tile gets from the one above it: the last ones, and those that
// are kept. Needs LANES, AGAIN (1: from a kept plane on) and tile3.glsl.
layout(std430, binding = KEPT_BINDING) buffer Kept { Side kept[]; };
uniform ivec2 kept_number;  // of the planes to begin with and to keep, -1: none

const int PLANE = ACROSS * ACROSS * LANES;

int patch_number() { return tile.y * patches().y + tile.z; }

uint plane_place(int number) {
    return uint((number * patches().x * patches().y + patch_number()) * PLANE) +
           gl_LocalInvocationIndex;
}

// What the next plane asks for of a cell, so that the rest takes no registers.
Cell in_plane(int x, Cell c) { return on_border(c, x >= ACROSS, x % ACROSS > 0); }

// The last plane of cells of the tile above, as each lane has left it, with those before them.
void load_plane(inout Cell before[HELD]) {
    for (int x = 0; x < ACROSS * ACROSS; ++x) before[x] = in_plane(x, border_cell());
    if (tile.x == 0) return;
    if (AGAIN == 1 && tile.x == first_kept) {
        uint at = triple.kept + plane_place(kept_number.x);
        for (int x = 0; x < ACROSS * ACROSS; ++x)
            before[x] = in_plane(x, from_i(kept[at + uint(x * LANES)]));
    } else {
        uint at = triple.i_sides + plane_place(0);
        for (int x = 0; x < ACROSS * ACROSS; ++x)
            before[x] = in_plane(x, from_i(sides[at + uint(x * LANES)]));
    }
}

void store_plane(Cell before[HELD]) {
    uint at = triple.i_sides + plane_place(0);
    for (int x = 0; x < ACROSS * ACROSS; ++x)
        sides[at + uint(x * LANES)] = i_side(for_side(before[x], x >= ACROSS, x % ACROSS > 0));
    if (kept_number.y < 0 || tile_end != last_row) return;
    at = triple.kept + plane_place(kept_number.y);
    for (int x = 0; x < ACROSS * ACROSS; ++x)
        kept[at + uint(x * LANES)] = i_side(for_side(before[x], x >= ACROSS, x % ACROSS > 0));
}
