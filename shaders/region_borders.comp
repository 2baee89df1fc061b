#version 430
// The borders of regions that blocked.comp computes at once, out of the rows and columns that were
// kept of the region around them.
layout(local_size_x = WORKGROUP) in;
#include "lib/pair.glsl"
#include "lib/band.glsl"
#include "lib/kept.glsl"

layout(std430, binding = ROW_ABOVE_BINDING) writeonly buffer RowAbove { ivec2 row_above[]; };
layout(std430, binding = COLUMN_LEFT_BINDING) writeonly buffer ColumnLeft { ivec2 column_left[]; };
uniform int row_size, column_size;  // of the part of a region in the buffers, see blocked.comp
uniform int kept_row;               // where the kept rows begin, kept_width apart
uniform int kept_column;            // where the kept columns begin, kept_height apart
uniform int kept_corner;
uniform int kept_width, kept_height;
uniform int corner_at;  // in the part of column_left

void main() {
    int region = int(gl_WorkGroupID.y), k = int(gl_GlobalInvocationID.x);
    Pair pair = pair_at(gl_WorkGroupID.y);
    ivec2 place = place_of(region), first = place * region_size;
    int row = kept_row + place.x * kept_width + first.y;
    int column = kept_column + place.y * kept_height + first.x;
    if (k < pair.target_length) row_above[region * row_size + k] = from_kept(kept[row + k]);
    if (k < pair.query_length) column_left[region * column_size + k] = from_kept(kept[column + k]);
    if (k > 0 || pair.target_length == 0) return;
    int corner = place.y > 0 ? row - 1 : place.x > 0 ? column - 1 : kept_corner;
    column_left[region * column_size + corner_at] = from_kept(kept[corner]);
}
