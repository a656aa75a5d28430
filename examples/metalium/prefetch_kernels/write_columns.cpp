// Data movement: copies columns of tiles of C to DRAM, as far apart as there are receivers.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    const uint32_t c_address = get_arg_val<uint32_t>(0);
    const uint32_t first_column = get_arg_val<uint32_t>(1);

    constexpr uint32_t Mt = get_compile_time_arg_val(0);
    constexpr uint32_t Nt = get_compile_time_arg_val(1);
    constexpr uint32_t num_receivers = get_compile_time_arg_val(2);

    constexpr uint32_t cb = tt::CBIndex::c_16;
    const InterleavedAddrGenFast<true> c = {
        .bank_base_address = c_address,
        .page_size = get_tile_size(cb),
        .data_format = get_dataformat(cb)};

    for (uint32_t column = first_column; column < Nt; column += num_receivers) {
        for (uint32_t m = 0; m < Mt; m++) {
            cb_wait_front(cb, 1);
            noc_async_write_tile(m * Nt + column, c, get_read_ptr(cb));
            noc_async_write_barrier();
            cb_pop_front(cb, 1);
        }
    }
}
