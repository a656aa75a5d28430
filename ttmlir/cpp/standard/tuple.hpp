// tuple make_tuple forward_as_tuple apply tuple_cat
namespace std {

// The compiler gives it a member for each type.
template <typename... T>
struct tuple {};

template <typename... T>
constexpr tuple<std::decay_t<T>...> make_tuple(T&&... values) {
    return tuple<std::decay_t<T>...>{std::forward<T>(values)...};
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
