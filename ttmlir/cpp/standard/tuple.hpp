// tuple make_tuple tie forward_as_tuple apply tuple_cat
namespace std {

template <size_t Number, typename A, typename B>
constexpr bool are_equal(const A& a, const B& b) {
    if constexpr (Number == std::tuple_size_v<A>) {
        return true;
    } else {
        return std::get<Number>(a) == std::get<Number>(b) && are_equal<Number + 1>(a, b);
    }
}

template <size_t Number, typename A, typename B>
constexpr bool is_before(const A& a, const B& b) {
    if constexpr (Number == std::tuple_size_v<A>) {
        return false;
    } else {
        if (std::get<Number>(a) < std::get<Number>(b)) { return true; }
        if (std::get<Number>(b) < std::get<Number>(a)) { return false; }
        return is_before<Number + 1>(a, b);
    }
}

// The compiler gives it a member for each type.
template <typename... T>
struct tuple {};

template <typename... A, typename... B>
constexpr bool operator==(const tuple<A...>& a, const tuple<B...>& b) { return are_equal<0>(a, b); }
template <typename... A, typename... B>
constexpr bool operator!=(const tuple<A...>& a, const tuple<B...>& b) { return !(a == b); }
template <typename... A, typename... B>
constexpr bool operator<(const tuple<A...>& a, const tuple<B...>& b) { return is_before<0>(a, b); }
template <typename... A, typename... B>
constexpr bool operator>(const tuple<A...>& a, const tuple<B...>& b) { return b < a; }
template <typename... A, typename... B>
constexpr bool operator<=(const tuple<A...>& a, const tuple<B...>& b) { return !(b < a); }
template <typename... A, typename... B>
constexpr bool operator>=(const tuple<A...>& a, const tuple<B...>& b) { return !(a < b); }

template <typename... T>
constexpr tuple<std::decay_t<T>...> make_tuple(T&&... values) {
    return tuple<std::decay_t<T>...>{std::forward<T>(values)...};
}

template <typename... T>
constexpr tuple<T&...> tie(T&... values) { return tuple<T&...>{values...}; }

template <typename... T>
constexpr tuple<T&&...> forward_as_tuple(T&&... values) {
    return tuple<T&&...>{std::forward<T>(values)...};
}

template <typename A, typename B, size_t... First, size_t... Second>
constexpr auto join_tuples(A&& a, B&& b, integer_sequence<size_t, First...>, integer_sequence<size_t, Second...>) {
    return tuple<std::tuple_element_t<First, std::decay_t<A>>..., std::tuple_element_t<Second, std::decay_t<B>>...>{
        std::get<First>(std::forward<A>(a))..., std::get<Second>(std::forward<B>(b))...};
}

constexpr tuple<> tuple_cat() { return tuple<>{}; }

template <typename T, typename... Rest>
constexpr auto tuple_cat(T&& first, Rest&&... rest) {
    auto others = std::tuple_cat(std::forward<Rest>(rest)...);
    return join_tuples(
        std::forward<T>(first), std::move(others), std::make_index_sequence<std::tuple_size_v<std::decay_t<T>>>{},
        std::make_index_sequence<std::tuple_size_v<decltype(others)>>{});
}

template <typename F, typename Tuple, size_t... Numbers>
constexpr auto apply_numbered(F&& function, Tuple&& values, integer_sequence<size_t, Numbers...>) {
    return std::invoke(std::forward<F>(function), std::get<Numbers>(std::forward<Tuple>(values))...);
}

template <typename F, typename Tuple>
constexpr auto apply(F&& function, Tuple&& values) {
    return apply_numbered(
        std::forward<F>(function), std::forward<Tuple>(values),
        std::make_index_sequence<std::tuple_size_v<std::decay_t<Tuple>>>{});
}

}  // namespace std
