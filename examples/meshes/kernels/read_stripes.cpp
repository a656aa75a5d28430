// Reads what a device of a ring sends to the next one: its own pages, then those that came to it.
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr uint32_t cb = get_compile_time_arg_val(0);
    constexpr uint32_t devices = get_compile_time_arg_val(1);
    constexpr uint32_t pages = get_compile_time_arg_val(2);
    constexpr auto own_layout = TensorAccessorArgs<3>();
    constexpr auto gathered_layout = TensorAccessorArgs<own_layout.next_compile_time_args_offset()>();
    const auto own = TensorAccessor(own_layout, get_arg_val<uint32_t>(0), get_tile_size(cb));
    const auto gathered = TensorAccessor(gathered_layout, get_arg_val<uint32_t>(1), get_tile_size(cb));
    auto* arrived = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_arg_val<uint32_t>(2));
    const uint32_t device = get_arg_val<uint32_t>(3);

    for (uint32_t step = 0; step < devices - 1; step++) {
        const uint32_t stripe = (device + devices - step) % devices;
        for (uint32_t page = 0; page < pages; page++) {
            cb_reserve_back(cb, 1);
            if (step == 0) {
                noc_async_read_page(page, own, get_write_ptr(cb));
            } else {
                noc_semaphore_wait_min(arrived, (step - 1) * pages + page + 1);
                noc_async_read_page(stripe * pages + page, gathered, get_write_ptr(cb));
            }
            noc_async_read_barrier();
            cb_push_back(cb, 1);
        }
    }
    // The last stripe goes nowhere else.
    noc_semaphore_wait_min(arrived, (devices - 1) * pages);
}
