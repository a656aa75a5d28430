// Writes what arrives.
#include "dataflow_api.h"

void kernel_main() {
    uint32_t output_address = get_arg_val<uint32_t>(0);
    uint32_t num_tiles = get_arg_val<uint32_t>(1);
    constexpr uint32_t src1_cb_index = tt::CBIndex::c_1;
    const InterleavedAddrGenFast<true> s0 = {
        .bank_base_address = output_address,
        .page_size = get_tile_size(src1_cb_index),
        .data_format = get_dataformat(src1_cb_index)};
    for (uint32_t i = 0; i < num_tiles; i++) {
        cb_wait_front(src1_cb_index, 1);
        noc_async_write_tile(i, s0, get_read_ptr(src1_cb_index));
        noc_async_write_barrier();
        cb_pop_front(src1_cb_index, 1);
    }
}
