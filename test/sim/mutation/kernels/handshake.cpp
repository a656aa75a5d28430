#include <cstdint>
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t is_sender = get_arg_val<uint32_t>(1);
    const uint32_t target = get_arg_val<uint32_t>(2);
    const uint32_t place = get_arg_val<uint32_t>(3);
    const uint32_t start_x = get_arg_val<uint32_t>(4), start_y = get_arg_val<uint32_t>(5);
    const uint32_t end_x = get_arg_val<uint32_t>(6), end_y = get_arg_val<uint32_t>(7);
    constexpr uint32_t cb = get_compile_time_arg_val(0);
    constexpr uint32_t receivers = get_compile_time_arg_val(1);
    constexpr uint32_t size = get_compile_time_arg_val(2);
    const uint32_t ready_address = get_semaphore(get_compile_time_arg_val(3));
    const uint32_t valid_address = get_semaphore(get_compile_time_arg_val(4));
    volatile tt_l1_ptr uint32_t* ready =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(ready_address);
    volatile tt_l1_ptr uint32_t* valid =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(valid_address);
    const InterleavedAddrGen<true> source = {.bank_base_address = address, .page_size = size};
    const InterleavedAddrGen<true> results = {.bank_base_address = target, .page_size = size};

    cb_reserve_back(cb, 1);
    const uint32_t data = get_write_ptr(cb);
    if (is_sender) {
        noc_async_read_page(0, source, data);
        noc_async_read_barrier();
        noc_semaphore_wait(ready, receivers);
        noc_semaphore_set(ready, 0);
        const uint64_t rectangle = get_noc_multicast_addr(start_x, start_y, end_x, end_y, data);
        noc_async_write_multicast(data, rectangle, size, receivers);
        noc_semaphore_set(valid, VALID);
        noc_semaphore_set_multicast(
            valid_address,
            get_noc_multicast_addr(start_x, start_y, end_x, end_y, valid_address),
            receivers);
        noc_async_write_barrier();
    } else {
        noc_semaphore_inc(get_noc_addr(start_x, start_y, ready_address), 1);
        noc_semaphore_wait(valid, VALID);
        noc_async_atomic_barrier();
    }
    cb_push_back(cb, 1);
    cb_wait_front(cb, 1);
    noc_async_write_page(place, results, get_read_ptr(cb));
    noc_async_write_barrier();
    cb_pop_front(cb, 1);
}
