// Integers of 32 bits: the ends of their range, as kernels that search for extremes name them.
#pragma once

#include <cstdint>

inline constexpr int32_t NEG_INF_INT32 = static_cast<int32_t>(0x80000000);
inline constexpr int32_t POS_INF_INT32 = 0x7FFFFFFF;
inline constexpr uint32_t INT32_SIGN_MASK = 0x80000000;

inline bool int32_greater(int32_t a, int32_t b) { return a > b; }
