// Arrays
// Of one and more dimensions, with sizes that are computed, passed as pointers and by reference.
constexpr uint32_t rows(uint32_t tiles) { return tiles / 2; }
template <typename T, uint32_t N> constexpr uint32_t count(const T (&)[N]) { return N; }
uint32_t last(const uint32_t* values, uint32_t n) { return values[n - 1]; }
void kernel_main() {
    uint32_t grid[rows(4)][3] = {{1, 2, 3}, {4}};
    const uint32_t known[] = {5, 6, 7, 8};
    grid[1][2] = 9;
    for (auto& row : grid) { for (auto& value : row) { value *= 2; } }
    note(grid[0][1]); note(grid[1][2]); note(grid[1][1]); note(sizeof(grid)); note(count(known)); note(last(known, 3));
    uint32_t* place = &grid[0][1]; *place++ = 50; note(*place); note(place - grid[0]); note(grid[0][1]);
}
