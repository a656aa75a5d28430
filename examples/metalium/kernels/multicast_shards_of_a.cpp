// Data movement: A lies in L1, the first cores of a row have one block of it each. They take turns in
// multicasting their block to the whole row, themselves included.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    const uint32_t shard = get_arg_val<uint32_t>(0);
    const uint32_t own_turn = get_arg_val<uint32_t>(1);
    const uint32_t start_x = get_arg_val<uint32_t>(2);  // rectangle: the row
    const uint32_t start_y = get_arg_val<uint32_t>(3);
    const uint32_t end_x = get_arg_val<uint32_t>(4);
    const uint32_t end_y = get_arg_val<uint32_t>(5);
    const uint32_t first_sender = 6;  // from this argument on: x and y of each sender in turn

    constexpr uint32_t num_blocks = get_compile_time_arg_val(0);
    constexpr uint32_t row_cores = get_compile_time_arg_val(1);
    constexpr uint32_t block_tiles = get_compile_time_arg_val(2);
    constexpr uint32_t ready_id = get_compile_time_arg_val(3);
    constexpr uint32_t valid_id = get_compile_time_arg_val(4);

    constexpr uint32_t cb = tt::CBIndex::c_0;
    const uint32_t block_bytes = block_tiles * get_tile_size(cb);
    const uint32_t ready_address = get_semaphore(ready_id);
    const uint32_t valid_address = get_semaphore(valid_id);
    volatile tt_l1_ptr uint32_t* ready =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(ready_address);
    volatile tt_l1_ptr uint32_t* valid =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(valid_address);

    for (uint32_t block = 0; block < num_blocks; block++) {
        cb_reserve_back(cb, block_tiles);
        if (block == own_turn) {
            noc_semaphore_wait(ready, row_cores - 1);
            noc_semaphore_set(ready, 0);
            const uint64_t row =
                get_noc_multicast_addr(start_x, start_y, end_x, end_y, get_write_ptr(cb));
            noc_async_write_multicast_loopback_src(shard, row, block_bytes, row_cores, true);
            noc_async_writes_flushed();
            noc_semaphore_set(valid, VALID);
            const uint64_t flags =
                get_noc_multicast_addr(start_x, start_y, end_x, end_y, valid_address);
            noc_semaphore_set_multicast_loopback_src(valid_address, flags, row_cores);
            noc_async_write_barrier();
        } else {
            const uint32_t sender_x = get_arg_val<uint32_t>(first_sender + 2 * block);
            const uint32_t sender_y = get_arg_val<uint32_t>(first_sender + 2 * block + 1);
            noc_semaphore_set(valid, INVALID);
            noc_semaphore_inc(get_noc_addr(sender_x, sender_y, ready_address), 1);
            noc_semaphore_wait(valid, VALID);
        }
        cb_push_back(cb, block_tiles);
    }
}
