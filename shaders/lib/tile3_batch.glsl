// A batch of sides that a helper has asked for, as they are, where lanes have a plane of cells: all
// invocations of a work group have as many registers as those that need the most. Needs cube.glsl.
#ifdef LINEAR
Cell as_cell(Side s) { return Cell(s); }

Side as_side(Cell c) { return c.h; }
#else
#ifdef PACKED
Cell as_cell(Side s) { return Cell(s.x, s.y, 0, 0, 0, 0, 0); }

Side as_side(Cell c) { return Side(c.h, c.ab); }
#else
Cell as_cell(Side s) { return Cell(s.x, s.y, s.z, 0, s.w, 0, 0); }

Side as_side(Cell c) { return Side(c.h, c.ab, c.ac, c.a); }
#endif
#endif
