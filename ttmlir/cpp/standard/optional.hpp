// optional nullopt nullopt_t in_place in_place_t make_optional
namespace std {

struct nullopt_t {};
constexpr nullopt_t nullopt{};
struct in_place_t {};
constexpr in_place_t in_place{};

template <
    typename T,
    bool plain = std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> &&
                 std::is_copy_assignable_v<T>>
struct optional {
    bool is_set = false;
    T held;

    constexpr optional() : held(builtin_unset<T>()) {}
    constexpr optional(nullopt_t) : held(builtin_unset<T>()) {}
    constexpr optional(T value) : is_set(true), held(value) {}
    template <typename... Arguments>
    constexpr optional(in_place_t, Arguments... arguments) : is_set(true), held(arguments...) {}

    constexpr bool has_value() const { return is_set; }
    constexpr explicit operator bool() const { return is_set; }
    constexpr T& operator*() & { return held; }
    constexpr const T& operator*() const& { return held; }
    constexpr T&& operator*() && { return std::move(held); }
    constexpr T* operator->() { return &held; }
    constexpr const T* operator->() const { return &held; }
    constexpr T& value() & { return held; }
    constexpr const T& value() const& { return held; }
    constexpr T&& value() && { return std::move(held); }
    constexpr T value_or(T other) const { return is_set ? held : other; }
    constexpr void reset() { is_set = false; }
    constexpr void swap(optional& other) { std::swap(*this, other); }
    template <typename... Arguments>
    constexpr T& emplace(Arguments... arguments) {
        is_set = true;
        held = T(arguments...);
        return held;
    }
};

// Of objects that are copied, moved or ended by functions of their own, or never assigned to.
template <typename T>
struct optional<T, false> {
    union Place {
        T value;
        Place() {}
        ~Place() {}
    };

    template <typename U>
    static constexpr bool is_other = !std::is_same_v<U, T> && !std::is_same_v<U, optional> &&
                                     !std::is_same_v<U, nullopt_t> && !std::is_same_v<U, in_place_t>;

    bool is_set = false;
    Place held;

    optional() {}
    optional(nullopt_t) {}
    optional(const optional& other) {
        if (other.is_set) emplace(other.held.value);
    }
    optional(optional&& other) {
        if (other.is_set) emplace(std::move(other.held.value));
    }
    optional(const T& value) { emplace(value); }
    optional(T&& value) { emplace(std::move(value)); }
    template <typename U, typename = std::enable_if_t<is_other<std::decay_t<U>>>>
    optional(U&& value) { emplace(std::forward<U>(value)); }
    template <typename... Arguments>
    optional(in_place_t, Arguments&&... arguments) { emplace(std::forward<Arguments>(arguments)...); }
    ~optional() { reset(); }

    optional& operator=(const optional& other) {
        if (!other.is_set) reset();
        else if (is_set) held.value = other.held.value;
        else emplace(other.held.value);
        return *this;
    }
    optional& operator=(optional&& other) {
        if (!other.is_set) reset();
        else if (is_set) held.value = std::move(other.held.value);
        else emplace(std::move(other.held.value));
        return *this;
    }
    optional& operator=(nullopt_t) { reset(); return *this; }
    optional& operator=(const T& value) {
        if (is_set) held.value = value;
        else emplace(value);
        return *this;
    }
    optional& operator=(T&& value) {
        if (is_set) held.value = std::move(value);
        else emplace(std::move(value));
        return *this;
    }
    template <typename U, typename = std::enable_if_t<is_other<std::decay_t<U>>>>
    optional& operator=(U&& value) {
        if (is_set) held.value = T(std::forward<U>(value));
        else emplace(std::forward<U>(value));
        return *this;
    }

