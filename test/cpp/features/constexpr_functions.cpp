// Constants
// Functions, objects, arrays and lambdas that are computed while the kernel is compiled, also through pointers to functions.
constexpr uint32_t cube(uint32_t n) {
    uint32_t result = 1;
    for (uint32_t i = 0; i < 3; ++i) { result *= n; }
    return result;
}
struct Shape { uint32_t h, w; constexpr uint32_t volume() const { return h * w; } };
constexpr uint32_t next(uint32_t x) { return x + 1; }
constexpr uint32_t twice(uint32_t x) { return x * 2; }
constexpr uint32_t (*steps[])(uint32_t) = {next, twice};
constexpr uint32_t step(uint32_t i, uint32_t x) { return steps[i](x); }
struct Added {
    uint32_t a = 4;
    constexpr uint32_t sum(uint32_t x) const { return a + x; }
};
constexpr uint32_t call(uint32_t (Added::*f)(uint32_t) const, uint32_t x) { Added added; return (added.*f)(x); }
constexpr uint32_t choose(int i) {
    struct Step { uint32_t (*f)(uint32_t); uint32_t x; };
    Step listed[] = {{next, 3}, {twice, 7}};
    uint32_t Added::* member = &Added::a; Added added;
    return listed[i].f(listed[i].x) + added.*member;
}
void kernel_main() {
    constexpr uint32_t none = 0, part = none != 0 ? 5 / none : 7; note(part); note(none == 0 ? part : part % none);
    static_assert(step(1, 5) == 10 and step(0, 5) == 6 and call(&Added::sum, 2) == 6);
    uint32_t chosen[choose(1)]; note(sizeof(chosen)); note(choose(0));
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
