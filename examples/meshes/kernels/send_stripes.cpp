// Sends pages to the next device of a ring, and tells it of each; own pages are kept, too.
#include "api/dataflow/dataflow_api.h"
#include "tt_metal/fabric/hw/inc/edm_fabric/edm_fabric_worker_adapters.hpp"
#include "tt_metal/fabric/hw/inc/linear/api.h"
#include "tt_metal/fabric/hw/inc/packet_header_pool.h"

using namespace tt::tt_fabric;

void kernel_main() {
    constexpr uint32_t cb = get_compile_time_arg_val(0);
    constexpr uint32_t devices = get_compile_time_arg_val(1);
    constexpr uint32_t pages = get_compile_time_arg_val(2);
    constexpr auto layout = TensorAccessorArgs<3>();
    std::size_t arg = 0;
    const uint32_t size = get_tile_size(cb);
    const auto gathered = TensorAccessor(layout, get_arg_val<uint32_t>(arg++), size);
    const uint32_t arrived = get_arg_val<uint32_t>(arg++);
    const uint32_t device = get_arg_val<uint32_t>(arg++);
    auto sender = WorkerToFabricEdmSender::build_from_args<ProgrammableCoreType::TENSIX>(arg);

    auto* header = PacketHeaderPool::allocate_header();
    const uint64_t signal = get_noc_addr(my_x[noc_index], my_y[noc_index], arrived);
    sender.open();
    for (uint32_t step = 0; step < devices - 1; step++) {
        const uint32_t stripe = (device + devices - step) % devices;
        for (uint32_t page = stripe * pages; page < (stripe + 1) * pages; page++) {
            cb_wait_front(cb, 1);
            // The tensor has the same addresses on all devices, and so has the semaphore.
            linear::experimental::fabric_unicast_noc_fused_unicast_with_atomic_inc(
                &sender,
                header,
                get_read_ptr(cb),
                size,
                NocUnicastAtomicIncFusedCommandHeader{gathered.get_noc_addr(page), signal, 1},
                1);
            if (step == 0) {
                noc_async_write_page(page, gathered, get_read_ptr(cb));
            }
            noc_async_writes_flushed();
            cb_pop_front(cb, 1);
        }
    }
    sender.close();
    noc_async_write_barrier();
}
