// Data movement: hands over blocks of two circular buffers as they are in L1.
#include <cstdint>
#include "dataflow_api.h"

void kernel_main() {
    constexpr uint32_t blocks = get_compile_time_arg_val(0);
    constexpr uint32_t tiles = get_compile_time_arg_val(1);
    constexpr uint32_t cb_a = tt::CBIndex::c_0;
    constexpr uint32_t cb_b = tt::CBIndex::c_1;

    for (uint32_t block = 0; block < blocks; block++) {
        cb_reserve_back(cb_a, tiles);
        cb_reserve_back(cb_b, tiles);
        cb_push_back(cb_a, tiles);
        cb_push_back(cb_b, tiles);
    }
}
