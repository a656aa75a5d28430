// Standard library
// `array`, `pair`, `tuple`, `apply`, `min`, `max`, `swap`, `exchange`, traits and integer sequences.
template <typename T, size_t N> constexpr uint32_t sum(const std::array<T, N>& values) {
    uint32_t total = 0;
    for (const auto& value : values) { total += value; }
    return total;
}
template <size_t... I> uint32_t digits(std::index_sequence<I...>) { return ((1 << I) + ...); }
void kernel_main() {
    constexpr std::array<uint32_t, 3> values{7, 8, 9};
    static_assert(sum(values) == 24 and values.size() == 3);
    std::pair<uint32_t, int> pair{3, -1};
    auto tuple = std::make_tuple(1u, 2u, 4u);
    std::swap(pair.first, std::get<2>(tuple));
    note(pair.first); note(std::get<2>(tuple)); note(std::exchange(pair.second, 5)); note(pair.second);
    note(std::apply([](auto... x) { return (x + ...); }, tuple)); note(digits(std::make_index_sequence<5>{}));
    note(std::min<uint32_t>(4, values[0])); note(std::max(-1, 1)); note(std::is_same_v<decltype(pair.first), uint32_t>);
    std::conditional_t<(sizeof(pair) > 4), uint8_t, uint32_t> narrow = 300; note(narrow);
}
