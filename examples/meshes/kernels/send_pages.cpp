// Data movement: copies pages of a tensor over a socket to a core of another device.
#include <cstdint>
#include "api/dataflow/dataflow_api.h"
#include "api/socket_api.h"
#include "tt_metal/fabric/hw/inc/packet_header_pool.h"
#include "api/tensor/tensor_accessor.h"

void kernel_main() {
    std::size_t arg = 0;
    const uint32_t config_address = get_arg_val<uint32_t>(arg++);
    const uint32_t tensor_address = get_arg_val<uint32_t>(arg++);
    auto connection =
        tt::tt_fabric::WorkerToFabricEdmSender::build_from_args<ProgrammableCoreType::TENSIX>(arg);

    constexpr uint32_t cb = get_compile_time_arg_val(0);
    constexpr uint32_t num_pages = get_compile_time_arg_val(1);
    constexpr uint32_t page_size = get_compile_time_arg_val(2);
    const auto tensor = TensorAccessor(TensorAccessorArgs<3>(), tensor_address, page_size);

    auto* header = PacketHeaderPool::allocate_header();
    auto* credit_header = PacketHeaderPool::allocate_header();
    connection.open();
    SocketSenderInterface socket = create_sender_socket_interface(config_address);
    set_sender_socket_page_size(socket, page_size);
    const sender_downstream_encoding receiver = get_downstream_encoding(socket, 0);
    fabric_set_unicast_route(header, receiver);

    cb_reserve_back(cb, 1);
    const uint32_t page = get_write_ptr(cb);
    for (uint32_t i = 0; i < num_pages; i++) {
        noc_async_read_page(i, tensor, page);
        noc_async_read_barrier();
        socket_reserve_pages(socket, 1);  // until the receiver has room
        const uint64_t target = get_noc_addr(
            receiver.d2d.downstream_noc_x,
            receiver.d2d.downstream_noc_y,
            socket.downstream_fifo_addr + socket.write_ptr);
        header->to_noc_unicast_write(tt::tt_fabric::NocUnicastCommandHeader{target}, page_size);
        connection.wait_for_empty_write_slot();
        connection.send_payload_without_header_non_blocking_from_address(page, page_size);
        connection.send_payload_flush_blocking_from_address(
            (uint32_t)header, sizeof(PACKET_HEADER_TYPE));
        socket_push_pages(socket, 1);
        fabric_socket_notify_receiver(socket, connection, credit_header);
    }
    update_socket_config(socket);
    connection.close();
}
