// The inputs are in L1 already: hands their tiles to the compute kernel.
#include <cstdint>
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t num_tiles = get_arg_val<uint32_t>(0);
    cb_reserve_back(tt::CBIndex::c_0, num_tiles);
    cb_push_back(tt::CBIndex::c_0, num_tiles);
    cb_reserve_back(tt::CBIndex::c_1, num_tiles);
    cb_push_back(tt::CBIndex::c_1, num_tiles);
}
