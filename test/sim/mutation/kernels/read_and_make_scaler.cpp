// Writes a tile of ones into L1, and copies tiles from DRAM row by row.
#include <cstdint>
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t rows = get_arg_val<uint32_t>(1);  // in tiles
    const uint32_t columns = get_arg_val<uint32_t>(2);
    constexpr uint32_t cb_x = tt::CBIndex::c_0;
    constexpr uint32_t cb_scaler = tt::CBIndex::c_1;

    cb_reserve_back(cb_scaler, 1);
    volatile tt_l1_ptr uint32_t* words =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(cb_scaler));
    for (uint32_t word = 0; word < 512; word++) {
        words[word] = 0x3f803f80;  // two ones in bfloat16
    }
    cb_push_back(cb_scaler, 1);

    const uint32_t tile_bytes = get_tile_size(cb_x);
    const InterleavedAddrGen<true> x = {.bank_base_address = address, .page_size = tile_bytes};
    for (uint32_t row = 0; row < rows; row++) {
        cb_reserve_back(cb_x, columns);
        uint32_t write = get_write_ptr(cb_x);
        for (uint32_t column = 0; column < columns; column++) {
            noc_async_read_page(row * columns + column, x, write);
            write += tile_bytes;
        }
        noc_async_read_barrier();
        cb_push_back(cb_x, columns);
    }
}
