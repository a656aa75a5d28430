// Reduces columns of tiles; what and how is for the host to define.
#include <cstdint>
#include "compute_kernel_api/reduce.h"

namespace NAMESPACE {
void MAIN {
    constexpr uint32_t Ht = get_compile_time_arg_val(0);
    constexpr uint32_t Wt = get_compile_time_arg_val(1);

    compute_kernel_hw_startup(tt::CBIndex::c_0, tt::CBIndex::c_2, tt::CBIndex::c_16);
    reduce_init(tt::CBIndex::c_0, tt::CBIndex::c_2, tt::CBIndex::c_16);
    cb_wait_front(tt::CBIndex::c_2, 1);  // scaler tile from the reader
    constexpr int onetile = 1;
    int reduce_dst_idx = 0;
    for (uint32_t ht = 0; ht < Ht; ++ht) {
        acquire_dst();
        for (uint32_t wt = 0; wt < Wt; ++wt) {
            cb_wait_front(tt::CBIndex::c_0, onetile);
            reduce_tile(tt::CBIndex::c_0, tt::CBIndex::c_2, 0, 0, reduce_dst_idx);
            cb_pop_front(tt::CBIndex::c_0, onetile);
        }
        cb_reserve_back(tt::CBIndex::c_16, onetile);
        pack_tile(reduce_dst_idx, tt::CBIndex::c_16);
        cb_push_back(tt::CBIndex::c_16, onetile);
        release_dst();
    }
}
}  // namespace NAMESPACE
