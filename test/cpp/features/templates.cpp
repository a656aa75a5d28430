// Function templates
// Types, numbers, enumerations and functions as arguments, defaults, `if constexpr`, specialisation.
enum class Order { Up, Down };
template <typename T = uint16_t, bool Wraps = true> T next(T value) {
    if constexpr (Wraps) { return value + 1; } else { return value.has_no_such_member(); }
}
template <Order order, uint32_t N> uint32_t position(uint32_t i) { return order == Order::Up ? i : N - 1 - i; }
template <auto F> uint32_t twice(uint32_t x) { return F(F(x)); }
uint32_t triple(uint32_t x) { return 3 * x; }
template <typename T> uint32_t width() { return sizeof(T); }
template <> uint32_t width<float>() { return 132; }
struct Fetcher {
    uint32_t index = 0;
    template <typename T> T next() { return static_cast<T>(300 + 10 * index++); }
};
template <typename F> uint32_t sum(F& fetcher) { return fetcher.template next<uint8_t>() + fetcher.template next<uint32_t>(); }
void kernel_main() {
    note(next<>(65535)); note(next<uint32_t>(65535)); note(position<Order::Down, 10>(3)); note(twice<triple>(5));
    note(width<uint64_t>()); note(width<float>());
    Fetcher fetcher;
    note(fetcher.next<uint8_t>()); note(sum(fetcher));
}
