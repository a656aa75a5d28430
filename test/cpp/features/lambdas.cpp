// Lambdas
// Captures by value and by reference, initial values, generic parameters, calls at once.
template <typename F> void repeat(uint32_t n, F&& f) {
    for (uint32_t i = 0; i < n; ++i) { f(i); }
}
void kernel_main() {
    uint32_t total = 0;
    repeat(5, [&](uint32_t i) { total += i; });
    auto add = [total, scale = 3](auto x) { return x * scale + total; };
    note(total); note(add(2u)); note([](uint32_t x) { return x + 1; }(4));
}
