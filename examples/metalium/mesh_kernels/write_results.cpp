// Data movement: copies consecutive tiles to a tensor.
#include <cstdint>
#include "api/dataflow/circular_buffer.h"
#include "api/dataflow/dataflow_api.h"
#include "api/dataflow/noc.h"

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(0);
    const uint32_t num_tiles = get_arg_val<uint32_t>(1);
    const uint32_t address = get_common_arg_val<uint32_t>(0);

    constexpr uint32_t cb = get_named_compile_time_arg_val("result");
    constexpr uint32_t tile_bytes = get_tile_size(cb);
    constexpr auto layout = TensorAccessorArgs<0>();
    const auto tensor = TensorAccessor(layout, address, tile_bytes);

    Noc noc;
    CircularBuffer result(cb);
    for (uint32_t i = first; i < first + num_tiles; i++) {
        result.wait_front(1);
        noc.async_write(result, tensor, tile_bytes, {.offset_bytes = 0}, {.page_id = i});
        noc.async_write_barrier();
        result.pop_front(1);
    }
}
