// Data movement: for each tile of C, copies a row of tiles of A and a column of tiles of B.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    const uint32_t a_address = get_arg_val<uint32_t>(0);
    const uint32_t b_address = get_arg_val<uint32_t>(1);
    const uint32_t first_tile = get_arg_val<uint32_t>(2);  // of C, counted row by row
    const uint32_t num_tiles = get_arg_val<uint32_t>(3);

    constexpr uint32_t Kt = get_compile_time_arg_val(0);  // extents in tiles
    constexpr uint32_t Nt = get_compile_time_arg_val(1);

    constexpr uint32_t cb_a = tt::CBIndex::c_0;
    constexpr uint32_t cb_b = tt::CBIndex::c_1;
    const InterleavedAddrGenFast<true> a = {
        .bank_base_address = a_address,
        .page_size = get_tile_size(cb_a),
        .data_format = get_dataformat(cb_a)};
    const InterleavedAddrGenFast<true> b = {
        .bank_base_address = b_address,
        .page_size = get_tile_size(cb_b),
        .data_format = get_dataformat(cb_b)};

    for (uint32_t tile = first_tile; tile < first_tile + num_tiles; tile++) {
        const uint32_t row = tile / Nt;
        const uint32_t column = tile % Nt;
        for (uint32_t k = 0; k < Kt; k++) {
            cb_reserve_back(cb_a, 1);
            cb_reserve_back(cb_b, 1);
            noc_async_read_tile(row * Kt + k, a, get_write_ptr(cb_a));
            noc_async_read_tile(k * Nt + column, b, get_write_ptr(cb_b));
            noc_async_read_barrier();
            cb_push_back(cb_a, 1);
            cb_push_back(cb_b, 1);
        }
    }
}
