// Numbers of type bfloat16 as their bits.
#pragma once

#include <bit>
#include <cstdint>

inline constexpr uint16_t NEG_INF_BFLOAT16 = 0xFF80;
inline constexpr uint16_t POS_INF_BFLOAT16 = 0x7F80;
inline constexpr uint16_t NAN_BFLOAT16 = 0x7FFF;
inline constexpr uint16_t BFLOAT16_SIGN_MASK = 0x8000;
inline constexpr uint16_t BFLOAT16_EXPONENT_MASK = 0x7F80;
inline constexpr uint16_t BFLOAT16_MANTISSA_MASK = 0x007F;
inline constexpr uint16_t BFLOAT16_MAGNITUDE_MASK = 0x7FFF;

// Whether a > b; 0 is greater than -0, and a NaN is beyond the infinity of its sign.
inline bool bfloat16_greater(uint16_t a, uint16_t b) {
  const bool is_negative = (a & BFLOAT16_SIGN_MASK) != 0;
  if (is_negative != ((b & BFLOAT16_SIGN_MASK) != 0)) {
    return !is_negative;
  }
  return is_negative ? a < b : a > b;
}

inline float bf16_to_fp32(uint16_t number) {
  return std::bit_cast<float>(static_cast<uint32_t>(number) << 16);
}

// Cut off, which rounds towards 0.
inline uint16_t fp32_to_bf16_truncate(float number) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(number) >> 16);
}

// The nearest number, of two that are as near the even one; NaNs are rounded like numbers.
inline uint16_t fp32_to_bf16(float number) {
  const uint32_t bits = std::bit_cast<uint32_t>(number);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// The halves of a float, for instructions that take 16 bits.
struct FloatBits {
  uint16_t high16;
  uint16_t low16;

  explicit FloatBits(float number)
      : high16(fp32_to_bf16_truncate(number)),
        low16(static_cast<uint16_t>(std::bit_cast<uint32_t>(number))) {}
};
