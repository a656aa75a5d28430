// tuple make_tuple forward_as_tuple apply tuple_cat
namespace std {

// The compiler gives it a member for each type.
template <typename... T>
struct tuple {};

template <typename... T>
constexpr tuple<T...> make_tuple(T... values) { return tuple<T...>{values...}; }

template <typename F, typename Tuple, size_t... Numbers>
constexpr auto apply_numbered(F&& function, Tuple&& values, integer_sequence<size_t, Numbers...>) {
    return function(std::get<Numbers>(values)...);
}

template <typename F, typename Tuple>
constexpr auto apply(F&& function, Tuple&& values) {
    return apply_numbered(
        function, values, std::make_index_sequence<std::tuple_size_v<std::decay_t<Tuple>>>{});
}

}  // namespace std
