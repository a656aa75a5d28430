// vFloat vInt vUInt vBool vSMag vMag vUInt16 vFloat16a vFloat16b s2vFloat16a s2vFloat16b dst_reg l_reg LRegs RoundMode ExponentMode MantissaMode ShiftMode vConst0 vConst1 vConstNeg1 vConst0p8373 vConstTileId vConstFloatPrgm0 vConstFloatPrgm1 vConstFloatPrgm2 vConstIntPrgm0 vConstIntPrgm1 vConstIntPrgm2 abs setsgn copysgn exexp exexp_nodebias exman8 exman9 exman setexp setman addexp ldexp lz lz_nosgn shft reinterpret as int32_to_float float_to_fp16a float_to_fp16b float_to_uint8 float_to_int8 float_to_uint16 float_to_int16 convert min max clamp symmetric_clamp vec_min_max vec_swap swap polynomial is_nan is_inf is_zero is_neg rand approx_recip approx_exp vLut8si vLut16si vLut16ss vLut16ii vLut32si sLut8si sLut16si sLut16ss sLut16ii sLut32si LutSign LutMode subvec_transp subvec_shflror1 subvec_shflshr1 begin_if begin_else begin_elseif begin_block narrow end_if
namespace sfpi {

class vFloat;
class vInt;
class vUInt;
class vDReg;
class vLReg;
class s2vFloat16a;
class s2vFloat16b;
class vFloat16a;
class vFloat16b;
class ConstantFloat;
class ConstantInteger;
class FixedFloat;
class LaneNumbers;

// Which lanes a comparison holds in.
class vBool {
public:
    builtin_sfpi_truths lanes;

    explicit vBool(builtin_sfpi_truths given) : lanes(given) {}
    vBool operator&&(const vBool& b) const { return vBool(builtin_sfpi_and_truths(lanes, b.lanes)); }
    vBool operator||(const vBool& b) const { return vBool(builtin_sfpi_or_truths(lanes, b.lanes)); }
    vBool operator!() const { return vBool(builtin_sfpi_invert_truths(lanes)); }
};

enum class RoundMode { Nearest, Stochastic, NearEven = 0 };
enum class ExponentMode { Unbiased, Biased };
enum class MantissaMode { WithHidden, WithoutHidden };
enum class ShiftMode { Logical, Arithmetic };
enum class LRegs { LReg0, LReg1, LReg2, LReg3, LReg4, LReg5, LReg6, LReg7 };

class vFloat {
public:
    builtin_sfpi_floats lanes;

    vFloat() : lanes(builtin_sfpi_fill_floats(0.0f)) {}
    vFloat(float value) : lanes(builtin_sfpi_fill_floats(value)) {}
    explicit vFloat(builtin_sfpi_floats given) : lanes(given) {}
    vFloat(const vDReg& b);
    vFloat(const vLReg& b);
    vFloat(const s2vFloat16a& b);
    vFloat(const s2vFloat16b& b);
    vFloat(const vFloat16a& b);
    vFloat(const vFloat16b& b);
    vFloat(const ConstantFloat& b);
    vFloat(const FixedFloat& b);
    vFloat& operator=(const vFloat& b) {
        lanes = builtin_sfpi_assign_floats(lanes, b.lanes);
        return *this;
    }
    vFloat operator+(const vFloat& b) const { return vFloat(builtin_sfpi_add_floats(lanes, b.lanes)); }
    vFloat operator-(const vFloat& b) const { return vFloat(builtin_sfpi_subtract_floats(lanes, b.lanes)); }
    vFloat operator*(const vFloat& b) const { return vFloat(builtin_sfpi_multiply_floats(lanes, b.lanes)); }
    vFloat operator-() const { return vFloat(builtin_sfpi_negate_floats(lanes)); }
    vFloat& operator+=(const vFloat& b) { return *this = *this + b; }
    vFloat& operator-=(const vFloat& b) { return *this = *this - b; }
    vFloat& operator*=(const vFloat& b) { return *this = *this * b; }
    vFloat& operator++() { return *this = *this + vFloat(1.0f); }
    vFloat operator++(int) { vFloat before = *this; *this = *this + vFloat(1.0f); return before; }
    vFloat& operator--() { return *this = *this - vFloat(1.0f); }
    vFloat operator--(int) { vFloat before = *this; *this = *this - vFloat(1.0f); return before; }
    vBool operator<(const vFloat& b) const { return vBool(builtin_sfpi_compare_floats(lanes, b.lanes, 0)); }
    vBool operator<=(const vFloat& b) const { return vBool(builtin_sfpi_compare_floats(lanes, b.lanes, 1)); }
    vBool operator>(const vFloat& b) const { return vBool(builtin_sfpi_compare_floats(lanes, b.lanes, 2)); }
    vBool operator>=(const vFloat& b) const { return vBool(builtin_sfpi_compare_floats(lanes, b.lanes, 3)); }
    vBool operator==(const vFloat& b) const { return vBool(builtin_sfpi_compare_floats(lanes, b.lanes, 4)); }
    vBool operator!=(const vFloat& b) const { return vBool(builtin_sfpi_compare_floats(lanes, b.lanes, 5)); }
};

class vInt {
public:
    builtin_sfpi_integers lanes;

