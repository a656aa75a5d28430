// Data movement: copies pages that come over a socket to a tensor.
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

    constexpr uint32_t num_pages = get_compile_time_arg_val(1);
    constexpr uint32_t page_size = get_compile_time_arg_val(2);
    const auto tensor = TensorAccessor(TensorAccessorArgs<3>(), tensor_address, page_size);

    auto* credit_header = PacketHeaderPool::allocate_header();
    connection.open();
    SocketReceiverInterface socket = create_receiver_socket_interface(config_address);
    set_receiver_socket_page_size(socket, page_size);
    for (uint32_t i = 0; i < num_pages; i++) {
        socket_wait_for_pages(socket, 1);
        noc_async_write_page(i, tensor, socket.read_ptr);
        noc_async_writes_flushed();
        socket_pop_pages(socket, 1);  // the sender may write there again
        fabric_socket_notify_sender(socket, connection, credit_header);
    }
    noc_async_write_barrier();
    update_socket_config(socket);
    connection.close();
}
