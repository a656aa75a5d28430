// Arrays
// Of one and more dimensions, with sizes that are computed, passed as pointers and by reference.
constexpr uint32_t rows(uint32_t tiles) { return tiles / 2; }
template <typename T, uint32_t N> constexpr uint32_t count(const T (&)[N]) { return N; }
uint32_t last(const uint32_t* values, uint32_t n) { return values[n - 1]; }
int sum_up(const uint32_t* p, int n) { int t = 0; for (int i = 0; i < n; ++i) t += p[i]; return t; }
void late_sizes(int n, int m) {
    uint32_t a[n]; for (int i = 0; i < n; ++i) a[i] = i * i; note(sum_up(a, n)); a[n - 1] += 5; note(a[n - 1]);
    uint16_t b[3][m]; for (int i = 0; i < 3; ++i) for (int j = 0; j < m; ++j) b[i][j] = 10 * i + j; note(b[2][m - 1]); note(b[1][0]); uint16_t* row = b[1]; note(row[m - 1]);
    int c[n][2]; for (int i = 0; i < n; ++i) { c[i][0] = i; c[i][1] = -i; } note(c[n - 1][1]); ++c[0][0]; note(c[0][0]);
    volatile uint32_t* ptrs[m]; ptrs[0] = &a[0]; ptrs[m - 1] = &a[n - 1]; note(*ptrs[m - 1]);
}
void kernel_main() {
    uint32_t grid[rows(4)][3] = {{1, 2, 3}, {4}};
    const uint32_t known[] = {5, 6, 7, 8};
    grid[1][2] = 9;
    for (auto& row : grid) { for (auto& value : row) { value *= 2; } }
    note(grid[0][1]); note(grid[1][2]); note(grid[1][1]); note(sizeof(grid)); note(count(known)); note(last(known, 3));
    uint32_t* place = &grid[0][1]; *place++ = 50; note(*place); note(place - grid[0]); note(grid[0][1]);
    late_sizes(3, 4); late_sizes(5, 2);
}
