// Data movement: circular buffers that lie on shards have their tiles already. They are handed to
// the compute kernel as if they had been read.
#include <cstdint>
#include "api/dataflow/circular_buffer.h"
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr uint32_t num_tiles = get_named_compile_time_arg_val("num_tiles");
    CircularBuffer a(get_named_compile_time_arg_val("a"));
    CircularBuffer b(get_named_compile_time_arg_val("b"));
    a.reserve_back(num_tiles);
    a.push_back(num_tiles);
    b.reserve_back(num_tiles);
    b.push_back(num_tiles);
}
