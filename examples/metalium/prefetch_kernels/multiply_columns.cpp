// Compute: each column of tiles of C is A by a column of B, which stays in L1 until it is done.
#include <cstdint>
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/matmul.h"
#include "api/compute/tile_move_copy.h"

void kernel_main() {
    constexpr uint32_t Mt = get_compile_time_arg_val(0);
    constexpr uint32_t Kt = get_compile_time_arg_val(1);
    constexpr uint32_t num_columns = get_compile_time_arg_val(2);

    constexpr uint32_t cb_a = tt::CBIndex::c_0;
    constexpr uint32_t cb_b = tt::CBIndex::c_1;
    constexpr uint32_t cb_c = tt::CBIndex::c_16;

    compute_kernel_hw_startup<SrcOrder::Reverse>(cb_a, cb_b, cb_c);
    matmul_init(cb_a, cb_b);

    for (uint32_t column = 0; column < num_columns; column++) {
        cb_wait_front(cb_b, Kt);
        for (uint32_t m = 0; m < Mt; m++) {
            tile_regs_acquire();
            for (uint32_t k = 0; k < Kt; k++) {
                cb_wait_front(cb_a, 1);
                matmul_tiles(cb_a, cb_b, 0, k, 0);
                cb_pop_front(cb_a, 1);
            }
            tile_regs_commit();

            cb_reserve_back(cb_c, 1);
            tile_regs_wait();
            pack_tile(0, cb_c);
            tile_regs_release();
            cb_push_back(cb_c, 1);
        }
        cb_pop_front(cb_b, Kt);
    }
}
