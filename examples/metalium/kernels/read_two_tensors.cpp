// Data movement: copies the tiles of two tensors from DRAM, pair by pair.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    const uint32_t a_address = get_arg_val<uint32_t>(0);
    const uint32_t b_address = get_arg_val<uint32_t>(1);
    const uint32_t num_tiles = get_arg_val<uint32_t>(2);

    constexpr uint32_t cb_a = tt::CBIndex::c_0;
    constexpr uint32_t cb_b = tt::CBIndex::c_1;
    const uint32_t tile_bytes = get_tile_size(cb_a);
    const DataFormat format = get_dataformat(cb_a);

    // Tile i of an interleaved tensor lies in bank i % 12 of DRAM: the generators know where.
    const InterleavedAddrGenFast<true> a = {
        .bank_base_address = a_address, .page_size = tile_bytes, .data_format = format};
    const InterleavedAddrGenFast<true> b = {
        .bank_base_address = b_address, .page_size = tile_bytes, .data_format = format};

    for (uint32_t i = 0; i < num_tiles; i++) {
        cb_reserve_back(cb_a, 1);
        cb_reserve_back(cb_b, 1);
        noc_async_read_tile(i, a, get_write_ptr(cb_a));
        noc_async_read_tile(i, b, get_write_ptr(cb_b));
        noc_async_read_barrier();
        cb_push_back(cb_a, 1);
        cb_push_back(cb_b, 1);
    }
}
