// Compute: adds pairs of tiles.
#include <cstdint>
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/dataflow/circular_buffer.h"

void kernel_main() {
    const uint32_t num_tiles = get_arg_val<uint32_t>(0);
    constexpr uint32_t cb_a = get_named_compile_time_arg_val("a");
    constexpr uint32_t cb_b = get_named_compile_time_arg_val("b");
    constexpr uint32_t cb_sum = get_named_compile_time_arg_val("sum");

    compute_kernel_hw_startup(cb_a, cb_b, cb_sum);
    add_init(cb_a, cb_b);

    CircularBuffer a(cb_a);
    CircularBuffer b(cb_b);
    CircularBuffer sum(cb_sum);
    for (uint32_t i = 0; i < num_tiles; i++) {
        a.wait_front(1);
        b.wait_front(1);
        tile_regs_acquire();
        add_tiles(cb_a, cb_b, 0, 0, 0);
        tile_regs_commit();
        a.pop_front(1);
        b.pop_front(1);

        sum.reserve_back(1);
        tile_regs_wait();
        pack_tile(0, cb_sum);
        tile_regs_release();
        sum.push_back(1);
    }
}
