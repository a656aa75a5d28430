// Writes the padded rows.
#include <stdint.h>
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t dst_addr = get_arg_val<uint32_t>(0);
    const uint32_t start_dst_stick_id = get_arg_val<uint32_t>(1);
    const uint32_t num_sticks_per_core = get_arg_val<uint32_t>(2);
    const uint32_t data_size_bytes = get_arg_val<uint32_t>(3);
    const InterleavedAddrGen<true> s0 = {
        .bank_base_address = dst_addr, .page_size = data_size_bytes};

    uint32_t dst_stick_id = start_dst_stick_id;
    for (uint32_t i = 0; i < num_sticks_per_core; i++) {
        cb_wait_front(tt::CBIndex::c_0, 1);
        uint32_t l1_addr = get_read_ptr(tt::CBIndex::c_0);
        uint64_t dst_noc_addr = get_noc_addr(dst_stick_id, s0);
        noc_async_write(l1_addr, dst_noc_addr, data_size_bytes);
        noc_async_write_barrier();
        cb_pop_front(tt::CBIndex::c_0, 1);
        dst_stick_id++;
    }
}
