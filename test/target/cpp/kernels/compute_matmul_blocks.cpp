// Blocks of a matrix product: partial sums wait in a circular buffer between blocks of K.
#include <cstdint>
#include "compute_kernel_api/matmul.h"
#include "compute_kernel_api/tile_move_copy.h"

namespace NAMESPACE {

ALWI void reload(uint32_t cb_partials, uint32_t num_tiles) {
    copy_tile_to_dst_init_short(cb_partials);
    cb_wait_front(cb_partials, num_tiles);
    for (uint32_t i = 0; i < num_tiles; i++) copy_tile(cb_partials, i, i);
    cb_pop_front(cb_partials, num_tiles);
}

void MAIN {
    constexpr uint32_t in0_block_w = get_compile_time_arg_val(0);
    constexpr uint32_t in0_num_subblocks = get_compile_time_arg_val(1);
    constexpr uint32_t in0_subblock_num_tiles = get_compile_time_arg_val(2);
    constexpr uint32_t in1_num_subblocks = get_compile_time_arg_val(3);
    constexpr uint32_t in1_per_core_w = get_compile_time_arg_val(4);
    constexpr uint32_t num_blocks = get_compile_time_arg_val(5);
    constexpr uint32_t out_subblock_h = get_compile_time_arg_val(6);
    constexpr uint32_t out_subblock_w = get_compile_time_arg_val(7);
    constexpr uint32_t out_subblock_num_tiles = out_subblock_h * out_subblock_w;
    constexpr uint32_t in0_block_num_tiles = in0_num_subblocks * in0_subblock_num_tiles;
    constexpr uint32_t in1_block_num_tiles = in0_block_w * in1_per_core_w;
    constexpr bool spill = num_blocks > 1u;

    constexpr tt::CBIndex in0 = tt::CBIndex::c_0, in1 = tt::CBIndex::c_1;
    constexpr tt::CBIndex out = tt::CBIndex::c_16, partials = tt::CBIndex::c_24;

    mm_init(in0, in1, out);
    bool enable_reload = false;

    for (uint32_t block = 0; block < num_blocks; block++) {
        bool last_out = block == (num_blocks - 1);
        cb_wait_front(in0, in0_block_num_tiles);
        cb_wait_front(in1, in1_block_num_tiles);
        int in0_index_subblock_offset = 0;
        for (uint32_t in0_subblock = 0; in0_subblock < in0_num_subblocks; in0_subblock++) {
            int in1_index_subblock_offset = 0;
            for (uint32_t in1_subblock = 0; in1_subblock < in1_num_subblocks; in1_subblock++) {
                tile_regs_acquire();
                if (enable_reload) {
                    reload(partials, out_subblock_num_tiles);
                    mm_init_short(in0, in1);
                }
                int dst_index = 0;
                int in0_index_h_offset = 0;
                for (uint32_t h = 0; h < out_subblock_h; h++) {
                    for (uint32_t w = 0; w < out_subblock_w; w++) {
                        int in1_index_inner_dim_offset = 0;
                        for (uint32_t inner = 0; inner < in0_block_w; inner++) {
                            int in0_index = in0_index_subblock_offset + in0_index_h_offset + inner;
                            int in1_index = in1_index_subblock_offset + in1_index_inner_dim_offset + w;
                            matmul_tiles(in0, in1, in0_index, in1_index, dst_index, false);
                            in1_index_inner_dim_offset += in1_per_core_w;
                        }
                        dst_index++;
                    }
                    in0_index_h_offset += in0_block_w;
                }
                tile_regs_commit();
                tile_regs_wait();
                if (last_out || !spill) {
                    cb_reserve_back(out, out_subblock_num_tiles);
                    for (uint32_t i = 0; i < out_subblock_num_tiles; i++) pack_tile(i, out);
                    cb_push_back(out, out_subblock_num_tiles);
                } else {
                    cb_reserve_back(partials, out_subblock_num_tiles);
                    for (uint32_t i = 0; i < out_subblock_num_tiles; i++) pack_tile(i, partials);
                    cb_push_back(partials, out_subblock_num_tiles);
                }
                tile_regs_release();
                in1_index_subblock_offset += out_subblock_w;
            }
            in0_index_subblock_offset += in0_subblock_num_tiles;
        }
        if (spill) enable_reload = true;
        cb_pop_front(in0, in0_block_num_tiles);
        cb_pop_front(in1, in1_block_num_tiles);
    }
}
}