    vInt() : lanes(builtin_sfpi_fill_integers(0)) {}
    vInt(int value) : lanes(builtin_sfpi_fill_integers(value)) {}
    explicit vInt(builtin_sfpi_integers given) : lanes(given) {}
    vInt(const vUInt& b);
    vInt(const vDReg& b);
    vInt(const vLReg& b);
    vInt(const ConstantInteger& b);
    vInt(const LaneNumbers& b);
    vInt& operator=(const vInt& b) {
        lanes = builtin_sfpi_assign_integers(lanes, b.lanes);
        return *this;
    }
    vInt operator+(const vInt& b) const { return vInt(builtin_sfpi_add_integers(lanes, b.lanes)); }
    vInt operator-(const vInt& b) const { return vInt(builtin_sfpi_subtract_integers(lanes, b.lanes)); }
    vInt operator*(const vInt& b) const { return vInt(builtin_sfpi_multiply_integers(lanes, b.lanes)); }
    vInt operator-() const { return vInt(0) - *this; }
    vInt operator&(const vInt& b) const { return vInt(builtin_sfpi_and_integers(lanes, b.lanes)); }
    vInt operator|(const vInt& b) const { return vInt(builtin_sfpi_or_integers(lanes, b.lanes)); }
    vInt operator^(const vInt& b) const { return vInt(builtin_sfpi_xor_integers(lanes, b.lanes)); }
    vInt operator~() const { return vInt(builtin_sfpi_invert_integers(lanes)); }
    vInt operator<<(const vInt& b) const { return vInt(builtin_sfpi_shift_integers(lanes, b.lanes)); }
    vInt operator>>(const vInt& b) const { return vInt(builtin_sfpi_shift_signed(lanes, (vInt(0) - b).lanes)); }
    vInt& operator+=(const vInt& b) { return *this = *this + b; }
    vInt& operator-=(const vInt& b) { return *this = *this - b; }
    vInt& operator&=(const vInt& b) { return *this = *this & b; }
    vInt& operator|=(const vInt& b) { return *this = *this | b; }
    vInt& operator^=(const vInt& b) { return *this = *this ^ b; }
    vInt& operator<<=(const vInt& b) { return *this = *this << b; }
    vInt& operator++() { return *this = *this + vInt(1); }
    vInt operator++(int) { vInt before = *this; *this = *this + vInt(1); return before; }
    vInt& operator--() { return *this = *this - vInt(1); }
    vInt operator--(int) { vInt before = *this; *this = *this - vInt(1); return before; }
    vBool operator<(const vInt& b) const { return vBool(builtin_sfpi_compare_integers(lanes, b.lanes, 0)); }
    vBool operator<=(const vInt& b) const { return vBool(builtin_sfpi_compare_integers(lanes, b.lanes, 1)); }
    vBool operator>(const vInt& b) const { return vBool(builtin_sfpi_compare_integers(lanes, b.lanes, 2)); }
    vBool operator>=(const vInt& b) const { return vBool(builtin_sfpi_compare_integers(lanes, b.lanes, 3)); }
    vBool operator==(const vInt& b) const { return vBool(builtin_sfpi_compare_integers(lanes, b.lanes, 4)); }
    vBool operator!=(const vInt& b) const { return vBool(builtin_sfpi_compare_integers(lanes, b.lanes, 5)); }
};

class vUInt {
public:
    builtin_sfpi_integers lanes;

