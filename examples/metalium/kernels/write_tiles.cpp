// Data movement: copies consecutive tiles of a tensor to DRAM.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t first_tile = get_arg_val<uint32_t>(1);
    const uint32_t num_tiles = get_arg_val<uint32_t>(2);

    constexpr uint32_t cb = tt::CBIndex::c_16;
    const InterleavedAddrGenFast<true> tensor = {
        .bank_base_address = address,
        .page_size = get_tile_size(cb),
        .data_format = get_dataformat(cb)};

    for (uint32_t i = first_tile; i < first_tile + num_tiles; i++) {
        cb_wait_front(cb, 1);
        noc_async_write_tile(i, tensor, get_read_ptr(cb));
        noc_async_write_barrier();
        cb_pop_front(cb, 1);
    }
}
