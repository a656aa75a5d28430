// Names for parts, loops over ranges
// `auto [a, b]` of structs, pairs, tuples and arrays; `for (x : range)` with iterators of one's own.
struct Range {
    uint32_t count;
    struct Place {
        uint32_t i;
        uint32_t operator*() const { return i; }
        Place& operator++() { ++i; return *this; }
        bool operator!=(const Place& other) const { return i != other.i; }
    };
    Place begin() const { return Place{0}; }
    Place end() const { return Place{count}; }
};
void kernel_main() {
    const auto [quotient, rest] = std::make_pair(7u / 2, 7u % 2);
    note(quotient); note(rest);
    for (auto i : Range{3}) { note(i); }
    std::array<uint32_t, 3> values = {4, 5, 6};
    for (auto& value : values) { value *= 2; }
    for (const auto value : values) { note(value); }
}
