// Compute: one block of C as the sum of products of blocks of A and B.
//
// A tile of C is in DST at a time. Sums wait in the circular buffer of C, where the packer adds
// those of the next block along K to them: `c` is pushed once, when it is complete.
#include <cstdint>
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/matmul.h"
#include "api/compute/pack.h"
#include "api/dataflow/circular_buffer.h"

void kernel_main() {
    constexpr uint32_t num_blocks = get_named_compile_time_arg_val("num_blocks");  // along K
    constexpr uint32_t rows = get_named_compile_time_arg_val("rows");  // extents in tiles
    constexpr uint32_t inner = get_named_compile_time_arg_val("inner");
    constexpr uint32_t columns = get_named_compile_time_arg_val("columns");
    constexpr uint32_t cb_a = get_named_compile_time_arg_val("a");
    constexpr uint32_t cb_b = get_named_compile_time_arg_val("b");
    constexpr uint32_t cb_c = get_named_compile_time_arg_val("c");

    compute_kernel_hw_startup<SrcOrder::Reverse>(cb_a, cb_b, cb_c);
    matmul_init(cb_a, cb_b);

    CircularBuffer a(cb_a);
    CircularBuffer b(cb_b);
    CircularBuffer c(cb_c);
    c.reserve_back(rows * columns);
    for (uint32_t block = 0; block < num_blocks; block++) {
        a.wait_front(rows * inner);
        b.wait_front(inner * columns);
        pack_reconfig_l1_acc(block > 0);
        for (uint32_t m = 0; m < rows; m++) {
            for (uint32_t n = 0; n < columns; n++) {
                tile_regs_acquire();
                for (uint32_t k = 0; k < inner; k++) {
                    matmul_tiles(cb_a, cb_b, m * inner + k, k * columns + n, 0);
                }
                tile_regs_commit();
                tile_regs_wait();
                pack_tile<true>(0, cb_c, m * columns + n);
                tile_regs_release();
            }
        }
        a.pop_front(rows * inner);
        b.pop_front(inner * columns);
    }
    pack_reconfig_l1_acc(0);
    c.push_back(rows * columns);
}
