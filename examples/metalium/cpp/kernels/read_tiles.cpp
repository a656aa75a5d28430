// Data movement: brings consecutive tiles of a tensor.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t first = get_arg_val<uint32_t>(1);
    const uint32_t num_tiles = get_arg_val<uint32_t>(2);

    constexpr uint32_t cb = tt::CBIndex::c_0;
    constexpr auto layout = TensorAccessorArgs<0>();
    const auto tensor = TensorAccessor(layout, address, get_tile_size(cb));

    for (uint32_t i = first; i < first + num_tiles; i++) {
        cb_reserve_back(cb, 1);
        noc_async_read_page(i, tensor, get_write_ptr(cb));
        noc_async_read_barrier();
        cb_push_back(cb, 1);
    }
}
