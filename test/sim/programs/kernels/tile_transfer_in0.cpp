// The sending core: takes a tile from DRAM and hands it to the other core.
#include "dataflow_api.h"

void kernel_main() {
    uint32_t input_address = get_arg_val<uint32_t>(0);
    uint32_t num_tiles = get_arg_val<uint32_t>(1);
    uint32_t receiver_x = get_arg_val<uint32_t>(2);
    uint32_t receiver_y = get_arg_val<uint32_t>(3);
    uint32_t arrived_addr = get_semaphore(get_arg_val<uint32_t>(4));
    uint32_t free_addr = get_semaphore(get_arg_val<uint32_t>(5));

    constexpr uint32_t src0_cb_index = tt::CBIndex::c_0;
    constexpr uint32_t src1_cb_index = tt::CBIndex::c_1;
    const InterleavedAddrGenFast<true> s0 = {
        .bank_base_address = input_address,
        .page_size = get_tile_size(src0_cb_index),
        .data_format = get_dataformat(src0_cb_index)};
    volatile tt_l1_ptr uint32_t* free_ptr =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(free_addr);
    // The receiver's buffer lies at the same address of its L1.
    const uint64_t target = get_noc_addr(receiver_x, receiver_y, get_write_ptr(src1_cb_index));
    const uint64_t arrived = get_noc_addr(receiver_x, receiver_y, arrived_addr);

    for (uint32_t i = 0; i < num_tiles; i++) {
        cb_reserve_back(src0_cb_index, 1);
        uint32_t l1_write_addr = get_write_ptr(src0_cb_index);
        noc_async_read_tile(i, s0, l1_write_addr);
        noc_async_read_barrier();
        cb_push_back(src0_cb_index, 1);

        noc_semaphore_wait(free_ptr, 1);  // the receiver has room
        noc_semaphore_set(free_ptr, 0);
        cb_wait_front(src0_cb_index, 1);
        noc_async_write(get_read_ptr(src0_cb_index), target, get_tile_size(src0_cb_index));
        noc_async_write_barrier();
        noc_semaphore_inc(arrived, 1);
        cb_pop_front(src0_cb_index, 1);
    }
    noc_async_atomic_barrier();
}
