// Data movement: the first core of a column copies blocks of B from DRAM and multicasts them to the
// cores below it, which only take delivery.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t first_column = get_arg_val<uint32_t>(1);
    const uint32_t sender_x = get_arg_val<uint32_t>(2);
    const uint32_t sender_y = get_arg_val<uint32_t>(3);
    const uint32_t start_x = get_arg_val<uint32_t>(4);  // rectangle of the receivers
    const uint32_t start_y = get_arg_val<uint32_t>(5);
    const uint32_t end_x = get_arg_val<uint32_t>(6);
    const uint32_t end_y = get_arg_val<uint32_t>(7);

    constexpr bool sends = get_compile_time_arg_val(0) == 1;
    constexpr uint32_t num_receivers = get_compile_time_arg_val(1);
    constexpr uint32_t Kt = get_compile_time_arg_val(2);
    constexpr uint32_t Nt = get_compile_time_arg_val(3);
    constexpr uint32_t block_k = get_compile_time_arg_val(4);
    constexpr uint32_t block_n = get_compile_time_arg_val(5);
    constexpr uint32_t ready_id = get_compile_time_arg_val(6);
    constexpr uint32_t valid_id = get_compile_time_arg_val(7);

    constexpr uint32_t cb = tt::CBIndex::c_1;
    const uint32_t tile_bytes = get_tile_size(cb);
    const uint32_t block_tiles = block_k * block_n;

    // `ready` counts the receivers that have room for a block; `valid` tells them it has arrived.
    const uint32_t ready_address = get_semaphore(ready_id);
    const uint32_t valid_address = get_semaphore(valid_id);
    volatile tt_l1_ptr uint32_t* ready =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(ready_address);
    volatile tt_l1_ptr uint32_t* valid =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(valid_address);

    if constexpr (sends) {
        const InterleavedAddrGenFast<true> b = {
            .bank_base_address = address,
            .page_size = tile_bytes,
            .data_format = get_dataformat(cb)};
        noc_semaphore_set(valid, VALID);  // what the receivers' `valid` is set to
        for (uint32_t first_k = 0; first_k < Kt; first_k += block_k) {
            cb_reserve_back(cb, block_tiles);
            const uint32_t block = get_write_ptr(cb);
            uint32_t write = block;
            for (uint32_t k = 0; k < block_k; k++) {
                for (uint32_t n = 0; n < block_n; n++) {
                    noc_async_read_tile((first_k + k) * Nt + first_column + n, b, write);
                    write += tile_bytes;
                }
            }
            noc_async_read_barrier();
            if constexpr (num_receivers > 0) {
                noc_semaphore_wait(ready, num_receivers);
                noc_semaphore_set(ready, 0);
                // All cores have the same buffers, so the block goes to the same address.
                const uint64_t receivers =
                    get_noc_multicast_addr(start_x, start_y, end_x, end_y, block);
                noc_async_write_multicast(
                    block, receivers, block_tiles * tile_bytes, num_receivers, true);
                noc_async_writes_flushed();
                // On the same way behind the block, so it arrives later. `true` links the two: the
                // way stays reserved in between. (Blackhole keeps the order only if the block has
                // left before.)
                const uint64_t flags =
                    get_noc_multicast_addr(start_x, start_y, end_x, end_y, valid_address);
                noc_semaphore_set_multicast(valid_address, flags, num_receivers);
            }
            cb_push_back(cb, block_tiles);
        }
        noc_async_write_barrier();
    } else {
        const uint64_t sender_ready = get_noc_addr(sender_x, sender_y, ready_address);
        for (uint32_t first_k = 0; first_k < Kt; first_k += block_k) {
            cb_reserve_back(cb, block_tiles);
            noc_semaphore_set(valid, INVALID);
            noc_semaphore_inc(sender_ready, 1);
            noc_semaphore_wait(valid, VALID);
            cb_push_back(cb, block_tiles);
        }
    }
}
