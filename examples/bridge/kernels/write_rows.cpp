// Takes tiles back to a tensor, row by row.
#include <cstdint>
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t first_row = get_arg_val<uint32_t>(0);  // of tiles
    const uint32_t rows = get_arg_val<uint32_t>(1);
    constexpr uint32_t columns = get_compile_time_arg_val(0);
    constexpr auto y_args = TensorAccessorArgs<1>();
    constexpr uint32_t cb_y = tt::CBIndex::c_16;

    const auto y = TensorAccessor(y_args, get_common_arg_val<uint32_t>(0), get_tile_size(cb_y));
    const uint32_t end = (first_row + rows) * columns;
    for (uint32_t tile = first_row * columns; tile < end; tile++) {
        cb_wait_front(cb_y, 1);
        noc_async_write_tile(tile, y, get_read_ptr(cb_y));
        noc_async_write_barrier();
        cb_pop_front(cb_y, 1);
    }
}
