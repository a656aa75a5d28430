// Numbers of type bfloat16 as their bits.
#pragma once

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
