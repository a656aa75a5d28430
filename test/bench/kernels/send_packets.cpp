// Sends packets to a chip, or to the chips of a line; the last one also tells them.
#include "dataflow_api.h"
#include "tt_metal/fabric/hw/inc/edm_fabric/edm_fabric_worker_adapters.hpp"
#include "tt_metal/fabric/hw/inc/packet_header_pool.h"

using namespace tt::tt_fabric;

void kernel_main() {
    std::size_t arg = 0;
    const uint32_t data = get_arg_val<uint32_t>(arg++);
    const uint32_t semaphore = get_arg_val<uint32_t>(arg++);
    const uint32_t size = get_arg_val<uint32_t>(arg++);
    const uint32_t count = get_arg_val<uint32_t>(arg++);
    const uint8_t hops = get_arg_val<uint32_t>(arg++);
    const uint8_t is_multicast = get_arg_val<uint32_t>(arg++);
    const uint32_t x = get_arg_val<uint32_t>(arg++);
    const uint32_t y = get_arg_val<uint32_t>(arg++);
    auto sender = WorkerToFabricEdmSender::build_from_args<ProgrammableCoreType::TENSIX>(arg);
    auto* header = PacketHeaderPool::allocate_header();
    sender.open();
    if (is_multicast) {
        header->to_chip_multicast(MulticastRoutingCommandHeader{1, hops});
    } else {
        header->to_chip_unicast(hops);
    }
    const uint64_t target = get_noc_addr(x, y, data + 8192);
    const uint64_t signal = get_noc_addr(x, y, semaphore);
    for (uint32_t i = 0; i <= count; i++) {
        if (i < count) {
            header->to_noc_unicast_write(NocUnicastCommandHeader{target}, size);
        } else {
            header->to_noc_fused_unicast_write_atomic_inc(
                NocUnicastAtomicIncFusedCommandHeader{target, signal, 1}, size);
        }
        sender.wait_for_empty_write_slot();
        sender.send_payload_without_header_non_blocking_from_address(data, size);
        sender.send_payload_flush_blocking_from_address((uint32_t)header, sizeof(PACKET_HEADER_TYPE));
    }
    sender.close();
}
