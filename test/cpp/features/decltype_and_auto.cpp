// Types of expressions
// `decltype`, `auto` results, trailing results, members of types with template arguments.
template <uint32_t Start> struct Args {
    static constexpr uint32_t next() { return Start + 2; }
};
auto widen(uint32_t x) -> uint64_t { return (uint64_t)x << 8; }
void kernel_main() {
    constexpr auto first = Args<1>();
    constexpr auto second = Args<first.next()>();
    note(Args<decltype(second)::next()>::next());
    decltype(widen(1)) wide = widen(0x1000000);
    note(wide >> 8); note(sizeof(wide));
}
