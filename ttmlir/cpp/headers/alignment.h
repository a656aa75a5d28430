// Addresses rounded up.
#pragma once

#include <cstdint>

// The alignment is a power of 2.
constexpr inline uint32_t align(uint32_t address, uint32_t alignment) {
  return (address + alignment - 1) & ~(alignment - 1);
}
