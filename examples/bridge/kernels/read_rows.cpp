// Writes a tile of ones into L1, and brings tiles from a tensor, row by row.
#include <cstdint>
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t first_row = get_arg_val<uint32_t>(0);  // of tiles
    const uint32_t rows = get_arg_val<uint32_t>(1);
    constexpr uint32_t columns = get_compile_time_arg_val(0);
    constexpr auto x_args = TensorAccessorArgs<1>();
    constexpr uint32_t cb_x = tt::CBIndex::c_0;
    constexpr uint32_t cb_ones = tt::CBIndex::c_1;

    cb_reserve_back(cb_ones, 1);
    volatile tt_l1_ptr uint32_t* words =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(cb_ones));
    for (uint32_t word = 0; word < 512; word++) {
        words[word] = 0x3f803f80;  // two ones in bfloat16
    }
    cb_push_back(cb_ones, 1);

    const uint32_t tile_bytes = get_tile_size(cb_x);
    const auto x = TensorAccessor(x_args, get_common_arg_val<uint32_t>(0), tile_bytes);
    for (uint32_t row = first_row; row < first_row + rows; row++) {
        cb_reserve_back(cb_x, columns);
        uint32_t write = get_write_ptr(cb_x);
        for (uint32_t column = 0; column < columns; column++) {
            noc_async_read_tile(row * columns + column, x, write);
            write += tile_bytes;
        }
        noc_async_read_barrier();
        cb_push_back(cb_x, columns);
    }
}
