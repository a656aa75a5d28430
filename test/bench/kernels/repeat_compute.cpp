// Compute: STEP, so many times, on tiles that are in L1 from the beginning.
#include <cstdint>
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/eltwise_binary.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#include "compute_kernel_api/matmul.h"
#include "compute_kernel_api/reduce.h"
#include "compute_kernel_api/tile_move_copy.h"
#include "compute_kernel_api.h"

namespace NAMESPACE {
void MAIN {
    constexpr uint32_t count = get_compile_time_arg_val(0);
    constexpr uint32_t rows = get_compile_time_arg_val(1);
    constexpr uint32_t columns = get_compile_time_arg_val(2);
    constexpr uint32_t inner = get_compile_time_arg_val(3);
    constexpr uint32_t cb_a = tt::CBIndex::c_0;
    constexpr uint32_t cb_b = tt::CBIndex::c_1;
    constexpr uint32_t cb_c = tt::CBIndex::c_16;

    PREPARE;
    for (uint32_t i = 0; i < count; i++) {
        STEP;
    }
}
}  // namespace NAMESPACE
