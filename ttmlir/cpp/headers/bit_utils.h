// Questions about powers of 2.
#pragma once

#include <cstdint>

constexpr inline bool is_power_of_2(uint32_t n) { return n != 0 && (n & (n - 1)) == 0; }

// The number of the highest bit that is set; 0 for 0.
constexpr inline uint32_t ilog2(uint32_t n) {
  uint32_t bit = 0;
  while (n > 1) {
    n >>= 1;
    bit += 1;
  }
  return bit;
}
