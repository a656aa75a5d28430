// Values that may be missing
// `std::optional`, `std::nullopt`, `std::tie`, `std::ignore`.
std::optional<uint32_t> find(uint32_t page) {
    if (page > 3) { return std::nullopt; }
    return page * 2;
}
void kernel_main() {
    const auto found = find(3), missing = find(4);
    note(*found); note(missing.has_value()); note(missing.value_or(7));
    uint32_t low, high;
    std::tie(low, high) = std::make_pair(5u, 6u);
    std::tie(high, std::ignore) = std::make_tuple(low + 1, 2);
    note(low * 10 + high);
}
