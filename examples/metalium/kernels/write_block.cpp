// Data movement: copies a block of C to DRAM, in the order in which compute makes its subblocks.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t first_row = get_arg_val<uint32_t>(1);
    const uint32_t first_column = get_arg_val<uint32_t>(2);

    constexpr uint32_t Nt = get_compile_time_arg_val(0);
    constexpr uint32_t block_m = get_compile_time_arg_val(1);
    constexpr uint32_t block_n = get_compile_time_arg_val(2);
    constexpr uint32_t subblock_m = get_compile_time_arg_val(3);
    constexpr uint32_t subblock_n = get_compile_time_arg_val(4);

    constexpr uint32_t cb = tt::CBIndex::c_16;
    const uint32_t tile_bytes = get_tile_size(cb);
    const InterleavedAddrGenFast<true> c = {
        .bank_base_address = address, .page_size = tile_bytes, .data_format = get_dataformat(cb)};

    for (uint32_t m = 0; m < block_m; m += subblock_m) {
        for (uint32_t n = 0; n < block_n; n += subblock_n) {
            cb_wait_front(cb, subblock_m * subblock_n);
            uint32_t read = get_read_ptr(cb);
            for (uint32_t i = 0; i < subblock_m; i++) {
                for (uint32_t j = 0; j < subblock_n; j++) {
                    const uint32_t row = first_row + m + i;
                    noc_async_write_tile(row * Nt + first_column + n + j, c, read);
                    read += tile_bytes;
                }
            }
            noc_async_write_barrier();
            cb_pop_front(cb, subblock_m * subblock_n);
        }
    }
}
