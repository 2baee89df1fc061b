// Which tile a work group computes, how many steps it may have, and which number the place has where
// it leaves its sides along an axis. With POLLING it waits for others. Needs tile3.glsl.
#if POLLING == 1
uniform ivec2 patches_at_once;
layout(std430, binding = TICKETS_BINDING) buffer Tickets { uint tickets; };
shared uint shared_ticket;
const int TRIPLES_AT_ONCE = 64, PATCHES_AT_ONCE = 8;  // measured: few wait, sides stay in the cache

// The place of a number in a table: in bands of some of its rows, column after column.
ivec2 banded(int number, int rows, ivec2 table) {
    int first = number / (rows * table.y) * rows, high = min(rows, table.x - first);
    number -= first * table.y;
    return ivec2(first + number % high, number / high);
}

// Tiles are taken in an order in which none needs a later one: those that wait do so for tiles
// that are computed, in whatever order a device starts its work groups. The same tiles of some
// triples follow one another.
void take_tile() {
    if (gl_LocalInvocationIndex == 0u) shared_ticket = atomicAdd(tickets, 1u);
    barrier();
    int patches = patches_at_once.x * patches_at_once.y, count = int(gl_NumWorkGroups.z);
    ivec2 taken = banded(int(shared_ticket), TRIPLES_AT_ONCE, ivec2(count, patches));
    triple = triples[taken.x];
    tile = ivec3(first_row, banded(taken.y, PATCHES_AT_ONCE, patches_at_once));
    tile_end = first_row + side_rows();
}

int tile_steps() { return sub_tables_in_tile(); }

int place_number(int along) { return along; }
#else
uniform int tile_rows;
uniform ivec3 wave;  // what the numbers of a tile add up to, and the first ones along j and k

void take_tile() {
    triple = triples[gl_WorkGroupID.z];
    tile.yz = wave.yz + ivec2(gl_WorkGroupID.xy);
    tile.x = first_row + (wave.x - tile.y - tile.z) * tile_rows;
    tile_end = min(tile.x + tile_rows, first_row + side_rows());
}

int tile_steps() { return tile_rows / DEEP; }

int place_number(int along) { return (tile.x - first_row) / tile_rows; }
#endif
