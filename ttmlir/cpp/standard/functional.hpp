// invoke_result invoke_result_t is_invocable is_invocable_v reference_wrapper ref cref
namespace std {

template <typename F, typename... T>
using invoke_result_t = decltype(std::invoke(std::declval<F>(), std::declval<T>()...));
template <typename F, typename... T>
struct invoke_result { using type = invoke_result_t<F, T...>; };

template <typename F, typename... T>
constexpr auto may_invoke(int)
    -> decltype((std::invoke(std::declval<F>(), std::declval<T>()...), true)) {
    return true;
}
template <typename F, typename... T>
constexpr bool may_invoke(...) { return false; }
template <typename F, typename... T>
inline constexpr bool is_invocable_v = may_invoke<F, T...>(0);
template <typename F, typename... T>
struct is_invocable : integral_constant<bool, is_invocable_v<F, T...>> {};

template <typename T>
class reference_wrapper {
    T* place;

public:
    using type = T;
    constexpr reference_wrapper(T& given) : place(&given) {}
    constexpr T& get() const { return *place; }
    constexpr operator T&() const { return *place; }
    template <typename... A>
    constexpr auto operator()(A&&... values) const {
        return std::invoke(*place, std::forward<A>(values)...);
    }
};
template <typename T>
reference_wrapper(T&) -> reference_wrapper<T>;
template <typename T>
constexpr reference_wrapper<T> ref(T& place) { return reference_wrapper<T>(place); }
template <typename T>
constexpr reference_wrapper<const T> cref(const T& place) { return reference_wrapper<const T>(place); }

}  // namespace std
