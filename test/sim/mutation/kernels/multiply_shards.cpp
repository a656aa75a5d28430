// Multiplies the tiles of two shards; the product stays in L1.
#include <cstdint>
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/eltwise_binary.h"

namespace NAMESPACE {
void MAIN {
    const uint32_t num_tiles = get_arg_val<uint32_t>(0);
    constexpr uint32_t cb_a = tt::CBIndex::c_0;
    constexpr uint32_t cb_b = tt::CBIndex::c_1;
    constexpr uint32_t cb_out = tt::CBIndex::c_16;
    binary_op_init_common(cb_a, cb_b, cb_out);
    mul_tiles_init(cb_a, cb_b);
    cb_wait_front(cb_a, num_tiles);
    cb_wait_front(cb_b, num_tiles);
    cb_reserve_back(cb_out, num_tiles);
    for (uint32_t first = 0; first < num_tiles; first += 2) {
        tile_regs_acquire();
        for (uint32_t i = 0; i < 2; i++) {
            mul_tiles(cb_a, cb_b, first + i, first + i, i);
        }
        tile_regs_commit();
        tile_regs_wait();
        for (uint32_t i = 0; i < 2; i++) {
            pack_tile(i, cb_out);
        }
        tile_regs_release();
    }
    cb_push_back(cb_out, num_tiles);
    cb_pop_front(cb_a, num_tiles);
    cb_pop_front(cb_b, num_tiles);
    cb_wait_front(cb_out, num_tiles);
    cb_pop_front(cb_out, num_tiles);
}
}  // namespace NAMESPACE