    vUInt() : lanes(builtin_sfpi_fill_integers(0)) {}
    vUInt(unsigned value) : lanes(builtin_sfpi_fill_integers(value)) {}
    explicit vUInt(builtin_sfpi_integers given) : lanes(given) {}
    vUInt(const vInt& b) : lanes(b.lanes) {}
    vUInt(const vDReg& b);
    vUInt(const vLReg& b);
    vUInt& operator=(const vUInt& b) {
        lanes = builtin_sfpi_assign_integers(lanes, b.lanes);
        return *this;
    }
    vUInt operator+(const vUInt& b) const { return vUInt(builtin_sfpi_add_integers(lanes, b.lanes)); }
    vUInt operator-(const vUInt& b) const { return vUInt(builtin_sfpi_subtract_integers(lanes, b.lanes)); }
    vUInt operator&(const vUInt& b) const { return vUInt(builtin_sfpi_and_integers(lanes, b.lanes)); }
    vUInt operator|(const vUInt& b) const { return vUInt(builtin_sfpi_or_integers(lanes, b.lanes)); }
    vUInt operator^(const vUInt& b) const { return vUInt(builtin_sfpi_xor_integers(lanes, b.lanes)); }
    vUInt operator~() const { return vUInt(builtin_sfpi_invert_integers(lanes)); }
    vUInt operator<<(const vInt& b) const { return vUInt(builtin_sfpi_shift_integers(lanes, b.lanes)); }
    vUInt operator>>(const vInt& b) const { return vUInt(builtin_sfpi_shift_integers(lanes, (vInt(0) - b).lanes)); }
    vUInt& operator+=(const vUInt& b) { return *this = *this + b; }
    vUInt& operator-=(const vUInt& b) { return *this = *this - b; }
    vUInt& operator&=(const vUInt& b) { return *this = *this & b; }
    vUInt& operator|=(const vUInt& b) { return *this = *this | b; }
    vUInt& operator^=(const vUInt& b) { return *this = *this ^ b; }
    vUInt& operator<<=(const vInt& b) { return *this = *this << b; }
    vUInt& operator>>=(const vInt& b) { return *this = *this >> b; }
    vBool operator<(const vUInt& b) const { return vBool(builtin_sfpi_compare_unsigned(lanes, b.lanes, 0)); }
    vBool operator<=(const vUInt& b) const { return vBool(builtin_sfpi_compare_unsigned(lanes, b.lanes, 1)); }
    vBool operator>(const vUInt& b) const { return vBool(builtin_sfpi_compare_unsigned(lanes, b.lanes, 2)); }
    vBool operator>=(const vUInt& b) const { return vBool(builtin_sfpi_compare_unsigned(lanes, b.lanes, 3)); }
    vBool operator==(const vUInt& b) const { return vBool(builtin_sfpi_compare_unsigned(lanes, b.lanes, 4)); }
    vBool operator!=(const vUInt& b) const { return vBool(builtin_sfpi_compare_unsigned(lanes, b.lanes, 5)); }
};

inline vInt::vInt(const vUInt& b) : lanes(b.lanes) {}

inline vFloat operator+(float a, const vFloat& b) { return vFloat(a) + b; }
inline vFloat operator-(float a, const vFloat& b) { return vFloat(a) - b; }
inline vFloat operator*(float a, const vFloat& b) { return vFloat(a) * b; }
inline vBool operator<(float a, const vFloat& b) { return vFloat(a) < b; }
inline vBool operator<=(float a, const vFloat& b) { return vFloat(a) <= b; }
inline vBool operator>(float a, const vFloat& b) { return vFloat(a) > b; }
inline vBool operator>=(float a, const vFloat& b) { return vFloat(a) >= b; }
inline vBool operator==(float a, const vFloat& b) { return vFloat(a) == b; }
inline vBool operator!=(float a, const vFloat& b) { return vFloat(a) != b; }
inline vInt operator+(int a, const vInt& b) { return vInt(a) + b; }
inline vInt operator-(int a, const vInt& b) { return vInt(a) - b; }
inline vInt operator&(int a, const vInt& b) { return vInt(a) & b; }
inline vInt operator|(int a, const vInt& b) { return vInt(a) | b; }
inline vInt operator^(int a, const vInt& b) { return vInt(a) ^ b; }
inline vBool operator<(int a, const vInt& b) { return vInt(a) < b; }
inline vBool operator<=(int a, const vInt& b) { return vInt(a) <= b; }
inline vBool operator>(int a, const vInt& b) { return vInt(a) > b; }
inline vBool operator>=(int a, const vInt& b) { return vInt(a) >= b; }
inline vBool operator==(int a, const vInt& b) { return vInt(a) == b; }
inline vBool operator!=(int a, const vInt& b) { return vInt(a) != b; }
inline vUInt operator+(unsigned a, const vUInt& b) { return vUInt(a) + b; }
inline vUInt operator-(unsigned a, const vUInt& b) { return vUInt(a) - b; }
inline vUInt operator&(unsigned a, const vUInt& b) { return vUInt(a) & b; }
inline vUInt operator|(unsigned a, const vUInt& b) { return vUInt(a) | b; }
inline vUInt operator^(unsigned a, const vUInt& b) { return vUInt(a) ^ b; }

// Numbers of 16 bits that fill a vector: given as a number, or by their bits.
class s2vFloat16b {
public:
    uint32_t bits;

    explicit s2vFloat16b(float value) : bits(std::bit_cast<uint32_t>(value) & 0xffff0000u) {}
    explicit s2vFloat16b(uint32_t given) : bits(given << 16) {}
    explicit s2vFloat16b(int given) : bits(uint32_t(given) << 16) {}
};

class s2vFloat16a {
public:
    uint32_t bits;

    explicit s2vFloat16a(float value) : bits(std::bit_cast<uint32_t>(value) & 0xffffe000u) {}
    explicit s2vFloat16a(uint32_t given)
        : bits((given & 0x7fff) == 0 ? given << 16
               : (given & 0x8000) << 16 | (((given >> 10 & 31) + 112) << 23) | (given & 0x3ff) << 13) {}
    explicit s2vFloat16a(int given) : s2vFloat16a(uint32_t(given)) {}
};

inline vFloat::vFloat(const s2vFloat16a& b) : lanes(builtin_sfpi_fill_floats(std::bit_cast<float>(b.bits))) {}
inline vFloat::vFloat(const s2vFloat16b& b) : lanes(builtin_sfpi_fill_floats(std::bit_cast<float>(b.bits))) {}

// A vector of DST.
class vDReg {
public:
    uint32_t index;

