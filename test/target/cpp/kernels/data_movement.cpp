// Loops, casts and pointers of a kernel that fills and counts in L1.
#include <cstdint>
#include "dataflow_api.h"
using namespace tt;

constexpr uint32_t MASK[2] = {0xFFFF'0000u, 0x0000FFFFU};
static uint32_t total;
uint32_t count_set(uint32_t value);

void kernel_main() {
    uint32_t address = get_write_ptr(0);
    volatile tt_l1_ptr uint16_t* const words = (volatile tt_l1_ptr uint16_t*)(address);
    auto* bytes = reinterpret_cast<uint8_t*>(address + 64);
    int32_t step = -1;
    for (int i = 15; i >= 0; i += step) {
        if (i % 3 == 0) continue;
        else if ((i & 1) && !(i >> 3)) break;
        else words[i] = static_cast<uint16_t>(i << 4 | 7);
    }
    if constexpr (sizeof(uint32_t) == 4) {
        bytes[0] = uint8_t(~MASK[1]) ^ 'a';
        *(bytes + 1) = words[2] ? count_set(words[2]) : 0;
    }
    uint32_t i = 0;
    for (;;) {
        if (++i > 4 || i * 2 > 7) { break; }
        total -= i--;
        i++;
    }
    uint64_t noc = get_noc_addr(1, 2, address) + ((uint64_t)total << 32);
    noc_async_write(address, noc, 32);
    noc_async_write_barrier();
    return;
}

uint32_t count_set(uint32_t value) {
    uint32_t bits = 0;
    while (value) {
        bits += value & 1;
        value >>= 1;
    }
    return bits;
}
