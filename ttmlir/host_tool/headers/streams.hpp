// Sockets between cores of a mesh, and global circular buffers.

#pragma once

#include "host_api.hpp"

namespace tt::tt_metal::distributed {

/// A core of a device of a mesh.
struct MeshCoreCoord {
    MeshCoordinate device_coord;
    CoreCoord core_coord;
    void encode(ttmlir_host::Message& message) const {
        message.record("distributed.MeshCoreCoord", 2);
        message.field("", device_coord);
        message.field("", core_coord);
    }
};

struct SocketConnection {
    MeshCoreCoord sender_core;
    MeshCoreCoord receiver_core;
    void encode(ttmlir_host::Message& message) const {
        message.record("distributed.SocketConnection", 2);
        message.field("", sender_core);
        message.field("", receiver_core);
    }
};

struct SocketMemoryConfig {
    BufferType socket_storage_type = BufferType::L1;
    uint32_t fifo_size = 0;
    void encode(ttmlir_host::Message& message) const {
        message.record("distributed.SocketMemoryConfig", 2);
        message.field("", socket_storage_type);
        message.field("", fifo_size);
    }
};

struct SocketConfig {
    std::vector<SocketConnection> socket_connection_config;
    SocketMemoryConfig socket_mem_config;
    void encode(ttmlir_host::Message& message) const {
        message.record("distributed.SocketConfig", 2);
        message.field("", socket_connection_config);
        message.field("", socket_mem_config);
    }
};

enum class SocketEndpoint : uint8_t { SENDER, RECEIVER };

/// One end of a socket.
class MeshSocket : public Remote {
public:
    MeshSocket(const Value& value, MeshDevice* device, const SocketConfig& config) :
        Remote(value), device_(device), config_(config) {}
    static std::pair<MeshSocket, MeshSocket> create_socket_pair(
        const std::shared_ptr<MeshDevice>& sender, const std::shared_ptr<MeshDevice>& receiver,
        const SocketConfig& config, Where where = Where::here()) {
        const Value made = call(
            where, "distributed.MeshSocket.create_socket_pair", *sender, *receiver, config);
        return {
            MeshSocket(made.items.at(0), sender.get(), config),
            MeshSocket(made.items.at(1), receiver.get(), config)};
    }
    std::shared_ptr<MeshBuffer> get_config_buffer(Where where = Where::here()) const {
        return std::make_shared<MeshBuffer>(
            ask(where, "distributed.MeshSocket.get_config_buffer"), device_);
    }
    std::shared_ptr<MeshBuffer> get_data_buffer(Where where = Where::here()) const {
        return std::make_shared<MeshBuffer>(
            ask(where, "distributed.MeshSocket.get_data_buffer"), device_);
    }
    const SocketConfig& get_config() const { return config_; }
    SocketEndpoint get_socket_endpoint_type(Where where = Where::here()) const {
        return static_cast<SocketEndpoint>(
            ask(where, "distributed.MeshSocket.get_socket_endpoint_type").number);
    }

private:
    MeshDevice* device_;
    SocketConfig config_;
};

}  // namespace tt::tt_metal::distributed

namespace tt::tt_metal::experimental {

/// Bytes in the L1 of senders and of their receivers.
class GlobalCircularBuffer : public Remote {
public:
    using Remote::Remote;
    DeviceAddr buffer_address(Where where = Where::here()) const {
        return ask(where, "experimental.GlobalCircularBuffer.buffer_address").number;
    }
    DeviceAddr config_address(Where where = Where::here()) const {
        return ask(where, "experimental.GlobalCircularBuffer.config_address").number;
    }
    uint32_t size(Where where = Where::here()) const {
        return ask(where, "experimental.GlobalCircularBuffer.size").number;
    }
};

/// A sender and its receivers.
struct SenderAndReceivers {
    const std::pair<CoreCoord, CoreRangeSet>& ends;
    void encode(ttmlir_host::Message& message) const {
        message.record("tuple", 2);
        message.field("", ends.first);
        message.field("", ends.second);
    }
};

inline GlobalCircularBuffer CreateGlobalCircularBuffer(
    IDevice* device, const std::vector<std::pair<CoreCoord, CoreRangeSet>>& mapping, uint32_t size,
    BufferType type = BufferType::L1, Where where = Where::here()) {
    std::vector<SenderAndReceivers> ends;
    for (const auto& each : mapping) {
        ends.push_back({each});
    }
    return GlobalCircularBuffer(
        call(where, "experimental.CreateGlobalCircularBuffer", *device, ends, size, type));
}

inline CBHandle CreateCircularBuffer(
    Program& program, const CoreSpec& cores, const CircularBufferConfig& config,
    const GlobalCircularBuffer& global, Where where = Where::here()) {
    return call(where, "experimental.CreateCircularBuffer", program, cores, config, global).number;
}

}  // namespace tt::tt_metal::experimental
