// Limits of types
// `std::numeric_limits` of integers and floating-point numbers; other types have none.
enum class Colour : uint8_t { Red };
template <typename T> void show() {
    using Limits = std::numeric_limits<T>;
    note(Limits::min()); note(Limits::max()); note(Limits::lowest());
    note(Limits::digits); note(Limits::digits10); note(Limits::is_signed); note(Limits::is_modulo);
}
template <typename T> void show_fraction() {
    using Limits = std::numeric_limits<T>;
    note(Limits::min() * 1e38); note(Limits::max() / 1e38); note(Limits::lowest() / 1e38); note(Limits::epsilon() * 1e20);
    note(Limits::digits); note(Limits::digits10); note(Limits::max_digits10); note(Limits::round_error() * 2);
    note(Limits::min_exponent); note(Limits::max_exponent); note(Limits::min_exponent10); note(Limits::max_exponent10);
    note(Limits::infinity() > Limits::max()); note(Limits::quiet_NaN() != Limits::quiet_NaN());
    note(Limits::denorm_min() > 0); note(Limits::denorm_min() / 2 == 0); note(Limits::round_style == std::round_to_nearest);
}
void kernel_main() {
    show<bool>(); show<int8_t>(); show<uint8_t>(); show<int16_t>(); show<uint16_t>();
    show<int32_t>(); show<uint32_t>(); show<int64_t>(); show<uint64_t>(); show<const int16_t>();
    show_fraction<float>();
    note(std::numeric_limits<double>::max() > 1e308); note(std::numeric_limits<double>::epsilon() * 1e20);
    note(std::bit_cast<uint32_t>(std::numeric_limits<float>::max())); note(std::bit_cast<uint32_t>(std::numeric_limits<float>::denorm_min()));
    static_assert(std::numeric_limits<float>::has_infinity and not std::numeric_limits<int>::has_infinity);
    static_assert(std::numeric_limits<int>::is_integer and std::numeric_limits<int>::is_exact and not std::numeric_limits<float>::is_exact);
    static_assert(std::numeric_limits<double>::is_iec559 and std::numeric_limits<double>::has_quiet_NaN and std::numeric_limits<double>::is_bounded);
    note(std::numeric_limits<Colour>::is_specialized); note(std::numeric_limits<Colour>::digits); note(std::numeric_limits<Colour>::is_integer);
    constexpr uint32_t none = std::numeric_limits<uint32_t>::max(); note(none); note(std::numeric_limits<uint32_t*>::is_specialized);
}
