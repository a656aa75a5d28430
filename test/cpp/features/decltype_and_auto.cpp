// Types of expressions
// `decltype`, `auto` results, trailing results, members of types with template arguments.
template <uint32_t Start> struct Args {
    static constexpr uint32_t next() { return Start + 2; }
};
auto widen(uint32_t x) -> uint64_t { return (uint64_t)x << 8; }
int unused();
void of_places() {
    int a = 1, list[2] = {3, 4}; float b = 2; int* p = list;
    decltype(a, b) c = b; c = 8; note(b); decltype(a, 3) d = 4; note(d); decltype((a)) e = a; e = 6; note(a);
    decltype(list[1]) f = list[1]; f = 9; note(list[1]); decltype(*p) g = *p; ++g; note(list[0]); decltype(e) h = e; h = 2; note(a);
    note(std::is_same_v<decltype(a, b), float&>); note(std::is_same_v<decltype(a, 3), int>); note(std::is_same_v<decltype(unused(), b), float&>);
    note(std::is_same_v<decltype((a)), int&>); note(std::is_same_v<decltype(a = 3), int&>); note(std::is_same_v<decltype(++a), int&>);
    note(std::is_same_v<decltype(a++), int>); note(std::is_same_v<decltype(a ? a : a), int&>); note(std::is_same_v<decltype(a ? a : 1), int>);
    note(std::is_same_v<decltype((void)0, a), int&>);
}
template <typename... T> auto all(T... x) -> decltype((x + ...)) { return (x + ...); }
template <typename T, typename U> auto multiply(const T& a, U b) -> decltype(a * b) { return a * b; }
template <typename T> auto first_of(T&& x) -> decltype(x[0] + 0) { return x[0]; }
auto half(uint32_t x) -> decltype(widen(x)) { return widen(x) / 2; }
struct Held { uint16_t v; auto get() -> decltype(v) { return v; } };
void of_parameters() {
    uint32_t row[2] = {4, 5}; Held held{6}; note(all(1, 2, 3)); note(2 * all(1, 2.5f)); note(2 * multiply(2, 1.25f)); note(sizeof(multiply(uint8_t(1), uint8_t(1))));
    note(first_of(row)); note(sizeof(half(1))); note(half(8)); note(sizeof(held.get())); decltype(row[0], held.v) last = held.v; last = 3; note(held.v);
}
void kernel_main() {
    constexpr auto first = Args<1>();
    constexpr auto second = Args<first.next()>();
    note(Args<decltype(second)::next()>::next());
    decltype(widen(1)) wide = widen(0x1000000);
    note(wide >> 8); note(sizeof(wide));
    of_places();
    of_parameters();
}
