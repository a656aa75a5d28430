// Numbers of type float as their bits.
#pragma once

#include <cstdint>

inline constexpr uint32_t NEG_INF_FLOAT32 = 0xFF800000;
inline constexpr uint32_t POS_INF_FLOAT32 = 0x7F800000;
inline constexpr uint32_t NAN_FLOAT32 = 0x7FFFFFFF;
inline constexpr uint32_t FLOAT32_SIGN_MASK = 0x80000000;
inline constexpr uint32_t FLOAT32_EXPONENT_MASK = 0x7F800000;
inline constexpr uint32_t FLOAT32_MANTISSA_MASK = 0x007FFFFF;
inline constexpr uint32_t FLOAT32_MAGNITUDE_MASK = 0x7FFFFFFF;

// Whether a > b, as numbers: -0 equals 0, and a NaN is not greater than anything, nor less.
inline bool float32_greater(uint32_t a, uint32_t b) {
  const uint32_t left = a & FLOAT32_MAGNITUDE_MASK;
  const uint32_t right = b & FLOAT32_MAGNITUDE_MASK;
  if (left > POS_INF_FLOAT32 || right > POS_INF_FLOAT32 || (left | right) == 0) {
    return false;
  }
  const bool is_negative = a != left;
  if (is_negative != (b != right)) {
    return !is_negative;
  }
  return is_negative ? left < right : left > right;
}
