// pair make_pair swap exchange integer_sequence index_sequence make_integer_sequence make_index_sequence index_sequence_for
namespace std {

template <typename A, typename B>
struct pair {
    A first;
    B second;

    constexpr pair() : first{}, second{} {}
    constexpr pair(const A& a, const B& b) : first(a), second(b) {}
    template <typename X, typename Y>
    constexpr pair(X&& a, Y&& b) : first(std::forward<X>(a)), second(std::forward<Y>(b)) {}
    template <typename X, typename Y>
    constexpr pair(const pair<X, Y>& other) : first(other.first), second(other.second) {}
    template <typename X, typename Y>
    constexpr pair(pair<X, Y>&& other)
        : first(std::forward<X>(other.first)), second(std::forward<Y>(other.second)) {}
    constexpr void swap(pair& other) {
        std::swap(first, other.first);
        std::swap(second, other.second);
    }
    friend constexpr bool operator==(const pair& a, const pair& b) {
        return a.first == b.first && a.second == b.second;
    }
    friend constexpr bool operator<(const pair& a, const pair& b) {
        return a.first < b.first || (!(b.first < a.first) && a.second < b.second);
    }
    friend constexpr bool operator>(const pair& a, const pair& b) { return b < a; }
    friend constexpr bool operator<=(const pair& a, const pair& b) { return !(b < a); }
    friend constexpr bool operator>=(const pair& a, const pair& b) { return !(a < b); }
};

template <typename A, typename B>
pair(A, B) -> pair<A, B>;

template <typename A, typename B>
constexpr pair<std::decay_t<A>, std::decay_t<B>> make_pair(A&& first, B&& second) {
    return pair<std::decay_t<A>, std::decay_t<B>>(std::forward<A>(first), std::forward<B>(second));
}

template <typename T>
constexpr void swap(T& a, T& b) {
    T before = std::move(a);
    a = std::move(b);
    b = std::move(before);
}

template <typename T, typename U = T>
constexpr T exchange(T& place, U&& value) {
    T before = std::move(place);
    place = std::forward<U>(value);
    return before;
}

template <typename T, T... Numbers>
struct integer_sequence {
    static constexpr size_t size() { return sizeof...(Numbers); }
};

template <size_t... Numbers>
using index_sequence = integer_sequence<size_t, Numbers...>;

template <typename T, T Count, T... Numbers>
struct sequence_maker {
    using type = typename sequence_maker<T, Count - 1, Count - 1, Numbers...>::type;
};

template <typename T, T... Numbers>
struct sequence_maker<T, 0, Numbers...> {
    using type = integer_sequence<T, Numbers...>;
};

template <typename T, T Count>
using make_integer_sequence = typename sequence_maker<T, Count>::type;

template <size_t Count>
using make_index_sequence = typename sequence_maker<size_t, Count>::type;

template <typename... T>
using index_sequence_for = make_index_sequence<sizeof...(T)>;

}  // namespace std
