// Copies strips of 32 rows, each a page.
#include <cstdint>
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t strips = get_arg_val<uint32_t>(1);
    const uint32_t width = get_arg_val<uint32_t>(2);  // in tiles
    constexpr uint32_t cb = tt::CBIndex::c_0;
    const uint32_t strip_bytes = width * get_tile_size(cb);
    const InterleavedAddrGen<true> source = {
        .bank_base_address = address, .page_size = strip_bytes};
    for (uint32_t strip = 0; strip < strips; strip++) {
        cb_reserve_back(cb, width);
        noc_async_read_page(strip, source, get_write_ptr(cb));
        noc_async_read_barrier();
        cb_push_back(cb, width);
    }
}
