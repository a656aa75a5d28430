// Data movement: the first core of a row copies blocks of A from DRAM and multicasts them to the
// cores to the right of it, which only take delivery; in the end each writes its block of C.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    const uint32_t a_address = get_arg_val<uint32_t>(0);
    const uint32_t c_address = get_arg_val<uint32_t>(1);
    const uint32_t first_row = get_arg_val<uint32_t>(2);
    const uint32_t first_column = get_arg_val<uint32_t>(3);
    const uint32_t sender_x = get_arg_val<uint32_t>(4);
    const uint32_t sender_y = get_arg_val<uint32_t>(5);
    const uint32_t start_x = get_arg_val<uint32_t>(6);  // rectangle of the receivers
    const uint32_t start_y = get_arg_val<uint32_t>(7);
    const uint32_t end_x = get_arg_val<uint32_t>(8);
    const uint32_t end_y = get_arg_val<uint32_t>(9);

    constexpr bool sends = get_compile_time_arg_val(0) == 1;
    constexpr uint32_t num_receivers = get_compile_time_arg_val(1);
    constexpr uint32_t Kt = get_compile_time_arg_val(2);
    constexpr uint32_t Nt = get_compile_time_arg_val(3);
    constexpr uint32_t block_m = get_compile_time_arg_val(4);
    constexpr uint32_t block_k = get_compile_time_arg_val(5);
    constexpr uint32_t block_n = get_compile_time_arg_val(6);
    constexpr uint32_t subblock_m = get_compile_time_arg_val(7);
    constexpr uint32_t subblock_n = get_compile_time_arg_val(8);
    constexpr uint32_t ready_id = get_compile_time_arg_val(9);
    constexpr uint32_t valid_id = get_compile_time_arg_val(10);

    constexpr uint32_t cb_a = tt::CBIndex::c_0;
    constexpr uint32_t cb_c = tt::CBIndex::c_16;
    const uint32_t a_tile_bytes = get_tile_size(cb_a);
    const uint32_t block_tiles = block_m * block_k;

    // `ready` counts the receivers that have room for a block; `valid` tells them it has arrived.
    const uint32_t ready_address = get_semaphore(ready_id);
    const uint32_t valid_address = get_semaphore(valid_id);
    volatile tt_l1_ptr uint32_t* ready =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(ready_address);
    volatile tt_l1_ptr uint32_t* valid =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(valid_address);

    if constexpr (sends) {
        const InterleavedAddrGenFast<true> a = {
            .bank_base_address = a_address,
            .page_size = a_tile_bytes,
            .data_format = get_dataformat(cb_a)};
        noc_semaphore_set(valid, VALID);
        for (uint32_t first_k = 0; first_k < Kt; first_k += block_k) {
            cb_reserve_back(cb_a, block_tiles);
            const uint32_t block = get_write_ptr(cb_a);
            uint32_t write = block;
            for (uint32_t m = 0; m < block_m; m++) {
                for (uint32_t k = 0; k < block_k; k++) {
                    noc_async_read_tile((first_row + m) * Kt + first_k + k, a, write);
                    write += a_tile_bytes;
                }
            }
            noc_async_read_barrier();
            if constexpr (num_receivers > 0) {
                noc_semaphore_wait(ready, num_receivers);
                noc_semaphore_set(ready, 0);
                const uint64_t receivers =
                    get_noc_multicast_addr(start_x, start_y, end_x, end_y, block);
                noc_async_write_multicast(
                    block, receivers, block_tiles * a_tile_bytes, num_receivers, true);
                noc_async_writes_flushed();
                const uint64_t flags =
                    get_noc_multicast_addr(start_x, start_y, end_x, end_y, valid_address);
                noc_semaphore_set_multicast(valid_address, flags, num_receivers);
            }
            cb_push_back(cb_a, block_tiles);
        }
        noc_async_write_barrier();
    } else {
        const uint64_t sender_ready = get_noc_addr(sender_x, sender_y, ready_address);
        for (uint32_t first_k = 0; first_k < Kt; first_k += block_k) {
            cb_reserve_back(cb_a, block_tiles);
            noc_semaphore_set(valid, INVALID);
            noc_semaphore_inc(sender_ready, 1);
            noc_semaphore_wait(valid, VALID);
            cb_push_back(cb_a, block_tiles);
        }
    }

    const uint32_t c_tile_bytes = get_tile_size(cb_c);
    const InterleavedAddrGenFast<true> c = {
        .bank_base_address = c_address,
        .page_size = c_tile_bytes,
        .data_format = get_dataformat(cb_c)};
    for (uint32_t m = 0; m < block_m; m += subblock_m) {
        for (uint32_t n = 0; n < block_n; n += subblock_n) {
            cb_wait_front(cb_c, subblock_m * subblock_n);
            uint32_t read = get_read_ptr(cb_c);
            for (uint32_t i = 0; i < subblock_m; i++) {
                for (uint32_t j = 0; j < subblock_n; j++) {
                    const uint32_t row = first_row + m + i;
                    noc_async_write_tile(row * Nt + first_column + n + j, c, read);
                    read += c_tile_bytes;
                }
            }
            noc_async_write_barrier();
            cb_pop_front(cb_c, subblock_m * subblock_n);
        }
    }
}