    explicit vDReg(uint32_t given) : index(given) {}
    vFloat value() const { return vFloat(builtin_sfpi_load_floats(index)); }
    void operator=(const vFloat& b) const { builtin_sfpi_store_floats(index, b.lanes); }
    void operator=(const vInt& b) const { builtin_sfpi_store_integers(index, b.lanes); }
    void operator=(const vUInt& b) const { builtin_sfpi_store_integers(index, b.lanes); }
    void operator=(const vDReg& b) const { builtin_sfpi_store_floats(index, b.value().lanes); }
    void operator=(const s2vFloat16b& b) const { *this = vFloat(b); }
    void operator=(const s2vFloat16a& b) const { *this = vFloat(b); }
    void operator=(float b) const { *this = vFloat(b); }
    void operator+=(const vFloat& b) const { *this = value() + b; }
    void operator-=(const vFloat& b) const { *this = value() - b; }
    void operator*=(const vFloat& b) const { *this = value() * b; }
    vFloat operator-() const { return -value(); }
};

inline vFloat operator+(const vDReg& a, const vFloat& b) { return a.value() + b; }
inline vFloat operator-(const vDReg& a, const vFloat& b) { return a.value() - b; }
inline vFloat operator*(const vDReg& a, const vFloat& b) { return a.value() * b; }
inline vFloat operator+(float a, const vDReg& b) { return vFloat(a) + b.value(); }
inline vFloat operator-(float a, const vDReg& b) { return vFloat(a) - b.value(); }
inline vFloat operator*(float a, const vDReg& b) { return vFloat(a) * b.value(); }
inline vBool operator<(const vDReg& a, const vFloat& b) { return a.value() < b; }
inline vBool operator<=(const vDReg& a, const vFloat& b) { return a.value() <= b; }
inline vBool operator>(const vDReg& a, const vFloat& b) { return a.value() > b; }
inline vBool operator>=(const vDReg& a, const vFloat& b) { return a.value() >= b; }
inline vBool operator==(const vDReg& a, const vFloat& b) { return a.value() == b; }
inline vBool operator!=(const vDReg& a, const vFloat& b) { return a.value() != b; }

inline vFloat::vFloat(const vDReg& b) : lanes(builtin_sfpi_load_floats(b.index)) {}
inline vInt::vInt(const vDReg& b) : lanes(builtin_sfpi_load_integers(b.index)) {}
inline vUInt::vUInt(const vDReg& b) : lanes(builtin_sfpi_load_integers(b.index)) {}

class DestinationRegisters {
public:
    vDReg operator[](uint32_t index) const { return vDReg(index); }
    void operator++() const { builtin_sfpi_advance(1); }
    void operator++(int) const { builtin_sfpi_advance(1); }
    void operator+=(int count) const { builtin_sfpi_advance(count); }
};

constexpr DestinationRegisters dst_reg{};

// A register that the kernel names: it keeps its bits from call to call.
class vLReg {
public:
    uint32_t index;

    explicit vLReg(uint32_t given) : index(given) {}
    void operator=(const vFloat& b) const { builtin_sfpi_write_register(index, builtin_sfpi_bits_of_floats(b.lanes)); }
    void operator=(const vInt& b) const { builtin_sfpi_write_register(index, b.lanes); }
    void operator=(const vUInt& b) const { builtin_sfpi_write_register(index, b.lanes); }
};

inline vFloat::vFloat(const vLReg& b) : lanes(builtin_sfpi_floats_of_bits(builtin_sfpi_read_register(b.index))) {}
inline vInt::vInt(const vLReg& b) : lanes(builtin_sfpi_read_register(b.index)) {}
inline vUInt::vUInt(const vLReg& b) : lanes(builtin_sfpi_read_register(b.index)) {}

class LocalRegisters {
public:
    vLReg operator[](LRegs index) const { return vLReg(static_cast<uint32_t>(index)); }
};

constexpr LocalRegisters l_reg{};

// Constants; those with a number can be set.
class ConstantFloat {
public:
    uint32_t index;

    void operator=(const vFloat& b) const { builtin_sfpi_write_constant(index, builtin_sfpi_bits_of_floats(b.lanes)); }
};

class ConstantInteger {
public:
    uint32_t index;

