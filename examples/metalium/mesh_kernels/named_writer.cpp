// Data movement: copies consecutive tiles to a tensor. The host gives everything a name.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"
#include "api/dataflow/dataflow_buffer.h"
#include "api/dataflow/noc.h"
#include "experimental/kernel_args.h"

void kernel_main() {
    const uint32_t first = get_arg(args::first);
    const uint32_t num_tiles = get_arg(args::num_tiles);
    const auto result = TensorAccessor(tensor::result);

    Noc noc;
    DataflowBuffer from(dfb::result);
    for (uint32_t i = first; i < first + num_tiles; i++) {
        from.wait_front(1);
        noc.async_write(from, result, from.get_entry_size(), {}, {.page_id = i});
        noc.async_write_barrier();
        from.pop_front(1);
    }
}
