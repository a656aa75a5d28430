// Constants
// Functions, objects, arrays and lambdas that are computed while the kernel is compiled.
constexpr uint32_t cube(uint32_t n) {
    uint32_t result = 1;
    for (uint32_t i = 0; i < 3; ++i) { result *= n; }
    return result;
}
struct Shape { uint32_t h, w; constexpr uint32_t volume() const { return h * w; } };
void kernel_main() {
    constexpr Shape shape{3, 5};
    uint32_t values[shape.volume()];
    constexpr auto squares = [] {
        std::array<uint32_t, 4> table{};
        for (uint32_t i = 0; i < 4; ++i) { table[i] = i * i; }
        return table;
    }();
    static_assert(squares[3] == 9 and cube(2) == 8);
    note(sizeof(values)); note(squares[2]);
}