    void operator=(const vInt& b) const { builtin_sfpi_write_constant(index, b.lanes); }
};

class LaneNumbers {
public:
};

class FixedFloat {
public:
    float number;

};

inline vFloat::vFloat(const ConstantFloat& b)
    : lanes(builtin_sfpi_floats_of_bits(builtin_sfpi_read_constant(b.index))) {}
inline vFloat::vFloat(const FixedFloat& b) : lanes(builtin_sfpi_fill_floats(b.number)) {}
inline vInt::vInt(const ConstantInteger& b) : lanes(builtin_sfpi_read_constant(b.index)) {}
inline vInt::vInt(const LaneNumbers& b) : lanes(builtin_sfpi_lane_numbers()) {}

constexpr FixedFloat vConst0{0.0f};
constexpr FixedFloat vConst1{1.0f};
constexpr FixedFloat vConstNeg1{-1.0f};
constexpr FixedFloat vConst0p8373{0.8373f};
constexpr LaneNumbers vConstTileId{};
constexpr ConstantFloat vConstFloatPrgm0{0};
constexpr ConstantFloat vConstFloatPrgm1{1};
constexpr ConstantFloat vConstFloatPrgm2{2};
constexpr ConstantInteger vConstIntPrgm0{0};
constexpr ConstantInteger vConstIntPrgm1{1};
constexpr ConstantInteger vConstIntPrgm2{2};

inline vFloat operator+(const FixedFloat& a, const vFloat& b) { return vFloat(a.number) + b; }
inline vFloat operator-(const FixedFloat& a, const vFloat& b) { return vFloat(a.number) - b; }
inline vFloat operator*(const FixedFloat& a, const vFloat& b) { return vFloat(a.number) * b; }
inline vFloat operator+(const ConstantFloat& a, const vFloat& b) { return vFloat(a) + b; }
inline vFloat operator-(const ConstantFloat& a, const vFloat& b) { return vFloat(a) - b; }
inline vFloat operator*(const ConstantFloat& a, const vFloat& b) { return vFloat(a) * b; }

// Bits as another type.
inline vInt bits_of(const vFloat& x) { return vInt(builtin_sfpi_bits_of_floats(x.lanes)); }
inline vFloat float_of(const vInt& x) { return vFloat(builtin_sfpi_floats_of_bits(x.lanes)); }

template <typename To>
inline To reinterpret(const vInt& x) {
    if constexpr (std::is_same_v<To, vFloat>) {
        return float_of(x);
    } else {
        return To(x.lanes);
    }
}
template <typename To>
inline To reinterpret(const vUInt& x) { return reinterpret<To>(vInt(x.lanes)); }
template <typename To>
inline To reinterpret(const vFloat& x) { return reinterpret<To>(bits_of(x)); }
template <typename To, typename From>
inline To as(const From& x) { return reinterpret<To>(x); }

// Parts of numbers.
inline vFloat abs(const vFloat& x) { return vFloat(builtin_sfpi_absolute_floats(x.lanes)); }
inline vInt abs(const vInt& x) { return vInt(builtin_sfpi_absolute_integers(x.lanes)); }
inline vFloat setsgn(const vFloat& x, int sign) {
    return float_of((bits_of(x) & 0x7fffffff) | int(uint32_t(sign & 1) << 31));
}
inline vInt setsgn(const vInt& x, int sign) { return (x & 0x7fffffff) | int(uint32_t(sign & 1) << 31); }
inline vFloat setsgn(const vFloat& x, const vFloat& sign) {
    return float_of((bits_of(x) & 0x7fffffff) | (bits_of(sign) & int(0x80000000u)));
}
inline vFloat setsgn(const vFloat& x, const vInt& sign) {
    return float_of((bits_of(x) & 0x7fffffff) | (sign & int(0x80000000u)));
}
inline vInt setsgn(const vInt& x, const vInt& sign) { return (x & 0x7fffffff) | (sign & int(0x80000000u)); }
inline vFloat copysgn(const vFloat& x, const vFloat& sign) { return setsgn(x, sign); }

inline vInt exexp_nodebias(const vFloat& x) {
    return vInt(builtin_sfpi_shift_integers((bits_of(x) & 0x7f800000).lanes, vInt(-23).lanes));
}
inline vInt exexp(const vFloat& x) { return exexp_nodebias(x) - 127; }
inline vInt exexp(const vFloat& x, ExponentMode mode) {
    return mode == ExponentMode::Biased ? exexp_nodebias(x) : exexp(x);
}
inline vInt exman9(const vFloat& x) { return bits_of(x) & 0x7fffff; }
inline vInt exman8(const vFloat& x) { return exman9(x) | 0x800000; }
inline vInt exman(const vFloat& x, MantissaMode mode = MantissaMode::WithHidden) {
    return mode == MantissaMode::WithHidden ? exman8(x) : exman9(x);
}
inline vFloat setexp(const vFloat& x, const vInt& exponent) {
    return float_of((bits_of(x) & int(0x807fffffu)) | ((exponent & 255) << 23));
}
inline vFloat setexp(const vFloat& x, int exponent) { return setexp(x, vInt(exponent)); }
inline vFloat setexp(const vFloat& x, uint32_t exponent) { return setexp(x, vInt(int(exponent))); }
inline vFloat setman(const vFloat& x, const vInt& mantissa) {
    return float_of((bits_of(x) & int(0xff800000u)) | (mantissa & 0x7fffff));
}
inline vFloat setman(const vFloat& x, int mantissa) { return setman(x, vInt(mantissa)); }
inline vFloat addexp(const vFloat& x, int count) {
    vInt exponent = exexp_nodebias(x);
    vFloat moved = setexp(x, exponent + count);
    vBool keeps = exponent == 0 || exponent == 255;
    builtin_sfpi_begin_if(keeps.lanes);
    moved = x;
    builtin_sfpi_end_if();
    return moved;
}
inline vFloat ldexp(const vFloat& x, int count) { return addexp(x, count); }
inline vInt lz(const vFloat& x) { return vInt(builtin_sfpi_count_leading_zeros(bits_of(x).lanes)); }
inline vInt lz(const vInt& x) { return vInt(builtin_sfpi_count_leading_zeros(x.lanes)); }
inline vInt lz(const vUInt& x) { return vInt(builtin_sfpi_count_leading_zeros(x.lanes)); }
inline vInt lz_nosgn(const vFloat& x) { return lz(bits_of(x) & 0x7fffffff); }
inline vInt lz_nosgn(const vInt& x) { return lz(x & 0x7fffffff); }
inline vUInt shft(const vUInt& x, const vInt& count) { return vUInt(builtin_sfpi_shift_integers(x.lanes, count.lanes)); }
inline vUInt shft(const vUInt& x, int count) { return shft(x, vInt(count)); }
inline vInt shft(const vInt& x, const vInt& count) { return vInt(builtin_sfpi_shift_integers(x.lanes, count.lanes)); }
inline vInt shft(const vInt& x, int count) { return shft(x, vInt(count)); }
inline vInt shft(const vInt& x, const vInt& count, ShiftMode mode) {
    return mode == ShiftMode::Arithmetic ? vInt(builtin_sfpi_shift_signed(x.lanes, count.lanes)) : shft(x, count);
}

// Lines by tables of slopes and intercepts, by the size of x. Without `_sign` the sign of x stays.
inline vFloat look_up(const vFloat& x, const vUInt& a, const vUInt& b, const vUInt& c, int table, bool keeps) {
    return vFloat(builtin_sfpi_look_up(x.lanes, a.lanes, b.lanes, c.lanes, a.lanes, b.lanes, c.lanes, table, keeps));
}
inline vFloat look_up(
    const vFloat& x, const vUInt& a, const vUInt& b, const vUInt& c, const vUInt& d, const vUInt& e,
    const vUInt& f, int table, bool keeps) {
    return vFloat(builtin_sfpi_look_up(x.lanes, a.lanes, b.lanes, c.lanes, d.lanes, e.lanes, f.lanes, table, keeps));
}
inline vFloat lut(const vFloat& x, const vUInt& a, const vUInt& b, const vUInt& c) { return look_up(x, a, b, c, 0, true); }
inline vFloat lut_sign(const vFloat& x, const vUInt& a, const vUInt& b, const vUInt& c) { return look_up(x, a, b, c, 0, false); }
inline vFloat lut2(const vFloat& x, const vUInt& a, const vUInt& b, const vUInt& c) { return look_up(x, a, b, c, 1, true); }
inline vFloat lut2_sign(const vFloat& x, const vUInt& a, const vUInt& b, const vUInt& c) { return look_up(x, a, b, c, 1, false); }
inline vFloat lut2(
    const vFloat& x, const vFloat& a, const vFloat& b, const vFloat& c, const vFloat& d, const vFloat& e, const vFloat& f) {
    return vFloat(builtin_sfpi_look_up(x.lanes, bits_of(a).lanes, bits_of(b).lanes, bits_of(c).lanes, bits_of(d).lanes, bits_of(e).lanes, bits_of(f).lanes, 2, true));
}
inline vFloat lut2_sign(
    const vFloat& x, const vFloat& a, const vFloat& b, const vFloat& c, const vFloat& d, const vFloat& e, const vFloat& f) {
    return vFloat(builtin_sfpi_look_up(x.lanes, bits_of(a).lanes, bits_of(b).lanes, bits_of(c).lanes, bits_of(d).lanes, bits_of(e).lanes, bits_of(f).lanes, 2, false));
}
inline vFloat lut2(
    const vFloat& x, const vUInt& a, const vUInt& b, const vUInt& c, const vUInt& d, const vUInt& e,
    const vUInt& f, int mode = 1) {
    return look_up(x, a, b, c, d, e, f, mode == 1 ? 3 : 4, true);
}
inline vFloat lut2_sign(
    const vFloat& x, const vUInt& a, const vUInt& b, const vUInt& c, const vUInt& d, const vUInt& e,
    const vUInt& f, int mode = 1) {
    return look_up(x, a, b, c, d, e, f, mode == 1 ? 3 : 4, false);
}

// Coefficients of a table in 8 or 16 bits: a slope and an intercept, two slopes or two intercepts.
enum class LutSign { Retain, Update };
enum class LutMode { Fp8x3, Fp16x3, Fp32x3, Fp16x6_HWM3, Fp16x6_HWM4 };
constexpr unsigned lut_intercepts = 0;
constexpr unsigned lut_lines = 2;
constexpr unsigned lut_slopes = 3;

template <bool IsHalf>
constexpr uint32_t encode_coefficient(float value) {
    constexpr unsigned kept = IsHalf ? 10 : 4;
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t sign = bits >> 31;
    const uint32_t rounded = (bits & 0x7fffffffu) + (1u << (22 - kept));
    const int exponent = int(rounded >> 23) - 128;
    const uint32_t mantissa = (rounded & 0x7fffffu) >> (23 - kept);
    if constexpr (IsHalf) {
        const uint32_t number = exponent < -16 ? 0x7c00u : exponent >= 15 ? 0x7bffu : uint32_t(exponent + 16) << 10 | mantissa;
        return sign << 15 | number;
    } else {
        const uint32_t number = exponent < -7 ? 0xffu : exponent >= 0 ? 0x0fu : uint32_t(-1 - exponent) << 4 | mantissa;
        return sign << 7 | number;
    }
}

template <bool IsHalf, unsigned Kind>
class sLut {
public:
    using single_t = std::conditional_t<IsHalf, uint16_t, uint8_t>;

