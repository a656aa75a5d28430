// Compute: adds pairs of tiles. The host gives everything a name.
#include <cstdint>
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/dataflow/dataflow_buffer.h"
#include "experimental/kernel_args.h"

void kernel_main() {
    const uint32_t num_tiles = get_arg(args::num_tiles);
    compute_kernel_hw_startup(dfb::a, dfb::b, dfb::sum);
    add_init(dfb::a, dfb::b);

    DataflowBuffer a(dfb::a);
    DataflowBuffer b(dfb::b);
    DataflowBuffer sum(dfb::sum);
    for (uint32_t i = 0; i < num_tiles; i++) {
        a.wait_front(1);
        b.wait_front(1);
        tile_regs_acquire();
        add_tiles(dfb::a, dfb::b, 0, 0, 0);
        tile_regs_commit();
        a.pop_front(1);
        b.pop_front(1);

        sum.reserve_back(1);
        tile_regs_wait();
        pack_tile(0, dfb::sum);
        tile_regs_release();
        sum.push_back(1);
    }
}
