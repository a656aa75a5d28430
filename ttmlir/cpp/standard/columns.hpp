// calculate_exponential_first_column calculate_fused_max_sub_exp_add_tile calculate_recip_first_column sfpu_reciprocal_init _init_sfpu_config_reg
namespace ckernel::sfpu {

inline void _init_sfpu_config_reg() {}

// Functions of one column in two: those of the first one of a tile, where a mode takes the faces
// on the left. `Scale` has the upper half of the bits of a float.
inline sfpi::vFloat exponential(sfpi::vFloat x) {
    constexpr float shift = 12582912.0f;  // 1.5 * 2^23: sums with it have no fraction
    sfpi::vFloat whole = x * 1.442695041f + shift;
    sfpi::vInt exponent = sfpi::reinterpret<sfpi::vInt>(whole) - 0x4B400000;
    sfpi::vFloat rest = x - (whole - shift) * 0.693147181f;
    sfpi::vFloat result = rest * 0.00138888889f + 0.00833333333f;
    result = result * rest + 0.0416666667f;
    result = result * rest + 0.166666667f;
    result = result * rest + 0.5f;
    result = result * rest + 1.0f;
    result = result * rest + 1.0f;
    result = sfpi::setexp(result, sfpi::exexp_nodebias(result) + exponent);
    sfpi::begin_if(x < -87.0f);
    result = 0.0f;
    sfpi::end_if();
    return result;
}
template <bool Approximate, uint16_t Scale, bool Wide>
inline void calculate_exponential_first_column() {
    for (int row = 0; row < 4; ++row) {
        sfpi::vFloat x = sfpi::dst_reg[0];
        sfpi::dst_reg[0] = exponential(x * std::bit_cast<float>(uint32_t(Scale) << 16));
        sfpi::dst_reg += 2;
    }
}

template <bool Approximate>
inline void sfpu_reciprocal_init() {}
template <bool Wide>
inline void calculate_recip_first_column() {
    for (int row = 0; row < 4; ++row) {
        sfpi::vFloat x = sfpi::dst_reg[0];
        sfpi::vFloat y = sfpi::approx_recip(x);
        y = y * (2.0f - x * y);
        sfpi::dst_reg[0] = y * (2.0f - x * y);
        sfpi::dst_reg += 2;
    }
}

// Joins two softmaxes of parts of a row, in five tiles: the maxima of both, that of the whole, the
// sums of both. What each sum is multiplied by takes the place of its maximum, the sum of the whole
// that of the first sum. `Shared`: the second sum comes in the tile of the maximum of the whole.
template <bool Wide, bool Shared = false>
inline void calculate_fused_max_sub_exp_add_tile(int scale_bits) {
    constexpr uint32_t tile = 32;
    const float scale = std::bit_cast<float>(uint32_t(scale_bits) << 16);
    for (int row = 0; row < 4; ++row) {
        sfpi::vFloat first = sfpi::dst_reg[0], second = sfpi::dst_reg[tile];
        sfpi::vFloat first_sum = sfpi::dst_reg[3 * tile], second_sum = sfpi::dst_reg[(Shared ? 2 : 4) * tile];
        sfpi::vFloat largest = first;
        sfpi::begin_if(first < second);
        largest = second;
        sfpi::end_if();
        first = exponential((first - largest) * scale);
        second = exponential((second - largest) * scale);
        sfpi::dst_reg[0] = first;
        sfpi::dst_reg[tile] = second;
        sfpi::dst_reg[2 * tile] = largest;
        sfpi::dst_reg[3 * tile] = first * first_sum + second * second_sum;
        sfpi::dst_reg += 2;
    }
}

}  // namespace ckernel::sfpu
