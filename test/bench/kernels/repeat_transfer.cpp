// Data movement: TRANSFER, so many times, and one BARRIER behind all of them.
#include <cstdint>
#include "dataflow_api.h"

void kernel_main() {
    constexpr uint32_t count = get_compile_time_arg_val(0);
    constexpr uint32_t size = get_compile_time_arg_val(1);
    constexpr uint32_t x = get_compile_time_arg_val(2);
    constexpr uint32_t y = get_compile_time_arg_val(3);
    constexpr uint32_t last_x = get_compile_time_arg_val(4);
    constexpr uint32_t last_y = get_compile_time_arg_val(5);
    constexpr uint32_t here = get_compile_time_arg_val(6);
    constexpr uint32_t there = get_compile_time_arg_val(7);
    constexpr auto layout = TensorAccessorArgs<8>();
    const auto pages = TensorAccessor(layout, there, size);
    const uint64_t target = TARGET;

    PREPARE;
    for (uint32_t i = 0; i < count; i++) {
        TRANSFER;
    }
    BARRIER;
}