    uint32_t bits;

    constexpr explicit sLut(single_t a, single_t b) : bits(join(a, b)) {}
    constexpr explicit sLut(int a, int b) : bits(join(uint32_t(a), uint32_t(b))) {}
    constexpr sLut(float a, float b) : bits(join(encode_coefficient<IsHalf>(a), encode_coefficient<IsHalf>(b))) {}
    constexpr sLut(sLut<IsHalf, lut_lines> a, sLut<IsHalf, lut_lines> b)
        : bits(Kind == lut_slopes ? join(a.bits >> 16, b.bits >> 16) : join(a.bits, b.bits)) {
        static_assert(IsHalf && Kind != lut_lines, "two lines make sLut16ss or sLut16ii");
    }
    constexpr uint32_t get() const { return bits; }
    static constexpr uint32_t join(uint32_t a, uint32_t b) {
        const uint32_t mask = IsHalf ? 0xffffu : 0xffu;
        const unsigned width = IsHalf ? 16 : 8;
        return Kind == lut_lines ? (a & mask) << width | (b & mask) : (b & mask) << width | (a & mask);
    }
};

template <bool IsHalf, unsigned Kind>
class vLut {
public:
    builtin_sfpi_integers lanes;

    explicit vLut(builtin_sfpi_integers given) : lanes(given) {}
    explicit vLut(sLut<IsHalf, Kind> given) : lanes(vUInt(given.get()).lanes) {}
    explicit vLut(typename sLut<IsHalf, Kind>::single_t a, typename sLut<IsHalf, Kind>::single_t b)
        : vLut(sLut<IsHalf, Kind>(a, b)) {}
    vLut(float a, float b) : vLut(sLut<IsHalf, Kind>(a, b)) {}
};

using sLut8si = sLut<false, lut_lines>;
using sLut16si = sLut<true, lut_lines>;
using sLut16ss = sLut<true, lut_slopes>;
using sLut16ii = sLut<true, lut_intercepts>;
using vLut8si = vLut<false, lut_lines>;
using vLut16si = vLut<true, lut_lines>;
using vLut16ss = vLut<true, lut_slopes>;
using vLut16ii = vLut<true, lut_intercepts>;

class sLut32si {
public:
    float slope;
    float intercept;

