// Data movement: copies pages from one buffer to another, one at a time through L1.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    const uint32_t l1_address = get_arg_val<uint32_t>(0);
    const uint32_t from_address = get_arg_val<uint32_t>(1);
    const uint32_t to_address = get_arg_val<uint32_t>(2);
    const uint32_t num_pages = get_arg_val<uint32_t>(3);

    constexpr uint32_t page_size = get_compile_time_arg_val(0);
    constexpr auto from_layout = TensorAccessorArgs<1>();
    const auto from = TensorAccessor(from_layout, from_address, page_size);
    constexpr auto to_layout = TensorAccessorArgs<from_layout.next_compile_time_args_offset()>();
    const auto to = TensorAccessor(to_layout, to_address, page_size);

    for (uint32_t page = 0; page < num_pages; page++) {
        noc_async_read_page(page, from, l1_address);
        noc_async_read_barrier();
        noc_async_write_page(page, to, l1_address);
        noc_async_write_barrier();
    }
}
