// The best cell so far: score, d = i + j + k, i, j. Among equal scores the smallest d wins, then
// the smallest i, then j: no column before this cell could be left out, and the result does not
// depend on the schedule. Needs DEEP and SIDE, the cells of a sub-table.
#define Best ivec4
const Best NOTHING = Best(0);

Best better(Best a, Best b) {
    bool smaller = a.y != b.y ? a.y < b.y : a.z != b.z ? a.z < b.z : a.w <= b.w;
    return (a.x != b.x ? a.x > b.x : smaller) ? a : b;
}

layout(std430, binding = BEST_BINDING) buffer BestCells { Best best_cells[]; };

// A cell of a sub-table as one number, the larger the better: H, and by how little it lies behind.
int behind(int x, int y, int z) { return ((x + y + z) * DEEP + x) * SIDE + y; }

const int NUMBERS = 256;  // more than any behind()

int as_number(int h, int x, int y, int z) { return h * NUMBERS + (NUMBERS - 1 - behind(x, y, z)); }

// From such a number of the sub-table at (i, j, k).
Best best_of(int number, int i, int j, int k) {
    int low = NUMBERS - 1 - number % NUMBERS, sum = low / (DEEP * SIDE);
    return Best(number / NUMBERS, i + j + k + sum, i + low / SIDE % DEEP, j + low % SIDE);
}
