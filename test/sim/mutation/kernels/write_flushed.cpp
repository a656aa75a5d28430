// Writes tiles and waits only until they have left; in the end until they have arrived.
#include <cstdint>
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t num_tiles = get_arg_val<uint32_t>(1);
    constexpr uint32_t cb = tt::CBIndex::c_16;
    const InterleavedAddrGenFast<true> target = {
        .bank_base_address = address,
        .page_size = get_tile_size(cb),
        .data_format = get_dataformat(cb)};
    for (uint32_t i = 0; i < num_tiles; i++) {
        cb_wait_front(cb, 1);
        noc_async_write_tile(i, target, get_read_ptr(cb));
        noc_async_writes_flushed();
        cb_pop_front(cb, 1);
    }
    noc_async_write_barrier();
}
