#pragma once
#include <sizes.hpp>
uint32_t add_three(uint32_t a) { return a + three; }
uint32_t add_table(uint32_t a) { return a + table; }
