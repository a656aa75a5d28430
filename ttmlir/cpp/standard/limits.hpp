// numeric_limits float_round_style round_indeterminate round_toward_zero round_to_nearest round_toward_infinity round_toward_neg_infinity
namespace std {

enum float_round_style {
    round_indeterminate = -1,
    round_toward_zero = 0,
    round_to_nearest = 1,
    round_toward_infinity = 2,
    round_toward_neg_infinity = 3
};

// Of all types that have no limits, such as enumerations and classes.
template <typename T>
struct no_limits {
    static constexpr bool is_specialized = false;
    static constexpr bool is_signed = false;
    static constexpr bool is_integer = false;
    static constexpr bool is_exact = false;
    static constexpr bool is_bounded = false;
    static constexpr bool is_modulo = false;
    static constexpr bool is_iec559 = false;
    static constexpr bool has_infinity = false;
    static constexpr bool has_quiet_NaN = false;
    static constexpr bool has_signaling_NaN = false;
    static constexpr bool traps = false;
    static constexpr bool tinyness_before = false;
    static constexpr float_round_style round_style = round_toward_zero;
    static constexpr int radix = 0;
    static constexpr int digits = 0;
    static constexpr int digits10 = 0;
    static constexpr int max_digits10 = 0;
    static constexpr int min_exponent = 0;
    static constexpr int min_exponent10 = 0;
    static constexpr int max_exponent = 0;
    static constexpr int max_exponent10 = 0;
    static constexpr T min() { return T(); }
    static constexpr T max() { return T(); }
    static constexpr T lowest() { return T(); }
    static constexpr T epsilon() { return T(); }
    static constexpr T round_error() { return T(); }
    static constexpr T infinity() { return T(); }
    static constexpr T quiet_NaN() { return T(); }
    static constexpr T signaling_NaN() { return T(); }
    static constexpr T denorm_min() { return T(); }
};

template <typename T>
struct integer_limits : no_limits<T> {
    static constexpr bool is_specialized = true;
    static constexpr bool is_signed = std::is_signed_v<T>;
    static constexpr bool is_integer = true;
    static constexpr bool is_exact = true;
    static constexpr bool is_bounded = true;
    static constexpr bool is_modulo = !std::is_signed_v<T> && !std::is_same_v<T, bool>;
    static constexpr int radix = 2;
    static constexpr int digits =
        std::is_same_v<T, bool> ? 1 : 8 * static_cast<int>(sizeof(T)) - (std::is_signed_v<T> ? 1 : 0);
    static constexpr int digits10 = digits * 643L / 2136;
    static constexpr T max() {
        return static_cast<T>(static_cast<uint64_t>(-1) >> (64 - digits));
    }
    static constexpr T min() { return is_signed ? static_cast<T>(-max() - 1) : static_cast<T>(0); }
    static constexpr T lowest() { return min(); }
};

// IEEE 754, as the processors compute.
template <typename T>
struct floating_limits : no_limits<T> {
    static constexpr bool is_float = sizeof(T) == 4;
    static constexpr bool is_specialized = true;
    static constexpr bool is_signed = true;
    static constexpr bool is_bounded = true;
    static constexpr bool is_iec559 = true;
    static constexpr bool has_infinity = true;
    static constexpr bool has_quiet_NaN = true;
    static constexpr bool has_signaling_NaN = true;
    static constexpr float_round_style round_style = round_to_nearest;
    static constexpr int radix = 2;
    static constexpr int digits = is_float ? 24 : 53;
    static constexpr int digits10 = is_float ? 6 : 15;
    static constexpr int max_digits10 = is_float ? 9 : 17;
    static constexpr int min_exponent = is_float ? -125 : -1021;
    static constexpr int min_exponent10 = is_float ? -37 : -307;
    static constexpr int max_exponent = is_float ? 128 : 1024;
    static constexpr int max_exponent10 = is_float ? 38 : 308;
    static constexpr T min() { return is_float ? 0x1p-126 : 0x1p-1022; }
    static constexpr T max() { return is_float ? 0x1.fffffep127 : 0x1.fffffffffffffp1023; }
    static constexpr T lowest() { return -max(); }
    static constexpr T epsilon() { return is_float ? 0x1p-23 : 0x1p-52; }
    static constexpr T round_error() { return 0.5; }
    static constexpr T infinity() { return __builtin_huge_val(); }
    static constexpr T quiet_NaN() { return __builtin_nan(""); }
    static constexpr T denorm_min() { return is_float ? 0x1p-149 : 0x1p-1074; }
};

template <typename T>
struct numeric_limits
    : std::conditional_t<
          std::is_integral_v<T>,
          integer_limits<std::remove_cv_t<T>>,
          std::conditional_t<std::is_floating_point_v<T>, floating_limits<std::remove_cv_t<T>>, no_limits<T>>> {};

}  // namespace std
