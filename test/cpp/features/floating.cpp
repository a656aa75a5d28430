// Floating-point numbers
// `float` in single precision on every processor, `double`, conversions, constants, also hexadecimal.
constexpr float kScale = 1.0f / 3;
float mean(const float* values, uint32_t count) {
    float sum = 0;
    for (uint32_t i = 0; i < count; ++i) { sum += values[i]; }
    return sum / count;
}
template <int size> int count(const int (&)[size]) { return size; }
// An integer is compared as the number that it converts to.
void compare() {
    int n = 16777217; uint32_t u = 4294967295; int64_t b = 9223372036854775807; float f = 16777216; double d = 16777216;
    note(n == f); note(n > f); note(n != f); note(f < n); note(n == d); note(u == 4294967296.f); note(b == 9223372036854775808.); note(b < 9223372036854775808.f); if (n <= f) note(3);
    constexpr bool known = 16777217 == 16777216.f; note(known); if constexpr (16777217 > 16777216.f) note(4); int sized[16777217 == 16777216.f ? 3 : 5]; note(count(sized));
    int values[2] = {1, n}; float same[2] = {1, f}; note(std::equal(values, values + 2, same)); note(std::find(values, values + 2, f) - values); note(std::count(values, values + 2, f));
    std::optional<int> o = n; note(o == f); note(std::tuple(n, 1) == std::tuple(f, 1)); note((short)-1 < 0.f); note(n == 16777217.);
}
void kernel_main() {
    compare();
    const float values[] = {1.5f, -0.25f, 16777216.0f, 1.0f};
    note(mean(values, 4)); note(mean(values, 2) * 1000); note(kScale * 1e9f); note((int)(-kScale * 100));
    double wide = kScale; note(wide * 1e12); note(values[2] + 1 == values[2]); note(-1.5f < 0u);
    const float zero = 0.0f; note(1 / zero > 1e30f); note(zero / zero != zero / zero); note((bool)0.5f);
    note(0x1.8p3f * 10); note(-0X.C'4p-1 * 1000); note(0x1p2000 > 1e308);
}
