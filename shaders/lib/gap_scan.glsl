// The gap along the row as a prefix maximum (Khajeh-Saeed et al. 2010; Lin et al. 2015, eq. 6 and
// 7). With H' = begin().h, all of a row but E, and in place of H, because a gap never opens inside
// a gap:
//   P(j) = max over k <= j of H'(k) - (j - k) * gap_extend,     E(j + 1) = P(j) - gap_open
// As H' >= 0, P >= 0: what has decayed below 0 does not count, and no difference leaves int32.
// Needs recurrence.glsl.
uniform int farthest;  // columns over which the decay still fits

int decay(int columns) {
    return columns > farthest ? 0x7fffffff : columns * gap_extend;
}

int gap_after(int p) { return extend_gap(p, border_cell().e); }
