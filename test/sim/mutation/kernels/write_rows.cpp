// Copies strips of 32 rows to DRAM, each a page.
#include <cstdint>
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t strips = get_arg_val<uint32_t>(1);
    const uint32_t width = get_arg_val<uint32_t>(2);
    constexpr uint32_t cb = tt::CBIndex::c_16;
    const uint32_t strip_bytes = width * get_tile_size(cb);
    const InterleavedAddrGen<true> target = {
        .bank_base_address = address, .page_size = strip_bytes};
    for (uint32_t strip = 0; strip < strips; strip++) {
        cb_wait_front(cb, width);
        noc_async_write_page(strip, target, get_read_ptr(cb));
        noc_async_write_barrier();
        cb_pop_front(cb, width);
    }
}
