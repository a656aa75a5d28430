// p_setrwc p_sfpu ADDR_MOD_3 ADDR_MOD_7 TTI_SETRWC TTI_SFPLOAD TTI_SFPSTORE TTI_SFPSETCC TTI_SFPENCC TTI_SFPPUSHC TTI_SFPPOPC TTI_SFPCOMPC TTI_SFPSWAP TTI_SFPLOADI TTI_SFPMOV TTI_SFPMAD TTI_SFPADD TTI_SFPMUL TTI_SFPAND TTI_SFPOR TTI_SFPXOR TTI_SFPNOT TTI_SFPIADD TTI_SFPSHFT TTI_SFPADDI TTI_SFPMULI TTI_SFPABS TTI_SFPLZ TTI_SFPEXEXP TTI_SFPEXMAN TTI_SFPSETEXP TTI_SFPSETMAN TTI_SFPSETSGN TTI_SFPDIVP2 TTI_SFPCAST TTI_SFPTRANSP
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
    if (number < 8 || number > 15) {
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

// A number of the last 16 bits, as the upper half of a float.
inline void TTI_SFPADDI(uint32_t number, uint32_t target, uint32_t mode) {
    ASSERT(mode == 0);
    const sfpi::vFloat given = sfpi::float_of(sfpi::vInt(int(number << 16)));
    write_lanes(target, sfpi::bits_of(given + sfpi::float_of(read_lanes(target))));
}
inline void TTI_SFPMULI(uint32_t number, uint32_t target, uint32_t mode) {
    ASSERT(mode == 0);
    const sfpi::vFloat given = sfpi::float_of(sfpi::vInt(int(number << 16)));
    write_lanes(target, sfpi::bits_of(given * sfpi::float_of(read_lanes(target))));
}

// Numbers of 12 bits have a sign where they are added or shift.
inline int signed_number(uint32_t number) { return int(number << 20) >> 20; }

// Sums of two registers (0), of a register and a number (1) or the difference of two (2). Then those lanes take part
// whose result is negative, with 8 those whose is not, and with 4 all as before.
inline void TTI_SFPIADD(uint32_t number, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(number <= 0xfff && mode <= 10 && (mode & 3) <= 2);
    const sfpi::vInt given = read_lanes(source);
    const sfpi::vInt result = mode & 1 ? given + signed_number(number)
                              : mode & 2 ? given - read_lanes(target) : given + read_lanes(target);
    write_lanes(target, result);
    if (mode & 8) builtin_sfpi_set_condition((result >= 0).lanes);
    else if ((mode & 4) == 0) builtin_sfpi_set_condition((result < 0).lanes);
}

// To the left, or to the right if the count is negative: by a register (0) or a number (1), of which 5 bits count.
inline void TTI_SFPSHFT(uint32_t number, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(number <= 0xfff && mode <= 1 && (mode == 1 || number == 0));
    const sfpi::vInt count = mode == 1 ? sfpi::vInt(signed_number(number)) : read_lanes(source);
    sfpi::vInt kept = count & 31;
    sfpi::begin_if(count < 0);
    kept = -(-count & 31);
    sfpi::end_if();
    write_lanes(target, sfpi::vInt(builtin_sfpi_shift_integers(read_lanes(target).lanes, kept.lanes)));
}

inline void TTI_SFPABS(uint32_t unused, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(mode <= 1);
    const sfpi::vInt bits = read_lanes(source);
    if (mode == 0) {
        write_lanes(target, sfpi::abs(bits));
        return;
    }
    sfpi::vInt size = bits & 0x7fffffff;
    // A NaN keeps its sign.
    sfpi::begin_if(size > 0x7f800000);
    size = bits;
    sfpi::end_if();
    write_lanes(target, size);
}

// The zeros before the first bit; with 4 the first bit does not count. With 2 lanes take part whose bits are not 0.
inline void TTI_SFPLZ(uint32_t unused, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(mode <= 6 && mode % 2 == 0);
    const sfpi::vInt bits = mode & 4 ? read_lanes(source) & 0x7fffffff : read_lanes(source);
    write_lanes(target, sfpi::lz(bits));
    if (mode & 2) builtin_sfpi_set_condition((bits != 0).lanes);
}

// The exponent less 127, with 1 as it is stored; with 2 lanes take part where it is negative, with 10 where not.
inline void TTI_SFPEXEXP(uint32_t unused, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(mode <= 2 || mode == 10);
    const sfpi::vInt stored = sfpi::exexp_nodebias(sfpi::float_of(read_lanes(source)));
    const sfpi::vInt result = mode & 1 ? stored : stored - 127;
    write_lanes(target, result);
    if (mode == 2) builtin_sfpi_set_condition((result < 0).lanes);
    else if (mode == 10) builtin_sfpi_set_condition((result >= 0).lanes);
}

// The mantissa with its hidden bit (0) or without it (1).
inline void TTI_SFPEXMAN(uint32_t unused, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(mode <= 1);
    const sfpi::vInt mantissa = read_lanes(source) & 0x7fffff;
    write_lanes(target, mode == 1 ? mantissa : mantissa | 0x800000);
}

// The source with another exponent: the last bits of the target (0), a number (1) or the target's own (2).
inline void TTI_SFPSETEXP(uint32_t number, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(mode <= 2 && number <= 255 && (mode == 1 || number == 0));
    const sfpi::vInt others = read_lanes(source) & int(0x807fffffu), there = read_lanes(target);
    write_lanes(target, mode == 1 ? others | int(number << 23)
                        : mode == 2 ? others | (there & 0x7f800000) : others | ((there & 255) << 23));
}

// With another mantissa: that of the target (0), or a number as its first 12 bits (1).
inline void TTI_SFPSETMAN(uint32_t number, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(mode <= 1 && number <= 0xfff && (mode == 1 || number == 0));
    const sfpi::vInt others = read_lanes(source) & int(0xff800000u);
    write_lanes(target, mode == 1 ? others | int(number << 11) : others | (read_lanes(target) & 0x7fffff));
}

// With another sign: that of the target (0), or a number (1).
inline void TTI_SFPSETSGN(uint32_t number, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(mode <= 1 && number <= mode);
    const sfpi::vInt others = read_lanes(source) & 0x7fffffff;
    write_lanes(target, mode == 1 ? others | int(number << 31) : others | (read_lanes(target) & int(0x80000000u)));
}

// With a number as exponent (0), or a power of 2 further (1), infinity and NaN excepted.
inline void TTI_SFPDIVP2(uint32_t number, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(mode <= 1 && (number <= 0x7f || (number >= 0xf80 && number <= 0xfff)));
    const sfpi::vInt bits = read_lanes(source), others = bits & int(0x807fffffu);
    const sfpi::vInt stored = sfpi::exexp_nodebias(sfpi::float_of(bits));
    if (mode == 0) {
        write_lanes(target, others | int((number & 255) << 23));
        return;
    }
    sfpi::vInt moved = others | (((stored + int(number & 255)) & 255) << 23);
    sfpi::begin_if(stored == 255);
    moved = bits;
    sfpi::end_if();
    write_lanes(target, moved);
}

// The numbers that integers of a sign and 31 bits are.
inline void TTI_SFPCAST(uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(mode == 0);
    write_lanes(target, sfpi::bits_of(sfpi::int32_to_float(read_lanes(source), 0)));
}

// Row i of registers 0 to 3 becomes register i, with its rows in their order, and so do those of registers 4 to 7.
inline void TTI_SFPTRANSP(uint32_t number, uint32_t source, uint32_t target, uint32_t mode) {
    ASSERT(target == 0);
    for (uint32_t first = 0; first < 8; first += 4) {
        sfpi::vInt a = read_lanes(first), b = read_lanes(first + 1), c = read_lanes(first + 2), d = read_lanes(first + 3);
        sfpi::subvec_transp(a, b, c, d);
        write_lanes(first, a);
        write_lanes(first + 1, b);
        write_lanes(first + 2, c);
        write_lanes(first + 3, d);
    }
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
    builtin_sfpi_pop_lanes();
}
inline void TTI_SFPCOMPC(uint32_t number, uint32_t source, uint32_t target, uint32_t mode) { builtin_sfpi_complement_lanes(); }

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