    constexpr sLut32si(float a, float b) : slope(a), intercept(b) {}
    vFloat s() const { return vFloat(slope); }
    vFloat i() const { return vFloat(intercept); }
};

class vLut32si {
public:
    vFloat slope;
    vFloat intercept;

    vLut32si(sLut32si given) : slope(given.s()), intercept(given.i()) {}
    vLut32si(const vFloat& a, const vFloat& b) : slope(a), intercept(b) {}
    vLut32si(float a, float b) : slope(a), intercept(b) {}
};

inline vFloat lut(
    const vFloat& x, const vLut8si& a, const vLut8si& b, const vLut8si& c, LutSign sign = LutSign::Retain) {
    return look_up(x, vUInt(a.lanes), vUInt(b.lanes), vUInt(c.lanes), 0, sign == LutSign::Retain);
}
inline vFloat lut(
    const vFloat& x, const vLut16si& a, const vLut16si& b, const vLut16si& c, LutSign sign = LutSign::Retain) {
    return look_up(x, vUInt(a.lanes), vUInt(b.lanes), vUInt(c.lanes), 1, sign == LutSign::Retain);
}
inline vFloat lut(
    const vFloat& x, const vLut32si& a, const vLut32si& b, const vLut32si& c, LutSign sign = LutSign::Retain) {
    return sign == LutSign::Retain
               ? lut2(x, a.slope, b.slope, c.slope, a.intercept, b.intercept, c.intercept)
               : lut2_sign(x, a.slope, b.slope, c.slope, a.intercept, b.intercept, c.intercept);
}
template <LutMode Mode = LutMode::Fp16x6_HWM3>
inline vFloat lut(
    const vFloat& x, const vLut16ss& a, const vLut16ii& b, const vLut16ss& c, const vLut16ii& d,
    const vLut16ss& e, const vLut16ii& f, LutSign sign = LutSign::Retain) {
    constexpr int table = Mode == LutMode::Fp16x6_HWM3 ? 3 : 4;
    return look_up(
        x, vUInt(a.lanes), vUInt(c.lanes), vUInt(e.lanes), vUInt(b.lanes), vUInt(d.lanes), vUInt(f.lanes),
        table, sign == LutSign::Retain);
}

// Conversions. Integers of these have a sign bit and are in no two's complement.
class vSMag {
public:
    builtin_sfpi_integers lanes;

    explicit vSMag(builtin_sfpi_integers given) : lanes(given) {}
};

class vFloat16b {
public:
    builtin_sfpi_floats lanes;

    explicit vFloat16b(builtin_sfpi_floats given) : lanes(given) {}
};

class vFloat16a {
public:
    builtin_sfpi_floats lanes;

