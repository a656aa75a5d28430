// The kernel of a mux, which stands for tt_metal/fabric/impl/kernels/tt_fabric_mux.cpp.

#include "dataflow_api.h"
#include "fabric/sender.hpp"

void kernel_main() {
    constexpr uint32_t status_address = get_compile_time_arg_val(5);
    constexpr uint32_t termination_address = get_compile_time_arg_val(6);
    std::size_t arg = 0;
    auto router = tt::tt_fabric::WorkerToFabricEdmSender::build_from_args(arg);
    router.open();
    fabric_mux_serve(router.channel, status_address, termination_address);
    router.close();
}
