// Data movement: copies tiles of two tensors, pair by pair. The host gives everything a name.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"
#include "api/dataflow/dataflow_buffer.h"
#include "api/dataflow/noc.h"
#include "experimental/kernel_args.h"

void kernel_main() {
    const uint32_t first = get_arg(args::first);
    const uint32_t num_tiles = get_arg(args::num_tiles);
    const auto a = TensorAccessor(tensor::a);
    const auto b = TensorAccessor(tensor::b);

    Noc noc;
    DataflowBuffer to_a(dfb::a);
    DataflowBuffer to_b(dfb::b);
    for (uint32_t i = first; i < first + num_tiles; i++) {
        to_a.reserve_back(1);
        to_b.reserve_back(1);
        noc.async_read(a, to_a, to_a.get_entry_size(), {.page_id = i}, {});
        noc.async_read(b, to_b, to_b.get_entry_size(), {.page_id = i}, {});
        noc.async_read_barrier();
        to_a.push_back(1);
        to_b.push_back(1);
    }
}
