// Standard library
// `array`, `pair`, `tuple`, `apply`, `invoke`, `min`, `max`, `swap`, `exchange`, traits and integer sequences.
template <typename T, size_t N> constexpr uint32_t sum(const std::array<T, N>& values) {
    uint32_t total = 0;
    for (const auto& value : values) { total += value; }
    return total;
}
template <uint32_t... I> uint32_t last(std::integer_sequence<uint32_t, I...>) { return (I, ...); }
template <size_t... I> uint32_t digits(std::index_sequence<I...>) { return ((1 << I) + ...); }
template <typename... T> bool are_words(T...) { const bool has_char = std::disjunction_v<std::is_same<T, char>...>; return has_char ? false : std::conjunction_v<std::is_same<T, uint32_t>...>; }
struct Adder { int k; int add(int x) const { return k + x; } int plus(int a, int b) { k += a; return k + b; } };
int twice(int x) { return 2 * x; }
struct Times { int operator()(int a, int b) const { return a * b; } };
template <typename F, typename... A> auto run(F&& f, A&&... a) { return std::invoke(std::forward<F>(f), std::forward<A>(a)...); }
void invoke_all() {
    Adder m{5}; note(std::invoke(twice, 4)); note(std::invoke([](int a, int b) { return a - b; }, 9, 4)); note(std::invoke(Times{}, 3, 4));
    note(std::invoke(&Adder::add, m, 3)); note(std::invoke(&Adder::add, &m, 4)); note(std::invoke(&Adder::plus, m, 3, 1)); note(m.k);
    note(std::invoke(&Adder::k, m)); std::invoke(&Adder::k, m) = 40; note(m.k);
    note(run(twice, 5)); note(run(&Adder::add, m, 1)); note(run(Times{}, 5, 5)); note(std::apply(Times{}, std::make_pair(6, 7)));
    note(std::is_invocable_v<Times, int, int>); note(std::is_invocable_v<Times, Adder>); std::invoke_result_t<Times, int, int> r = 5; note(r);
}
void kernel_main() {
    constexpr std::array<uint32_t, 3> values{7, 8, 9};
    static_assert(sum(values) == 24 and values.size() == 3);
    std::pair<uint32_t, int> pair{3, -1};
    std::pair<int, uint8_t> ordered[] = {{1, 3}, {1, 2}, {-4, 9}, {1, 2}};
    for (auto& a : ordered) for (auto& b : ordered) { note(a < b); note(a > b); note(a <= b); note(a >= b); note(a != b); }
    std::pair<short, float> converted(ordered[2]); note(converted.first); converted = std::pair(7, 2); note(converted.first); ordered[0].swap(ordered[2]); note(ordered[0].first);
    auto tuple = std::make_tuple(1u, 2u, 4u);
    std::swap(pair.first, std::get<2>(tuple));
    note(pair.first); note(std::get<2>(tuple)); note(std::exchange(pair.second, 5)); note(pair.second);
    note(std::apply([](auto... x) { return (x + ...); }, tuple)); note(digits(std::make_index_sequence<5>{})); note(last(std::make_integer_sequence<uint32_t, 4>{}));
    note(std::min<uint32_t>(4, values[0])); note(std::max(-1, 1)); note(std::is_same_v<decltype(pair.first), uint32_t>);
    note(are_words(1u, 2u)); note(are_words(1u, 'a')); note(std::negation_v<std::false_type>);
    std::conditional_t<(sizeof(pair) > 4), uint8_t, uint32_t> narrow = 300; note(narrow);
    int four = 4; note(std::max({1, four, 3})); note(std::min({5, four, 9})); constexpr int eight = std::max({2, 8, 5}); note(eight); note((int) (std::min<float>({1, 0.5f}) * 4));
    invoke_all();
}