    bool has_value() const { return is_set; }
    explicit operator bool() const { return is_set; }
    T& operator*() & { return held.value; }
    const T& operator*() const& { return held.value; }
    T&& operator*() && { return std::move(held.value); }
    T* operator->() { return &held.value; }
    const T* operator->() const { return &held.value; }
    T& value() & { return held.value; }
    const T& value() const& { return held.value; }
    T&& value() && { return std::move(held.value); }
    template <typename U>
    T value_or(U&& other) const& {
        if (is_set) return held.value;
        return static_cast<T>(std::forward<U>(other));
    }
    template <typename U>
    T value_or(U&& other) && {
        if (is_set) return std::move(held.value);
        return static_cast<T>(std::forward<U>(other));
    }
    void reset() {
        if (!is_set) return;
        is_set = false;
        held.value.~T();
    }
    void swap(optional& other) {
        if (is_set && other.is_set) {
            std::swap(held.value, other.held.value);
        } else if (is_set) {
            other.emplace(std::move(held.value));
            reset();
        } else if (other.is_set) {
            other.swap(*this);
        }
    }
    template <typename... Arguments>
    T& emplace(Arguments&&... arguments) {
        reset();
        new (&held.value) T(std::forward<Arguments>(arguments)...);
        is_set = true;
        return held.value;
    }
};

// What is in one is compared with what is in another one, or with a value.
template <typename T, bool p, typename U, bool q>
constexpr bool operator==(const optional<T, p>& a, const optional<U, q>& b) {
    return a.has_value() == b.has_value() && (!a.has_value() || *a == *b);
}
template <typename T, bool p, typename U, bool q>
constexpr bool operator!=(const optional<T, p>& a, const optional<U, q>& b) { return !(a == b); }
template <typename T, bool p, typename U, bool q>
constexpr bool operator<(const optional<T, p>& a, const optional<U, q>& b) {
    return b.has_value() && (!a.has_value() || *a < *b);
}
template <typename T, bool p, typename U, bool q>
constexpr bool operator>(const optional<T, p>& a, const optional<U, q>& b) { return b < a; }
template <typename T, bool p, typename U, bool q>
constexpr bool operator<=(const optional<T, p>& a, const optional<U, q>& b) { return !(b < a); }
template <typename T, bool p, typename U, bool q>
constexpr bool operator>=(const optional<T, p>& a, const optional<U, q>& b) { return !(a < b); }

template <typename T, bool p, typename U>
constexpr bool operator==(const optional<T, p>& a, const U& b) { return a.has_value() && *a == b; }
template <typename T, bool p, typename U>
constexpr bool operator!=(const optional<T, p>& a, const U& b) { return !a.has_value() || !(*a == b); }
template <typename T, bool p, typename U>
constexpr bool operator<(const optional<T, p>& a, const U& b) { return !a.has_value() || *a < b; }
template <typename T, bool p, typename U>
constexpr bool operator>(const optional<T, p>& a, const U& b) { return a.has_value() && b < *a; }
template <typename T, bool p, typename U>
constexpr bool operator<=(const optional<T, p>& a, const U& b) { return !a.has_value() || !(b < *a); }
template <typename T, bool p, typename U>
constexpr bool operator>=(const optional<T, p>& a, const U& b) { return a.has_value() && !(*a < b); }
template <typename T, bool p, typename U>
constexpr bool operator==(const U& a, const optional<T, p>& b) { return b == a; }
template <typename T, bool p, typename U>
constexpr bool operator!=(const U& a, const optional<T, p>& b) { return b != a; }
template <typename T, bool p, typename U>
constexpr bool operator<(const U& a, const optional<T, p>& b) { return b > a; }
template <typename T, bool p, typename U>
constexpr bool operator>(const U& a, const optional<T, p>& b) { return b < a; }
template <typename T, bool p, typename U>
constexpr bool operator<=(const U& a, const optional<T, p>& b) { return b >= a; }
template <typename T, bool p, typename U>
constexpr bool operator>=(const U& a, const optional<T, p>& b) { return b <= a; }
template <typename T, bool p>
constexpr bool operator==(const optional<T, p>& a, const nullopt_t&) { return !a.has_value(); }
template <typename T, bool p>
constexpr bool operator!=(const optional<T, p>& a, const nullopt_t&) { return a.has_value(); }
template <typename T, bool p>
constexpr bool operator==(const nullopt_t&, const optional<T, p>& b) { return !b.has_value(); }
template <typename T, bool p>
constexpr bool operator!=(const nullopt_t&, const optional<T, p>& b) { return b.has_value(); }

template <typename T>
constexpr optional<T> make_optional(T value) { return optional<T>(value); }
template <typename T, typename A, typename B, typename... More>
constexpr optional<T> make_optional(A a, B b, More... more) {
    return optional<T>(in_place, a, b, more...);
}

}  // namespace std
