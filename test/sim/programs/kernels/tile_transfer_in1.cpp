// The receiving core: asks for a tile, waits for it and hands it to the writer.
#include "dataflow_api.h"

void kernel_main() {
    uint32_t num_tiles = get_arg_val<uint32_t>(0);
    uint32_t sender_x = get_arg_val<uint32_t>(1);
    uint32_t sender_y = get_arg_val<uint32_t>(2);
    uint32_t arrived_addr = get_semaphore(get_arg_val<uint32_t>(3));
    uint32_t free_addr = get_semaphore(get_arg_val<uint32_t>(4));

    constexpr uint32_t src1_cb_index = tt::CBIndex::c_1;
    volatile tt_l1_ptr uint32_t* arrived_ptr =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(arrived_addr);
    const uint64_t room = get_noc_addr(sender_x, sender_y, free_addr);

    for (uint32_t i = 0; i < num_tiles; i++) {
        cb_reserve_back(src1_cb_index, 1);
        noc_semaphore_inc(room, 1);
        noc_semaphore_wait_min(arrived_ptr, i + 1);
        cb_push_back(src1_cb_index, 1);
    }
    noc_async_atomic_barrier();
}
