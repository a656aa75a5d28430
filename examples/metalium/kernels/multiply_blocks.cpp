// Compute: one block of C as the sum of products of blocks of A and B.
//
// DST holds a subblock of C at a time. Sums that further blocks along K are added to wait in
// cb_partial, where the packer adds them up; with the last block they come back to DST.
#include <cstdint>
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/matmul.h"
#include "api/compute/reconfig_data_format.h"
#include "api/compute/tile_move_copy.h"

void kernel_main() {
    constexpr uint32_t num_blocks = get_compile_time_arg_val(0);  // along K
    constexpr uint32_t block_m = get_compile_time_arg_val(1);     // extents in tiles
    constexpr uint32_t block_k = get_compile_time_arg_val(2);
    constexpr uint32_t block_n = get_compile_time_arg_val(3);
    constexpr uint32_t subblock_m = get_compile_time_arg_val(4);
    constexpr uint32_t subblock_n = get_compile_time_arg_val(5);

    constexpr uint32_t cb_a = tt::CBIndex::c_0;
    constexpr uint32_t cb_b = tt::CBIndex::c_1;
    constexpr uint32_t cb_c = tt::CBIndex::c_16;
    constexpr uint32_t cb_partial = tt::CBIndex::c_24;
    constexpr uint32_t subblock_tiles = subblock_m * subblock_n;

    compute_kernel_hw_startup<SrcOrder::Reverse>(cb_a, cb_b, cb_c);
    matmul_block_init(cb_a, cb_b, 0, subblock_n, subblock_m, block_k);

    if constexpr (num_blocks > 1) {
        pack_reconfig_data_format(cb_partial);
    }
    for (uint32_t block = 0; block < num_blocks; block++) {
        const bool last = block == num_blocks - 1;
        const bool reload = last && num_blocks > 1;
        const uint32_t cb_out = last ? cb_c : cb_partial;
        if (reload) {
            pack_reconfig_l1_acc(0);
            pack_reconfig_data_format(cb_c);
        } else if (block == 1) {
            pack_reconfig_l1_acc(1);
        }
        bool same_pages = block > 0 && !last;  // as the block before: its sums are added to

        cb_wait_front(cb_a, block_m * block_k);
        cb_wait_front(cb_b, block_k * block_n);
        for (uint32_t m = 0; m < block_m; m += subblock_m) {
            for (uint32_t n = 0; n < block_n; n += subblock_n) {
                tile_regs_acquire();
                if (reload) {
                    reconfig_data_format_srca(cb_b, cb_partial);
                    copy_init(cb_partial);
                    cb_wait_front(cb_partial, subblock_tiles);
                    for (uint32_t i = 0; i < subblock_tiles; i++) {
                        copy_tile(cb_partial, i, i);
                    }
                    cb_pop_front(cb_partial, subblock_tiles);
                    reconfig_data_format_srca(cb_partial, cb_b);
                    matmul_block_init(cb_a, cb_b, 0, subblock_n, subblock_m, block_k);
                }
                for (uint32_t k = 0; k < block_k; k++) {
                    matmul_block(
                        cb_a, cb_b, m * block_k + k, k * block_n + n, 0, 0,
                        subblock_n, subblock_m, block_k);
                }
                tile_regs_commit();

                if (same_pages) {
                    cb_wait_front(cb_partial, block_m * block_n);
                    cb_pop_front(cb_partial, block_m * block_n);
                    same_pages = false;
                }
                cb_reserve_back(cb_out, subblock_tiles);
                tile_regs_wait();
                for (uint32_t i = 0; i < subblock_tiles; i++) {
                    pack_tile(i, cb_out);
                }
                tile_regs_release();
                cb_push_back(cb_out, subblock_tiles);
            }
        }
        cb_pop_front(cb_a, block_m * block_k);
        cb_pop_front(cb_b, block_k * block_n);
    }
}
