// Reads the tiles of two operands, one by one, into two circular buffers.
#include <stdint.h>
#include "dataflow_api.h"

void kernel_main() {
    uint32_t src0_addr = get_arg_val<uint32_t>(0);
    uint32_t src1_addr = get_arg_val<uint32_t>(1);
    const uint32_t n_tiles = get_arg_val<uint32_t>(2), start_id = get_arg_val<uint32_t>(3);

    constexpr auto cb_id_in0 = tt::CBIndex::c_0;
    constexpr auto cb_id_in1 = tt::CBIndex::c_1;
    const uint32_t tile_bytes = get_tile_size(cb_id_in0);

    const InterleavedAddrGenFast<true> in0 = {
        .bank_base_address = src0_addr,          // where the buffer starts
        .page_size = tile_bytes,                 // a page is a tile
        .data_format = DataFormat::Float16_b,
    };
    const InterleavedAddrGenFast<true> in1 = {
        .bank_base_address = src1_addr, .page_size = tile_bytes, .data_format = DataFormat::Float16_b};

    for (uint32_t i = start_id; i < start_id + n_tiles; i++) {
        cb_reserve_back(cb_id_in0, 1);
        cb_reserve_back(cb_id_in1, 1);
        uint32_t l1_in0 = get_write_ptr(cb_id_in0);
        uint32_t l1_in1 = get_write_ptr(cb_id_in1);
        noc_async_read_tile(i, in0, l1_in0);
        noc_async_read_tile(i, in1, l1_in1);
        noc_async_read_barrier();
        cb_push_back(cb_id_in0, 1);
        cb_push_back(cb_id_in1, 1);
    }
}