    explicit vFloat16a(builtin_sfpi_floats given) : lanes(given) {}
};

inline vFloat::vFloat(const vFloat16a& b) : lanes(b.lanes) {}
inline vFloat::vFloat(const vFloat16b& b) : lanes(b.lanes) {}

inline vFloat int32_to_float(const vInt& x, int round = 1) { return vFloat(builtin_sfpi_floats_of_integers(x.lanes)); }
inline vUInt float_to_fp16a(const vFloat& x, int round = 1) {
    return vUInt(builtin_sfpi_bits_of_floats(builtin_sfpi_round_to_fp16a(x.lanes, round)));
}
inline vUInt float_to_fp16b(const vFloat& x, int round = 1) {
    return vUInt(builtin_sfpi_bits_of_floats(builtin_sfpi_round_to_fp16b(x.lanes, round)));
}
inline vUInt float_to_uint8(const vFloat& x, int round = 1) { return vUInt(builtin_sfpi_round_to_integers(x.lanes, round, 255, 0)); }
inline vInt float_to_int8(const vFloat& x, int round = 1) { return vInt(builtin_sfpi_round_to_integers(x.lanes, round, 127, 1)); }
inline vUInt float_to_uint16(const vFloat& x, int round = 1) { return vUInt(builtin_sfpi_round_to_integers(x.lanes, round, 65535, 0)); }
inline vInt float_to_int16(const vFloat& x, int round = 1) { return vInt(builtin_sfpi_round_to_integers(x.lanes, round, 32767, 1)); }

template <typename To>
inline To convert(const vSMag& x, RoundMode mode = RoundMode::Nearest) {
    if constexpr (std::is_same_v<To, vFloat>) {
        return vFloat(builtin_sfpi_floats_of_integers(x.lanes));
    } else {
        vInt bits(x.lanes);
        vInt value = bits & 0x7fffffff;
        builtin_sfpi_begin_if((bits < 0).lanes);
        value = 0 - value;
        builtin_sfpi_end_if();
        return value;
    }
}
template <typename To>
inline To convert(const vInt& x, RoundMode mode = RoundMode::Nearest) {
    vInt bits = abs(x);
    builtin_sfpi_begin_if((x < 0).lanes);
    bits |= int(0x80000000u);
    builtin_sfpi_end_if();
    if constexpr (std::is_same_v<To, vFloat>) {
        return vFloat(builtin_sfpi_floats_of_integers(bits.lanes));
    } else {
        return To(bits.lanes);
    }
}
template <typename To>
inline To convert(const vFloat& x, RoundMode mode = RoundMode::Nearest) {
    if constexpr (std::is_same_v<To, vFloat16b>) {
        return vFloat16b(builtin_sfpi_round_to_fp16b(x.lanes, static_cast<int>(mode)));
    } else if constexpr (std::is_same_v<To, vFloat16a>) {
        return vFloat16a(builtin_sfpi_round_to_fp16a(x.lanes, static_cast<int>(mode)));
    } else {
        static_assert(std::is_same_v<To, vFloat>, "convert makes vFloat16a, vFloat16b or vFloat of a vFloat");
        return x;
    }
}

// Functions of several numbers.
inline vFloat min(const vFloat& a, const vFloat& b) { return vFloat(builtin_sfpi_minimum_floats(a.lanes, b.lanes)); }
inline vFloat max(const vFloat& a, const vFloat& b) { return vFloat(builtin_sfpi_maximum_floats(a.lanes, b.lanes)); }
inline vFloat clamp(const vFloat& x, const vFloat& low, const vFloat& high) { return min(max(x, low), high); }
inline vFloat symmetric_clamp(const vFloat& x, const vFloat& limit) { return clamp(x, -limit, limit); }
inline void vec_min_max(vFloat& a, vFloat& b) {
    vFloat smaller = min(a, b);
    b = max(a, b);
    a = smaller;
}
template <typename T>
inline void vec_swap(T& a, T& b) {
    T before = a;
    a = b;
    b = before;
}
inline void swap(vFloat& a, vFloat& b) { vec_swap(a, b); }
inline void swap(vInt& a, vInt& b) { vec_swap(a, b); }
inline vFloat polynomial(const vFloat& x, const vFloat& c0) { return c0; }
template <typename... Rest>
inline vFloat polynomial(const vFloat& x, const vFloat& c0, const Rest&... rest) { return polynomial(x, rest...) * x + c0; }
inline vBool is_nan(const vFloat& x) { return (bits_of(x) & 0x7fffffff) > 0x7f800000; }
inline vBool is_inf(const vFloat& x) { return (bits_of(x) & 0x7fffffff) == 0x7f800000; }
inline vBool is_zero(const vFloat& x) { return (bits_of(x) & 0x7fffffff) == 0; }
inline vBool is_neg(const vFloat& x) { return bits_of(x) < 0; }
inline vUInt rand() { return vUInt(builtin_sfpi_draw_integers()); }
inline vFloat approx_recip(const vFloat& x) { return vFloat(builtin_sfpi_approximate_reciprocal(x.lanes)); }
inline vFloat approx_exp(const vFloat& x) { return vFloat(builtin_sfpi_approximate_exponential(x.lanes)); }

// Rows of 8 lanes.
inline vInt subvec_shflror1(const vInt& x) { return vInt(builtin_sfpi_rotate_rows(x.lanes)); }
inline vUInt subvec_shflror1(const vUInt& x) { return vUInt(builtin_sfpi_rotate_rows(x.lanes)); }
inline vFloat subvec_shflror1(const vFloat& x) { return float_of(subvec_shflror1(bits_of(x))); }
inline vInt subvec_shflshr1(const vInt& x) { return vInt(builtin_sfpi_shift_rows(x.lanes)); }
inline vUInt subvec_shflshr1(const vUInt& x) { return vUInt(builtin_sfpi_shift_rows(x.lanes)); }
inline vFloat subvec_shflshr1(const vFloat& x) { return float_of(subvec_shflshr1(bits_of(x))); }
template <typename T>
inline void subvec_transp(T& a, T& b, T& c, T& d) {
    vInt w = reinterpret<vInt>(a), x = reinterpret<vInt>(b), y = reinterpret<vInt>(c), z = reinterpret<vInt>(d);
    a = reinterpret<T>(vInt(builtin_sfpi_row_of_registers(w.lanes, x.lanes, y.lanes, z.lanes, 0)));
    b = reinterpret<T>(vInt(builtin_sfpi_row_of_registers(w.lanes, x.lanes, y.lanes, z.lanes, 1)));
    c = reinterpret<T>(vInt(builtin_sfpi_row_of_registers(w.lanes, x.lanes, y.lanes, z.lanes, 2)));
    d = reinterpret<T>(vInt(builtin_sfpi_row_of_registers(w.lanes, x.lanes, y.lanes, z.lanes, 3)));
}

// What v_if and the other macros are made of.
inline void begin_if(const vBool& condition) { builtin_sfpi_begin_if(condition.lanes); }
inline void begin_else() { builtin_sfpi_begin_else(); }
inline void begin_elseif(const vBool& condition) { builtin_sfpi_begin_elseif(condition.lanes); }
inline void begin_block() { builtin_sfpi_begin_block(); }
inline void narrow(const vBool& condition) { builtin_sfpi_narrow(condition.lanes); }
inline void end_if() { builtin_sfpi_end_if(); }

}  // namespace sfpi
