// The kernel of a mux that ends when its workers have left, which stands for
// tt_metal/fabric/impl/kernels/tt_fabric_mux_v2.cpp.

#include "dataflow_api.h"
#include "fabric/sender.hpp"

void kernel_main() {
    constexpr uint32_t status_address = get_named_compile_time_arg_val("fabric_mux_v2_mux_status_address");
    constexpr uint32_t clients = get_named_compile_time_arg_val("fabric_mux_v2_num_channels");
    std::size_t arg = 0;
    auto router = tt::tt_fabric::WorkerToFabricEdmSender::build_from_args(arg);
    router.open();
    fabric_mux_serve_clients(router.channel, status_address, clients);
    router.close();
}
