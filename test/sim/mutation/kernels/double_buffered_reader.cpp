// Keeps two reads under way, each with a transaction number of its own.
#include <cstdint>
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t num_tiles = get_arg_val<uint32_t>(1);
    constexpr uint32_t cb = tt::CBIndex::c_0;
    const uint32_t tile_bytes = get_tile_size(cb);
    const InterleavedAddrGen<true> source = {
        .bank_base_address = address, .page_size = tile_bytes};

    cb_reserve_back(cb, 2);
    const uint32_t first = get_write_ptr(cb);
    const uint32_t end = first + 4 * tile_bytes;
    uint32_t write = first;
    noc_async_read_set_trid(1);
    noc_async_read(get_noc_addr(0, source), write, tile_bytes);
    for (uint32_t i = 1; i < num_tiles; i++) {
        write += tile_bytes;
        if (write == end) {
            write = first;
        }
        noc_async_read_set_trid(1 + i % 2);
        noc_async_read(get_noc_addr(i, source), write, tile_bytes);
        noc_async_read_barrier_with_trid(2 - i % 2);
        cb_push_back(cb, 1);
        cb_reserve_back(cb, 2);
    }
    noc_async_read_barrier_with_trid(1 + (num_tiles - 1) % 2);
    cb_push_back(cb, 1);
}
