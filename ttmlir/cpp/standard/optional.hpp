// optional nullopt nullopt_t in_place in_place_t make_optional
namespace std {

struct nullopt_t {};
constexpr nullopt_t nullopt{};
struct in_place_t {};
constexpr in_place_t in_place{};

template <typename T>
struct optional {
    static_assert(
        std::is_trivially_destructible_v<T>,
        "std::optional holds no objects with destructors here; keep a flag beside the object"
    );

    bool is_set = false;
    T held;

    constexpr optional() : held(builtin_unset<T>()) {}
    constexpr optional(nullopt_t) : held(builtin_unset<T>()) {}
    constexpr optional(T value) : is_set(true), held(value) {}
    template <typename... Arguments>
    constexpr optional(in_place_t, Arguments... arguments) : is_set(true), held(arguments...) {}

    constexpr bool has_value() const { return is_set; }
    constexpr explicit operator bool() const { return is_set; }
    constexpr T& operator*() { return held; }
    constexpr const T& operator*() const { return held; }
    constexpr T* operator->() { return &held; }
    constexpr const T* operator->() const { return &held; }
    constexpr T& value() { return held; }
    constexpr const T& value() const { return held; }
    constexpr T value_or(T other) const { return is_set ? held : other; }
    constexpr void reset() { is_set = false; }
    template <typename... Arguments>
    constexpr T& emplace(Arguments... arguments) {
        is_set = true;
        held = T(arguments...);
        return held;
    }
    friend constexpr bool operator==(const optional& a, const optional& b) {
        return a.is_set == b.is_set && (!a.is_set || a.held == b.held);
    }
    friend constexpr bool operator!=(const optional& a, const optional& b) { return !(a == b); }
    friend constexpr bool operator<(const optional& a, const optional& b) {
        return b.is_set && (!a.is_set || a.held < b.held);
    }
    friend constexpr bool operator>(const optional& a, const optional& b) { return b < a; }
    friend constexpr bool operator<=(const optional& a, const optional& b) { return !(b < a); }
    friend constexpr bool operator>=(const optional& a, const optional& b) { return !(a < b); }
    friend constexpr bool operator==(const optional& a, nullopt_t) { return !a.is_set; }
    friend constexpr bool operator!=(const optional& a, nullopt_t) { return a.is_set; }
};

template <typename T>
constexpr optional<T> make_optional(T value) { return optional<T>(value); }
template <typename T, typename A, typename B, typename... More>
constexpr optional<T> make_optional(A a, B b, More... more) {
    return optional<T>(in_place, a, b, more...);
}

}  // namespace std
