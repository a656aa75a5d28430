// Data movement of a receiver: takes columns of tiles of B as they come, and copies all of A from
// DRAM for each of them.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"
#include "api/remote_circular_buffer.h"

void kernel_main() {
    const uint32_t a_address = get_arg_val<uint32_t>(0);

    constexpr uint32_t Mt = get_compile_time_arg_val(0);  // extents in tiles
    constexpr uint32_t Kt = get_compile_time_arg_val(1);
    constexpr uint32_t num_columns = get_compile_time_arg_val(2);  // of this core
    constexpr uint32_t room = get_compile_time_arg_val(3);         // tiles of cb_b

    constexpr uint32_t cb_a = tt::CBIndex::c_0;
    constexpr uint32_t cb_b = tt::CBIndex::c_1;  // on the bytes of cb_remote
    constexpr uint32_t cb_remote = tt::CBIndex::c_31;
    const InterleavedAddrGenFast<true> a = {
        .bank_base_address = a_address,
        .page_size = get_tile_size(cb_a),
        .data_format = get_dataformat(cb_a)};

    for (uint32_t column = 0; column < num_columns; column++) {
        cb_reserve_back(cb_b, Kt);
        experimental::remote_cb_wait_front(cb_remote, 1);
        cb_push_back(cb_b, Kt);
        for (uint32_t tile = 0; tile < Mt * Kt; tile++) {
            cb_reserve_back(cb_a, 1);
            noc_async_read_tile(tile, a, get_write_ptr(cb_a));
            noc_async_read_barrier();
            cb_push_back(cb_a, 1);
        }
        // All tiles of cb_b are free when the column has been used.
        cb_reserve_back(cb_b, room);
        experimental::remote_cb_pop_front(cb_remote, 1);
    }
    experimental::update_remote_cb_config_in_l1(cb_remote);
    noc_async_atomic_barrier();
}
