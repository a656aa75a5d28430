// Data movement of a sender: copies columns of tiles of B, one for each receiver, from DRAM to L1
// and from there to the receivers, while these still use those before.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"
#include "api/remote_circular_buffer.h"

void kernel_main() {
    const uint32_t b_address = get_arg_val<uint32_t>(0);

    constexpr uint32_t Kt = get_compile_time_arg_val(0);  // extents in tiles
    constexpr uint32_t Nt = get_compile_time_arg_val(1);
    constexpr uint32_t num_receivers = get_compile_time_arg_val(2);

    constexpr uint32_t cb_block = tt::CBIndex::c_0;
    constexpr uint32_t cb_remote = tt::CBIndex::c_31;
    constexpr uint32_t tile_bytes = get_tile_size(cb_block);
    const InterleavedAddrGenFast<true> b = {
        .bank_base_address = b_address,
        .page_size = tile_bytes,
        .data_format = get_dataformat(cb_block)};

    for (uint32_t first = 0; first < Nt; first += num_receivers) {
        cb_reserve_back(cb_block, Kt * num_receivers);
        uint32_t place = get_write_ptr(cb_block);
        for (uint32_t k = 0; k < Kt; k++) {
            for (uint32_t i = 0; i < num_receivers; i++) {
                noc_async_read_tile(k * Nt + first + i, b, place);
                place += tile_bytes;
            }
        }
        noc_async_read_barrier();
        cb_push_back(cb_block, Kt * num_receivers);

        // Of each row of the block a receiver gets one tile.
        cb_wait_front(cb_block, Kt * num_receivers);
        experimental::remote_cb_reserve_back(cb_remote, 1);
        experimental::remote_cb_push_back_and_write_pages<false>(
            cb_remote, get_read_ptr(cb_block), 1, Kt, 1, tile_bytes);
        noc_async_writes_flushed();
        cb_pop_front(cb_block, Kt * num_receivers);
    }
    experimental::remote_cb_sender_barrier(cb_remote);
    experimental::update_remote_cb_config_in_l1(cb_remote);
    noc_async_write_barrier();
    noc_async_atomic_barrier();
}
