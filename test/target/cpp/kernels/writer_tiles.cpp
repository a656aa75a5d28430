/* Writes finished tiles to DRAM.
   The format of the tiles decides how large a page is. */
#include "dataflow_api.h"

#define CB_OUT (get_compile_time_arg_val(0))
#define TILES_AT_ONCE 2

static inline void write_some(const InterleavedAddrGenFast<true>& out, uint32_t first, uint32_t count) {
    uint32_t read_ptr = get_read_ptr(CB_OUT);
    uint32_t tile_bytes = get_tile_size(CB_OUT);
    for (uint32_t i = 0; i < count; i++, read_ptr += tile_bytes)
        noc_async_write_tile(first + i, out, read_ptr);
    noc_async_write_barrier();
}

void kernel_main() {
    uint32_t dst_addr = get_arg_val<uint32_t>(0), n_tiles = get_arg_val<uint32_t>(1);
    const InterleavedAddrGenFast<true> out = {
        .bank_base_address = dst_addr,
        .page_size = get_tile_size(CB_OUT),
        .data_format = get_dataformat(CB_OUT)};

    uint32_t done = 0;
    while (done < n_tiles) {
        uint32_t left = n_tiles - done;
        uint32_t count = (left < TILES_AT_ONCE) ? left : TILES_AT_ONCE;
        cb_wait_front(CB_OUT, count);
        write_some(out, done, count);
        cb_pop_front(CB_OUT, count);
        done += count;
    }
}
