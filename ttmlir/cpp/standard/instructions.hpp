// p_setrwc p_sfpu TTI_SETRWC TTI_SFPLOADI TTI_SFPMOV TTI_SFPMAD TTI_SFPADD TTI_SFPMUL TTI_SFPAND TTI_SFPOR TTI_SFPXOR TTI_SFPNOT
namespace ckernel {

// Which counters of rows an instruction changes.
struct p_setrwc {
    static constexpr uint32_t CLR_NONE = 0, CLR_A = 1, CLR_B = 2, CLR_AB = 3;
    static constexpr uint32_t CR_A = 1, CR_B = 2, CR_AB = 3, CR_D = 4, C_TO_CR_MODE = 8;
    static constexpr uint32_t SET_A = 1, SET_B = 2, SET_AB = 3, SET_D = 4, SET_AD = 5, SET_BD = 6, SET_ABD = 7, SET_F = 8;
};

// The registers of the vector unit: eight, and constants, of which 12 to 14 can be set.
struct p_sfpu {
    static constexpr uint32_t LREG0 = 0, LREG1 = 1, LREG2 = 2, LREG3 = 3, LREG4 = 4, LREG5 = 5, LREG6 = 6, LREG7 = 7;
    static constexpr uint32_t LCONST_0_8373 = 8, LCONST_0 = 9, LCONST_1 = 10, LCONST_neg1 = 11;
    static constexpr uint32_t LREG11 = 11, LREG12 = 12, LREG13 = 13, LREG14 = 14, LTILEID = 15;
    static constexpr uint32_t kCONST_1_FP16B = 0x3f80, kCONST_1_FP16A = 0x3c00, kCONST_0 = 0;
    static constexpr uint32_t kCONST_Exp_8Bit = 0, kCONST_Exp_5Bit = 1;
};

// So many rows of DST further: a vector has two.
inline void TTI_SETRWC(uint32_t cleared, uint32_t counted, uint32_t rows, uint32_t b, uint32_t a, uint32_t set) {
    ASSERT(cleared == p_setrwc::CLR_NONE && counted == p_setrwc::CR_D && set == p_setrwc::SET_D && rows % 2 == 0);
    sfpi::dst_reg += int(rows / 2);
}

inline sfpi::vInt read_lanes(uint32_t number) {
    ASSERT(number < 16);
    if (number < 8) {
        return sfpi::vInt(builtin_sfpi_read_register(number));
    }
    if (number >= 12 && number < 15) {
        return sfpi::vInt(builtin_sfpi_read_constant(number - 12));
    }
    if (number == p_sfpu::LTILEID) {
        return sfpi::vInt(builtin_sfpi_lane_numbers());
    }
    const float value = number == 8 ? 0.8373f : number == 9 ? 0.0f : number == 10 ? 1.0f : -1.0f;
    return sfpi::bits_of(sfpi::vFloat(value));
}
inline void write_lanes(uint32_t number, const sfpi::vInt& bits) { builtin_sfpi_write_register(number, bits.lanes); }

// Modes 8 and 10 change one half of a register, the others fill it.
inline void TTI_SFPLOADI(uint32_t target, uint32_t mode, uint32_t number) {
    ASSERT(mode == 0 || mode == 1 || mode == 2 || mode == 4 || mode == 8 || mode == 10);
    const uint32_t low = number & 0xffff;
    if (mode == 8) {
        write_lanes(target, (read_lanes(target) & 0xffff) | int(low << 16));
    } else if (mode == 10) {
        write_lanes(target, (read_lanes(target) & int(0xffff0000u)) | int(low));
    } else {
        const uint32_t half = sfpi::s2vFloat16a(low).bits;
        write_lanes(target, sfpi::vInt(mode == 0 ? int(low << 16) : mode == 1 ? int(half) : mode == 2 ? int(low) : int(int16_t(low))));
    }
}

// Mode 1 changes the sign.
inline void TTI_SFPMOV(uint32_t unused, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(mode < 2);
    write_lanes(target, mode == 1 ? read_lanes(source) ^ int(0x80000000u) : read_lanes(source));
}

// a * b + c; sums have 1 for a, products 0 for c.
inline void TTI_SFPMAD(uint32_t a, uint32_t b, uint32_t c, uint32_t target, uint32_t mode) {
    ASSERT(mode == 0);
    sfpi::vFloat product = sfpi::float_of(read_lanes(a)) * sfpi::float_of(read_lanes(b));
    write_lanes(target, sfpi::bits_of(product + sfpi::float_of(read_lanes(c))));
}
inline void TTI_SFPADD(uint32_t a, uint32_t b, uint32_t c, uint32_t target, uint32_t mode) { TTI_SFPMAD(a, b, c, target, mode); }
inline void TTI_SFPMUL(uint32_t a, uint32_t b, uint32_t c, uint32_t target, uint32_t mode) { TTI_SFPMAD(a, b, c, target, mode); }

inline void TTI_SFPNOT(uint32_t unused, uint32_t source, uint32_t target, uint32_t mode) {
    write_lanes(target, ~read_lanes(source));
}
inline void TTI_SFPAND(uint32_t unused, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(mode == 0);
    write_lanes(target, read_lanes(target) & read_lanes(source));
}
inline void TTI_SFPOR(uint32_t unused, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(mode == 0);
    write_lanes(target, read_lanes(target) | read_lanes(source));
}
inline void TTI_SFPXOR(uint32_t unused, uint32_t source, uint32_t target, uint32_t mode) {
    write_lanes(target, read_lanes(target) ^ read_lanes(source));
}

}  // namespace ckernel
