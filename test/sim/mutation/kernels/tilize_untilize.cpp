// Rows to tiles, each transposed, and back to rows.
#include <cstdint>
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/tilize.h"
#include "compute_kernel_api/transpose_wh.h"
#include "compute_kernel_api/untilize.h"

namespace NAMESPACE {
void MAIN {
    const uint32_t strips = get_arg_val<uint32_t>(1);
    const uint32_t width = get_arg_val<uint32_t>(2);
    constexpr uint32_t cb_rows = tt::CBIndex::c_0;
    constexpr uint32_t cb_tiles = tt::CBIndex::c_24;
    constexpr uint32_t cb_turned = tt::CBIndex::c_25;
    constexpr uint32_t cb_out = tt::CBIndex::c_16;
    compute_kernel_hw_startup(cb_rows, cb_out);
    for (uint32_t strip = 0; strip < strips; strip++) {
        cb_wait_front(cb_rows, width);
        cb_reserve_back(cb_tiles, width);
        tilize_init(cb_rows, width, cb_tiles);
        tilize_block(cb_rows, width, cb_tiles);
        tilize_uninit(cb_rows, cb_tiles);
        cb_push_back(cb_tiles, width);
        cb_pop_front(cb_rows, width);

        cb_wait_front(cb_tiles, width);
        transpose_wh_init_short(cb_tiles);
        for (uint32_t tile = 0; tile < width; tile++) {
            cb_reserve_back(cb_turned, 1);
            tile_regs_acquire();
            transpose_wh_tile(cb_tiles, tile, 0);
            tile_regs_commit();
            tile_regs_wait();
            pack_tile(0, cb_turned);
            tile_regs_release();
            cb_push_back(cb_turned, 1);
        }
        cb_pop_front(cb_tiles, width);

        cb_wait_front(cb_turned, width);
        cb_reserve_back(cb_out, width);
        untilize_init(cb_turned);
        untilize_block(cb_turned, width, cb_out);
        untilize_uninit(cb_turned);
        cb_push_back(cb_out, width);
        cb_pop_front(cb_turned, width);
    }
}
}  // namespace NAMESPACE
