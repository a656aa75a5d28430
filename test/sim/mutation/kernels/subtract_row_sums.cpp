// x minus the sum of its row.
#include <cstdint>
#include "compute_kernel_api/bcast.h"
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/reduce.h"

namespace NAMESPACE {
void MAIN {
    const uint32_t rows = get_arg_val<uint32_t>(1);
    const uint32_t columns = get_arg_val<uint32_t>(2);
    constexpr uint32_t cb_x = tt::CBIndex::c_0;
    constexpr uint32_t cb_scaler = tt::CBIndex::c_1;
    constexpr uint32_t cb_sum = tt::CBIndex::c_24;
    constexpr uint32_t cb_out = tt::CBIndex::c_16;
    binary_op_init_common(cb_x, cb_scaler, cb_sum);
    cb_wait_front(cb_scaler, 1);
    for (uint32_t row = 0; row < rows; row++) {
        cb_wait_front(cb_x, columns);
        cb_reserve_back(cb_sum, 1);
        reconfig_data_format(cb_x, cb_scaler);
        pack_reconfig_data_format(cb_sum);
        reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(cb_x, cb_scaler, cb_sum);
        tile_regs_acquire();
        for (uint32_t column = 0; column < columns; column++) {
            reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(cb_x, cb_scaler, column, 0, 0);
        }
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, cb_sum);
        tile_regs_release();
        reduce_uninit();
        cb_push_back(cb_sum, 1);

        cb_wait_front(cb_sum, 1);
        reconfig_data_format(cb_x, cb_sum);
        pack_reconfig_data_format(cb_out);
        sub_bcast_cols_init_short(cb_x, cb_sum);
        for (uint32_t column = 0; column < columns; column++) {
            cb_reserve_back(cb_out, 1);
            tile_regs_acquire();
            sub_tiles_bcast_cols(cb_x, cb_sum, column, 0, 0);
            tile_regs_commit();
            tile_regs_wait();
            pack_tile(0, cb_out);
            tile_regs_release();
            cb_push_back(cb_out, 1);
        }
        cb_pop_front(cb_sum, 1);
        cb_pop_front(cb_x, columns);
    }
    cb_pop_front(cb_scaler, 1);
}
}  // namespace NAMESPACE
