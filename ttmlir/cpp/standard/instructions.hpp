// p_setrwc p_sfpu ADDR_MOD_3 ADDR_MOD_7 TTI_SETRWC TTI_SFPLOAD TTI_SFPSTORE TTI_SFPSETCC TTI_SFPENCC TTI_SFPPUSHC TTI_SFPPOPC TTI_SFPCOMPC TTI_SFPSWAP TTI_SFPLOADI TTI_SFPMOV TTI_SFPMAD TTI_SFPADD TTI_SFPMUL TTI_SFPAND TTI_SFPOR TTI_SFPXOR TTI_SFPNOT
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

// Rows of DST, of which a vector has two: in its own format (0), as numbers of 16 (2) or 32 bits (3), or as
// integers of 32 bits (4, 12). The modes of addresses are those that leave the unit where it stands.
constexpr uint32_t ADDR_MOD_3 = 3, ADDR_MOD_7 = 7;
inline void check_rows(uint32_t mode, uint32_t address_mode, uint32_t row) {
    ASSERT(mode == 0 || mode == 2 || mode == 3 || mode == 4 || mode == 12);
    ASSERT(mode == 0 || (mode == 2) != DST_ACCUM_MODE);
    ASSERT((address_mode == ADDR_MOD_3 || address_mode == ADDR_MOD_7) && row % 2 == 0);
}
inline void TTI_SFPLOAD(uint32_t target, uint32_t mode, uint32_t address_mode, uint32_t row) {
    check_rows(mode, address_mode, row);
    if (mode == 4 || mode == 12) {
        write_lanes(target, sfpi::vInt(sfpi::dst_reg[row / 2]));
    } else {
        write_lanes(target, sfpi::bits_of(sfpi::vFloat(sfpi::dst_reg[row / 2])));
    }
}
inline void TTI_SFPSTORE(uint32_t source, uint32_t mode, uint32_t address_mode, uint32_t row) {
    check_rows(mode, address_mode, row);
    if (mode == 4 || mode == 12) {
        sfpi::dst_reg[row / 2] = read_lanes(source);
    } else {
        sfpi::dst_reg[row / 2] = sfpi::float_of(read_lanes(source));
    }
}

// Of the lanes that take part those whose number is negative (0), not zero (2), not negative (4) or zero (6).
inline void TTI_SFPSETCC(uint32_t number, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(number == 0 && target == 0 && mode % 2 == 0 && mode <= 6);
    const sfpi::vInt bits = read_lanes(source);
    if (mode == 0) builtin_sfpi_set_condition((bits < 0).lanes);
    else if (mode == 2) builtin_sfpi_set_condition((bits != 0).lanes);
    else if (mode == 4) builtin_sfpi_set_condition((bits >= 0).lanes);
    else builtin_sfpi_set_condition((bits == 0).lanes);
}
inline void TTI_SFPENCC(uint32_t number, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(target == 0 && ((mode == 0 && number == 0) || (mode == 10 && number >= 2)));
    builtin_sfpi_enable_lanes();
}
inline void TTI_SFPPUSHC(uint32_t number, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(mode == 0);
    builtin_sfpi_begin_block();
}
inline void TTI_SFPPOPC(uint32_t number, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(mode == 0);
    builtin_sfpi_end_if();
}
inline void TTI_SFPCOMPC(uint32_t number, uint32_t source, uint32_t target, uint32_t mode) { builtin_sfpi_begin_else(); }

// Numbers in the order of their sign and size: -0 is less than 0.
inline sfpi::vInt rank_of(const sfpi::vInt& bits) {
    sfpi::vInt rank = bits;
    sfpi::begin_if(bits < 0);
    rank = bits ^ int(0x7fffffff);
    sfpi::end_if();
    return rank;
}
inline void swap_lanes(uint32_t a, uint32_t b, const sfpi::vBool& condition) {
    const sfpi::vInt x = read_lanes(a), y = read_lanes(b);
    sfpi::begin_if(condition);
    write_lanes(a, y);
    write_lanes(b, x);
    sfpi::end_if();
}

// Swaps (0); the smaller number goes to the second register in all lanes (1), in the first half of them (2), in
// each other row of eight (3) or in none (9), where it goes to the first one.
inline void TTI_SFPSWAP(uint32_t number, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(source < 8 && target < 8 && (mode <= 3 || mode == 9));
    const sfpi::vInt bits = read_lanes(source), other = read_lanes(target), lane = read_lanes(p_sfpu::LTILEID);
    if (mode == 0) {
        swap_lanes(source, target, lane >= 0);
        return;
    }
    const sfpi::vBool is_less = rank_of(bits) < rank_of(other);
    if (mode == 1) {
        swap_lanes(source, target, is_less);
    } else if (mode == 9) {
        swap_lanes(source, target, !is_less);
    } else {
        const sfpi::vBool is_first = mode == 2 ? lane < 32 : (lane & 16) == 0;
        swap_lanes(source, target, (is_less && is_first) || (!is_less && !is_first));
    }
}

}  // namespace ckernel
