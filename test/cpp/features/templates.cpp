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
template <uint32_t N, bool Up = true> uint32_t move(uint32_t x, uint32_t by = 4);
template <uint32_t N, bool Up> uint32_t move(uint32_t x, uint32_t by) { return Up ? N + x + by : N + x - by; }
struct Fetcher {
    uint32_t index = 0;
    template <typename T> T next() { return static_cast<T>(300 + 10 * index++); }
};
template <typename F> uint32_t sum(F& fetcher) { return fetcher.template next<uint8_t>() + fetcher.template next<uint32_t>(); }
struct Input {
    uint32_t cb, mode;
    constexpr bool is_first() const { return mode == 1; }
};
constexpr Input input(uint32_t cb, uint32_t mode = 0) { return Input{cb, mode}; }
template <uint32_t C> constexpr auto made = input(C, 1);
template <auto I> struct Copy {
    static constexpr uint32_t cb = I.cb;
    uint32_t go() const { if constexpr (I.is_first()) return cb + 100; else return cb; }
};
template <Input I, Input J = input(9)> uint32_t both() { return I.cb * 10 + J.cb; }
template <uint32_t N> struct Narrow { static constexpr uint32_t value = N; };
struct NoOperation { void operator()(uint32_t = 0) const {} };
template <typename T, typename = void> struct IsOperation : std::false_type {};
template <typename T>
struct IsOperation<T, std::void_t<decltype(std::declval<T>()(std::declval<uint32_t>()))>> : std::true_type {};
template <typename T> constexpr bool is_operation = IsOperation<T>::value;
constexpr uint32_t pick(bool first, const int* none = nullptr) { return first ? 7 : 8; }
template <uint32_t N> uint32_t same() { return N; }
template <typename T> bool is_plain(volatile T* pointer) { return std::is_same_v<T, uint16_t>; }
void kernel_main() {
    note(next<>(65535)); note(next<uint32_t>(65535)); note(position<Order::Down, 10>(3)); note(twice<triple>(5));
    note(width<uint64_t>()); note(width<float>());
    note(move<100>(1)); note(move<100, false>(1, 2));
    Fetcher fetcher;
    note(fetcher.next<uint8_t>()); note(sum(fetcher));
    note(Copy<made<3>>{}.go()); note(Copy<input(4)>{}.go());
    note(both<input(5)>()); note(both<made<2>, input(7, 1)>());
    note(Narrow<static_cast<uint8_t>(300)>::value); note(is_operation<NoOperation>); note(is_operation<Fetcher>);
    note(same<pick(true)>()); note(same<pick(false, nullptr)>()); note(sizeof(std::array<int, pick(false)>));
    const volatile uint16_t* watched = nullptr; note(is_plain(watched)); note(is_plain((volatile uint16_t*)watched));
}
