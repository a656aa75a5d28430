// popcount countl_zero countl_one countr_zero countr_one bit_width bit_floor bit_ceil has_single_bit rotl rotr
namespace std {

template <typename T>
constexpr int popcount(T value) {
    int count = 0;
    for (; value != 0; value = T(value & (value - 1))) {
        ++count;
    }
    return count;
}

template <typename T>
constexpr int bit_width(T value) {
    int count = 0;
    for (; value != 0; value = T(value >> 1)) {
        ++count;
    }
    return count;
}

template <typename T>
constexpr int countl_zero(T value) { return int(8 * sizeof(T)) - std::bit_width(value); }
template <typename T>
constexpr int countl_one(T value) { return std::countl_zero(T(~value)); }
template <typename T>
constexpr int countr_zero(T value) { return value == 0 ? int(8 * sizeof(T)) : std::popcount(T((value & -value) - 1)); }
template <typename T>
constexpr int countr_one(T value) { return std::countr_zero(T(~value)); }
template <typename T>
constexpr bool has_single_bit(T value) { return value != 0 && (value & (value - 1)) == 0; }
template <typename T>
constexpr T bit_floor(T value) { return value == 0 ? T(0) : T(T(1) << (std::bit_width(value) - 1)); }
template <typename T>
constexpr T bit_ceil(T value) { return value <= 1 ? T(1) : T(T(1) << std::bit_width(T(value - 1))); }

template <typename T>
constexpr T rotl(T value, int count) {
    constexpr int bits = 8 * sizeof(T);
    int left = (count % bits + bits) % bits;
    return left == 0 ? value : T((value << left) | (value >> (bits - left)));
}
template <typename T>
constexpr T rotr(T value, int count) { return std::rotl(value, -(count % int(8 * sizeof(T)))); }

}  // namespace std
