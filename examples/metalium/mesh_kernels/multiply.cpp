// Compute: each tile of C is the sum of Kt products of tiles, which DST adds up.
#include <cstdint>
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/matmul.h"
#include "api/compute/tile_move_copy.h"
#include "api/dataflow/circular_buffer.h"

void kernel_main() {
    constexpr uint32_t num_tiles = get_named_compile_time_arg_val("num_tiles");
    constexpr uint32_t Kt = get_named_compile_time_arg_val("Kt");
    constexpr uint32_t cb_a = get_named_compile_time_arg_val("a");
    constexpr uint32_t cb_b = get_named_compile_time_arg_val("b");
    constexpr uint32_t cb_c = get_named_compile_time_arg_val("c");

    compute_kernel_hw_startup<SrcOrder::Reverse>(cb_a, cb_b, cb_c);
    matmul_init(cb_a, cb_b);

    CircularBuffer a(cb_a);
    CircularBuffer b(cb_b);
    CircularBuffer c(cb_c);
    for (uint32_t tile = 0; tile < num_tiles; tile++) {
        tile_regs_acquire();
        for (uint32_t k = 0; k < Kt; k++) {
            a.wait_front(1);
            b.wait_front(1);
            matmul_tiles(cb_a, cb_b, 0, 0, 0);
            a.pop_front(1);
            b.pop_front(1);
        }
        tile_regs_commit();

        c.reserve_back(1);
        tile_regs_wait();
        pack_tile(0, cb_c);
        tile_regs_release();
        c.push_back(1);
    }
}
