// Rows in a storage buffer, for schedules that compute one in several dispatches: of each pair H'
// (begin().h) and what the scan makes of it, for the row above and for this row by turns, and F.
// Needs nothing.
layout(std430, binding = ROWS_BINDING) buffer Rows { int values[]; };
uniform int stride;  // columns of the longest target

int h_place(uint p, int row, int j) { return (int(p) * 5 + (row & 1)) * stride + j; }
int scan_place(uint p, int turn, int j) { return (int(p) * 5 + 2 + (turn & 1)) * stride + j; }
int f_place(uint p, int j) { return (int(p) * 5 + 4) * stride + j; }
