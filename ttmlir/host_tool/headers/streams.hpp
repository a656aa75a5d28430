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

/// A socket between a core and the host.
class HostSocket : public Remote {
public:
    uint32_t get_page_size() const { return page_; }
    std::vector<MeshCoreCoord> get_active_cores() const { return {core_}; }
    MeshDevice* get_mesh_device() const { return device_.get(); }

protected:
    HostSocket(
        const Value& value, const std::shared_ptr<MeshDevice>& device, const MeshCoreCoord& core) :
        Remote(value), device_(device), core_(core) {}
    uint32_t page_ = 0;

private:
    std::shared_ptr<MeshDevice> device_;
    MeshCoreCoord core_;
};

/// Pages from the host to a core.
class H2DSocket : public HostSocket {
public:
    H2DSocket(
        const std::shared_ptr<MeshDevice>& device, const MeshCoreCoord& core, BufferType type,
        uint32_t size, H2DMode mode, Where where = Where::here()) :
        HostSocket(
            call(where, "distributed.H2DSocket", *device, core, type, size, mode), device, core) {}
    H2DMode get_h2d_mode() const { return H2DMode::HOST_PUSH; }
    uint32_t get_config_buffer_address(Where where = Where::here()) const {
        return ask(where, "distributed.H2DSocket.get_config_buffer_address").number;
    }
    void set_page_size(uint32_t size, Where where = Where::here()) {
        ask(where, "distributed.H2DSocket.set_page_size", size);
        page_ = size;
    }
    bool has_space(uint32_t size = 0, Where where = Where::here()) const {
        return ask(where, "distributed.H2DSocket.has_space", size).number;
    }
    uint32_t get_bytes_sent(Where where = Where::here()) const {
        return ask(where, "distributed.H2DSocket.get_bytes_sent").number;
    }
    void write(const void* data, uint32_t pages, Where where = Where::here()) {
        const ttmlir_host::Bytes bytes{data, static_cast<size_t>(page_) * pages};
        ask(where, "distributed.H2DSocket.write", bytes, pages);
    }
    void barrier(
        std::optional<uint32_t> milliseconds = std::nullopt, Where where = Where::here()) {
        ask(where, "distributed.H2DSocket.barrier", milliseconds);
    }
};

/// Pages from a core to the host.
class D2HSocket : public HostSocket {
public:
    D2HSocket(
        const std::shared_ptr<MeshDevice>& device, const MeshCoreCoord& core, uint32_t size,
        Where where = Where::here()) :
        HostSocket(call(where, "distributed.D2HSocket", *device, core, size), device, core) {}
    uint32_t get_config_buffer_address(Where where = Where::here()) const {
        return ask(where, "distributed.D2HSocket.get_config_buffer_address").number;
    }
    void set_page_size(uint32_t size, Where where = Where::here()) {
        ask(where, "distributed.D2HSocket.set_page_size", size);
        page_ = size;
    }
    bool has_data(uint32_t size = 0, Where where = Where::here()) const {
        return ask(where, "distributed.D2HSocket.has_data", size).number;
    }
    uint32_t pages_available(Where where = Where::here()) const {
        return ask(where, "distributed.D2HSocket.pages_available").number;
    }
    void read(
        void* data, uint32_t pages, bool notify_sender = true, Where where = Where::here()) {
        const Value made = ask(where, "distributed.D2HSocket.read", pages, notify_sender);
        std::memcpy(data, made.text.data(), made.text.size());
    }
    void barrier(
        std::optional<uint32_t> milliseconds = std::nullopt, Where where = Where::here()) {
        ask(where, "distributed.D2HSocket.barrier", milliseconds);
    }
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
