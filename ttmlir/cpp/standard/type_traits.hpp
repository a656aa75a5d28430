// integral_constant bool_constant true_type false_type is_same is_integral is_floating_point is_signed is_unsigned is_enum is_pointer is_arithmetic is_class is_function is_lvalue_reference is_rvalue_reference is_reference conditional enable_if remove_cv remove_const remove_reference add_lvalue_reference add_rvalue_reference decay underlying_type make_unsigned make_signed void_type is_base_of is_trivially_copyable is_const tuple_size tuple_element conjunction disjunction negation conjunction_v disjunction_v negation_v aligned_storage aligned_storage_t
namespace std {

template <typename T, T Value>
struct integral_constant {
    static constexpr T value = Value;
    using value_type = T;
    using type = integral_constant;
    constexpr operator T() const { return Value; }
    constexpr T operator()() const { return Value; }
};

template <bool Value>
using bool_constant = integral_constant<bool, Value>;
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;

template <typename A, typename B>
struct is_same : integral_constant<bool, std::is_same_v<A, B>> {};
template <typename T>
struct is_integral : integral_constant<bool, std::is_integral_v<T>> {};
template <typename T>
struct is_floating_point : integral_constant<bool, std::is_floating_point_v<T>> {};
template <typename T>
struct is_arithmetic : integral_constant<bool, std::is_arithmetic_v<T>> {};
template <typename T>
struct is_signed : integral_constant<bool, std::is_signed_v<T>> {};
template <typename T>
struct is_unsigned : integral_constant<bool, std::is_unsigned_v<T>> {};
template <typename T>
struct is_enum : integral_constant<bool, std::is_enum_v<T>> {};
template <typename T>
struct is_pointer : integral_constant<bool, std::is_pointer_v<T>> {};
template <typename T>
struct is_class : integral_constant<bool, std::is_class_v<T>> {};
template <typename T>
struct is_function : integral_constant<bool, std::is_function_v<T>> {};
template <typename T>
struct is_lvalue_reference : integral_constant<bool, std::is_lvalue_reference_v<T>> {};
template <typename T>
struct is_rvalue_reference : integral_constant<bool, std::is_rvalue_reference_v<T>> {};
template <typename T>
struct is_reference : integral_constant<bool, std::is_reference_v<T>> {};
template <typename T>
struct is_const : integral_constant<bool, std::is_const_v<T>> {};
template <typename T>
struct is_trivially_copyable : integral_constant<bool, std::is_trivially_copyable_v<T>> {};
template <typename A, typename B>
struct is_base_of : integral_constant<bool, std::is_base_of_v<A, B>> {};
template <typename T>
struct tuple_size : integral_constant<size_t, std::tuple_size_v<T>> {};

template <typename... T>
struct conjunction : integral_constant<bool, (T::value && ...)> {};
template <typename... T>
struct disjunction : integral_constant<bool, (T::value || ...)> {};
template <typename T>
struct negation : integral_constant<bool, !T::value> {};
template <typename... T>
inline constexpr bool conjunction_v = conjunction<T...>::value;
template <typename... T>
inline constexpr bool disjunction_v = disjunction<T...>::value;
template <typename T>
inline constexpr bool negation_v = negation<T>::value;

template <bool Condition, typename A, typename B>
struct conditional { using type = std::conditional_t<Condition, A, B>; };
template <bool Condition, typename T = void>
struct enable_if { using type = std::enable_if_t<Condition, T>; };
template <typename T>
struct remove_cv { using type = std::remove_cv_t<T>; };
template <typename T>
struct remove_const { using type = std::remove_const_t<T>; };
template <typename T>
struct remove_reference { using type = std::remove_reference_t<T>; };
template <typename T>
struct add_lvalue_reference { using type = std::add_lvalue_reference_t<T>; };
template <typename T>
struct add_rvalue_reference { using type = std::add_rvalue_reference_t<T>; };
template <typename T>
struct decay { using type = std::decay_t<T>; };
template <typename T>
struct underlying_type { using type = std::underlying_type_t<T>; };
template <typename T>
struct make_unsigned { using type = std::make_unsigned_t<T>; };
template <typename T>
struct make_signed { using type = std::make_signed_t<T>; };
template <size_t Number, typename T>
struct tuple_element { using type = std::tuple_element_t<Number, T>; };

// Bytes for an object that is made later.
template <size_t Size, size_t Alignment = 16>
struct aligned_storage {
    struct alignas(Alignment) type { unsigned char data[Size]; };
};
template <size_t Size, size_t Alignment = 16>
using aligned_storage_t = typename aligned_storage<Size, Alignment>::type;

}  // namespace std
