// Data movement: copies block after block of A and of B, along K, for one block of C.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    const uint32_t a_address = get_arg_val<uint32_t>(0);
    const uint32_t b_address = get_arg_val<uint32_t>(1);
    const uint32_t first_row = get_arg_val<uint32_t>(2);  // of the block of C, in tiles
    const uint32_t first_column = get_arg_val<uint32_t>(3);

    constexpr uint32_t Kt = get_compile_time_arg_val(0);
    constexpr uint32_t Nt = get_compile_time_arg_val(1);
    constexpr uint32_t block_m = get_compile_time_arg_val(2);
    constexpr uint32_t block_k = get_compile_time_arg_val(3);
    constexpr uint32_t block_n = get_compile_time_arg_val(4);

    constexpr uint32_t cb_a = tt::CBIndex::c_0;
    constexpr uint32_t cb_b = tt::CBIndex::c_1;
    const uint32_t a_tile_bytes = get_tile_size(cb_a);
    const uint32_t b_tile_bytes = get_tile_size(cb_b);
    const InterleavedAddrGenFast<true> a = {
        .bank_base_address = a_address,
        .page_size = a_tile_bytes,
        .data_format = get_dataformat(cb_a)};
    const InterleavedAddrGenFast<true> b = {
        .bank_base_address = b_address,
        .page_size = b_tile_bytes,
        .data_format = get_dataformat(cb_b)};

    for (uint32_t first_k = 0; first_k < Kt; first_k += block_k) {
        cb_reserve_back(cb_a, block_m * block_k);
        uint32_t a_write = get_write_ptr(cb_a);
        for (uint32_t m = 0; m < block_m; m++) {
            for (uint32_t k = 0; k < block_k; k++) {
                noc_async_read_tile((first_row + m) * Kt + first_k + k, a, a_write);
                a_write += a_tile_bytes;
            }
        }
        cb_reserve_back(cb_b, block_k * block_n);
        uint32_t b_write = get_write_ptr(cb_b);
        for (uint32_t k = 0; k < block_k; k++) {
            for (uint32_t n = 0; n < block_n; n++) {
                noc_async_read_tile((first_k + k) * Nt + first_column + n, b, b_write);
                b_write += b_tile_bytes;
            }
        }
        noc_async_read_barrier();  // one for many tiles: their latencies overlap
        cb_push_back(cb_a, block_m * block_k);
        cb_push_back(cb_b, block_k * block_n);
    }
}
