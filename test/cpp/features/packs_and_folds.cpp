// Parameter packs
// Variadic templates, expansions, `sizeof...` and folds.
template <typename... T> uint32_t sum(T... values) { return (values + ... + 0u); }
template <uint32_t... Digits> uint32_t join() {
    uint32_t number = 0;
    ((number = number * 10 + Digits), ...);
    return number;
}
template <typename... T> uint32_t count(T...) { return sizeof...(T); }
template <typename... T> struct Sizes { static constexpr uint32_t of[] = {sizeof(T)...}; };
template <size_t... Is, typename... T> uint32_t weigh(std::index_sequence<Is...>, T... values) {
    return ((values * Sizes<T...>::of[Is] * sizeof...(T)) + ...);
}
template <typename...> struct List {};
template <typename L> struct Length;
template <typename... T> struct Length<List<T...>> { static constexpr uint32_t value = sizeof...(T); };
struct OfInt { int operator()(int x) const { return x + 1; } int name(char) { return 1; } };
struct OfOne { int n; explicit OfOne(int n) : n(n) {} };
struct OfBool { int operator()(bool x) const { return x ? 70 : 71; } int name(bool) { return 2; } };
template <typename... F> struct Overloads : F... { using F::operator()...; };
template <typename... F> struct Names : F... { using F::operator()...; using F::name...; };
template <typename... F> Overloads<F...> overload(F... f) { return Overloads<F...>{f...}; }
template <typename... T> struct Branch {
    std::tuple<T...> elements;
    constexpr explicit Branch(T... given) noexcept : elements(given...) {}
    uint32_t add(T... more) const { return (more + ... + std::get<0>(elements)); }
};
template <typename... T> struct Twice : Branch<T...> {
    uint32_t more;
    explicit Twice(T... given) : Branch<T...>(given...), more(5) {}
};
struct Held { int n = 7; };
struct Unnamed { std::tuple<Held, int> held; uint32_t x; explicit Unnamed(uint32_t x) : x(x) {} };
struct Derived : Unnamed { Derived() : Unnamed(3) {} };
template <typename... T> auto make_branches(T... given) {
    using One = Branch<T...>;
    return std::tuple<One>{One{given...}};
}
void kernel_main() {
    auto single = make_branches(41u); note(std::get<0>(std::get<0>(single).elements)); note(std::get<0>(single).add(2));
    auto one = make_branches(OfOne(8), 9); note(std::get<0>(std::get<0>(one).elements).n);
    Twice<OfOne> twice(OfOne(6)); note(std::get<0>(twice.elements).n + twice.more);
    Derived derived; note(std::get<0>(derived.held).n + std::get<1>(derived.held) + derived.x);
    auto pair = make_branches(7u, OfInt{}); note(std::get<1>(std::get<0>(pair).elements)(9));
    note(Branch<uint32_t, int>(5u, 6).add(1u, 2)); note(std::get<0>(std::tuple<OfInt>(OfInt{}))(30));
    std::tuple<int> narrow(3); std::tuple<long> wide(narrow); note(std::get<0>(wide));
    note(weigh(std::make_index_sequence<3>{}, 3u, uint8_t(5), uint16_t(7)));
    note(sum(1u, 2u, 3u)); note(sum()); note(join<4, 0, 7>()); note(count(1, 2.0f, 'c'));
    note(Length<List<uint8_t, int, float>>::value); note(Length<List<>>::value);
    Names<OfInt, OfBool> names; note(names(3)); note(names(true)); note(names.name('a')); note(names.name(false));
    auto both = overload([](int x) { return x * 3; }, [](float y) { return (int) y; }); note(both(4)); note(both(2.5f));
}
