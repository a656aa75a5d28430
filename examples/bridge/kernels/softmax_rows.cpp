// exp(x - max) / sum of that, for each row; nothing leaves the core in between.
#include <cstdint>
#include "compute_kernel_api/bcast.h"
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/eltwise_unary/exp.h"
#include "compute_kernel_api/eltwise_unary/recip.h"
#include "compute_kernel_api/reduce.h"

namespace NAMESPACE {
void MAIN {
    const uint32_t rows = get_arg_val<uint32_t>(1);
    constexpr uint32_t columns = get_compile_time_arg_val(0);
    constexpr uint32_t cb_x = tt::CBIndex::c_0;
    constexpr uint32_t cb_ones = tt::CBIndex::c_1;
    constexpr uint32_t cb_max = tt::CBIndex::c_24;
    constexpr uint32_t cb_exp = tt::CBIndex::c_25;
    constexpr uint32_t cb_scale = tt::CBIndex::c_26;
    constexpr uint32_t cb_y = tt::CBIndex::c_16;
    binary_op_init_common(cb_x, cb_ones, cb_max);
    cb_wait_front(cb_ones, 1);
    for (uint32_t row = 0; row < rows; row++) {
        // The largest number of each row, in column 0 of a tile.
        cb_wait_front(cb_x, columns);
        cb_reserve_back(cb_max, 1);
        reconfig_data_format(cb_x, cb_ones);
        pack_reconfig_data_format(cb_max);
        reduce_init<PoolType::MAX, ReduceDim::REDUCE_ROW>(cb_x, cb_ones, cb_max);
        tile_regs_acquire();
        for (uint32_t column = 0; column < columns; column++) {
            reduce_tile<PoolType::MAX, ReduceDim::REDUCE_ROW>(cb_x, cb_ones, column, 0, 0);
        }
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, cb_max);
        tile_regs_release();
        reduce_uninit();
        cb_push_back(cb_max, 1);

        cb_wait_front(cb_max, 1);
        reconfig_data_format(cb_x, cb_max);
        pack_reconfig_data_format(cb_exp);
        sub_bcast_cols_init_short(cb_x, cb_max);
        exp_tile_init();
        for (uint32_t column = 0; column < columns; column++) {
            cb_reserve_back(cb_exp, 1);
            tile_regs_acquire();
            sub_tiles_bcast_cols(cb_x, cb_max, column, 0, 0);
            exp_tile(0);
            tile_regs_commit();
            tile_regs_wait();
            pack_tile(0, cb_exp);
            tile_regs_release();
            cb_push_back(cb_exp, 1);
        }
        cb_pop_front(cb_max, 1);
        cb_pop_front(cb_x, columns);

        // One over the sum of each row.
        cb_wait_front(cb_exp, columns);
        cb_reserve_back(cb_scale, 1);
        reconfig_data_format(cb_exp, cb_ones);
        pack_reconfig_data_format(cb_scale);
        reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(cb_exp, cb_ones, cb_scale);
        tile_regs_acquire();
        for (uint32_t column = 0; column < columns; column++) {
            reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(cb_exp, cb_ones, column, 0, 0);
        }
        recip_tile_init();
        recip_tile(0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, cb_scale);
        tile_regs_release();
        reduce_uninit();
        cb_push_back(cb_scale, 1);

        cb_wait_front(cb_scale, 1);
        reconfig_data_format(cb_exp, cb_scale);
        pack_reconfig_data_format(cb_y);
        mul_bcast_cols_init_short(cb_exp, cb_scale);
        for (uint32_t column = 0; column < columns; column++) {
            cb_reserve_back(cb_y, 1);
            tile_regs_acquire();
            mul_tiles_bcast_cols(cb_exp, cb_scale, column, 0, 0);
            tile_regs_commit();
            tile_regs_wait();
            pack_tile(0, cb_y);
            tile_regs_release();
            cb_push_back(cb_y, 1);
        }
        cb_pop_front(cb_scale, 1);
        cb_pop_front(cb_exp, columns);
    }
    cb_pop_front(cb_ones, 1);
}
}  // namespace NAMESPACE
