#pragma once

// Connections of a worker to routers of the fabric. What a router does are calls of the simulator.

#include "api/alignment.h"
#include "fabric/packet_header.hpp"

namespace tt::tt_fabric {

struct WorkerXY {
    uint16_t x;
    uint16_t y;
};

template <uint8_t NUM_BUFFERS = 0>
struct WorkerToFabricSender {
    uint32_t channel = 0;

    template <ProgrammableCoreType core_type = ProgrammableCoreType::TENSIX, bool addresses = false>
    static WorkerToFabricSender build_from_args(std::size_t& arg_idx) {
        WorkerToFabricSender sender;
        sender.channel = get_arg_val<uint32_t>(arg_idx);
        arg_idx += 3;
        return sender;
    }
    template <bool SEND_CREDIT_ADDR = false, bool posted = false, uint8_t HANDSHAKE_NOC = 0>
    void open_start() {}
    template <bool posted = false, uint8_t HANDSHAKE_NOC = 0>
    void open_finish() {
        fabric_router_open(channel);
    }
    template <bool SEND_CREDIT_ADDR = false, bool posted = false, uint8_t HANDSHAKE_NOC = 0>
    void open() {
        fabric_router_open(channel);
    }
    template <bool posted = false, uint8_t HANDSHAKE_NOC = 0>
    void close_start() {}
    template <bool posted = false, uint8_t HANDSHAKE_NOC = 0>
    void close_finish() {
        fabric_router_close(channel);
    }
    template <bool posted = false, uint8_t HANDSHAKE_NOC = 0>
    void close() {
        fabric_router_close(channel);
    }
    uint32_t get_num_free_write_slots() const { return fabric_router_slots(channel, 0); }
    template <std::size_t num_slots = 1>
    bool edm_has_space_for_packet() const {
        return fabric_router_slots(channel, num_slots) >= num_slots;
    }
    void wait_for_empty_write_slot() const { fabric_router_wait(channel); }

    template <bool posted = false>
    void send_payload_without_header_non_blocking_from_address(
        uint32_t source, uint32_t size, uint8_t noc = noc_index) {
        fabric_router_put(channel, source, size, noc);
    }
    template <bool posted = false>
    void send_payload_flush_blocking_from_address(uint32_t source, uint32_t size, uint8_t noc = noc_index) {
        fabric_router_send(channel, source, size, noc);
        noc_async_writes_flushed(noc);
    }
    template <bool posted = false>
    void send_payload_flush_non_blocking_from_address(uint32_t source, uint32_t size, uint8_t noc = noc_index) {
        fabric_router_send(channel, source, size, noc);
    }
    template <bool posted = false>
    void send_payload_non_blocking_from_address(uint32_t source, uint32_t size, uint8_t noc = noc_index) {
        fabric_router_send(channel, source, size, noc);
    }
    template <bool posted = false>
    void send_payload_blocking_from_address(uint32_t source, uint32_t size, uint8_t noc = noc_index) {
        fabric_router_send(channel, source, size, noc);
        noc_async_write_barrier(noc);
    }
    template <bool posted = false>
    void send_current_slot_non_blocking(
        uint32_t source, uint32_t size, uint32_t header, uint8_t noc = noc_index) {
        fabric_router_put(channel, source, size, noc);
        fabric_router_send(channel, header, sizeof(PACKET_HEADER_TYPE), noc);
    }
    template <bool posted = false>
    void setup_stateful_send_cmd_bufs(uint8_t noc = noc_index) const {}
    template <bool posted = false>
    void send_current_slot_stateful_non_blocking(
        uint32_t source, uint32_t size, uint32_t header, uint8_t noc = noc_index) {
        send_current_slot_non_blocking(source, size, header, noc);
    }
    template <bool posted = false>
    void send_current_slot_stateful_non_blocking_from_address(
        uint32_t source, uint32_t size, uint8_t noc = noc_index) {
        fabric_router_send(channel, source, size, noc);
    }
};

using WorkerToFabricEdmSender = WorkerToFabricSender<0>;

// A sender of the channel of a mux, a core that passes the packets of several workers on.
template <uint8_t NUM_BUFFERS = 0>
struct WorkerToFabricMuxSender : public WorkerToFabricSender<NUM_BUFFERS> {};

// A sender of the channel of a mux that ends when all of its workers have closed. Opening waits until
// the mux serves, so that nothing is staged before.
template <bool EAGER_STAGING = false, uint8_t NUM_BUFFERS = 0>
struct FabricMuxV2Sender : public WorkerToFabricSender<NUM_BUFFERS> {
    uint8_t mux_noc_x = 0;
    uint8_t mux_noc_y = 0;
    uint32_t mux_status_address = 0;

    static FabricMuxV2Sender build_from_args(std::size_t& arg_idx) {
        FabricMuxV2Sender sender;
        sender.mux_noc_x = get_arg_val<uint32_t>(arg_idx);
        sender.mux_noc_y = get_arg_val<uint32_t>(arg_idx + 1);
        sender.mux_status_address = get_arg_val<uint32_t>(arg_idx + 10);
        const uint32_t buffers = NUM_BUFFERS != 0 ? NUM_BUFFERS : get_arg_val<uint32_t>(arg_idx + 3);
        sender.channel = fabric_mux_channel(
            sender.mux_noc_x, sender.mux_noc_y, get_arg_val<uint32_t>(arg_idx + 2), buffers);
        arg_idx += 11;
        return sender;
    }
    void open(uint8_t status_trid = 0xFF) {
        fabric_mux_wait(mux_noc_x, mux_noc_y, mux_status_address);
        fabric_router_open(this->channel);
    }
    template <bool Blocking = true>
    bool flush() {
        return true;
    }
    template <std::size_t num_slots = 1>
    bool has_space_for_packet() const {
        return fabric_router_slots(this->channel, num_slots) >= num_slots;
    }
    bool is_staging_ring_full() const { return false; }
    void close() {
        fabric_router_close(this->channel);
        fabric_mux_leave(mux_noc_x, mux_noc_y, mux_status_address);
    }
};

using FabricEndpointStatus = EDMStatus;

template <uint8_t NUM_BUFFERS = 0>
WorkerToFabricMuxSender<NUM_BUFFERS> build_connection_to_fabric_endpoint(
    uint8_t x,
    uint8_t y,
    uint8_t channel,
    uint8_t buffers,
    std::size_t buffer_size,
    std::size_t base_address,
    std::size_t connection_info_address,
    std::size_t handshake_address,
    std::size_t flow_control_address,
    std::size_t buffer_index_address,
    uint32_t local_flow_control_address,
    uint32_t local_teardown_address,
    uint32_t local_buffer_index_address,
    uint32_t direction = 0) {
    WorkerToFabricMuxSender<NUM_BUFFERS> sender;
    sender.channel = fabric_mux_channel(x, y, channel, buffers);
    return sender;
}

inline void wait_for_fabric_endpoint_ready(
    uint8_t x, uint8_t y, std::size_t status_address, uint32_t local_status_address) {
    fabric_mux_wait(x, y, status_address);
}

template <typename Sender>
void fabric_client_connect(Sender& sender) {
    sender.open();
}
template <typename Sender>
void fabric_client_connect_start(Sender& sender) {}
template <typename Sender>
void fabric_client_connect_finish(Sender& sender) {
    sender.open();
}
template <typename Sender>
void fabric_client_disconnect(Sender& sender) {
    sender.close();
}
inline void fabric_endpoint_terminate(
    uint8_t x, uint8_t y, std::size_t termination_address, bool graceful_termination = true) {
    fabric_mux_terminate(x, y, termination_address);
}
template <typename Sender>
void fabric_async_write(
    Sender& sender, volatile PACKET_HEADER_TYPE* header, uint32_t source, uint32_t size) {
    sender.wait_for_empty_write_slot();
    sender.send_payload_without_header_non_blocking_from_address(source, size);
    sender.send_payload_flush_blocking_from_address((uint32_t)header, sizeof(PACKET_HEADER_TYPE));
}
template <typename Sender>
void fabric_atomic_inc(Sender& sender, volatile PACKET_HEADER_TYPE* header) {
    sender.wait_for_empty_write_slot();
    sender.send_payload_flush_non_blocking_from_address((uint32_t)header, sizeof(PACKET_HEADER_TYPE));
}

inline eth_chan_directions get_next_hop_router_direction(uint32_t mesh, uint32_t chip) {
    return static_cast<eth_chan_directions>(fabric_router_direction(chip));
}

namespace common::experimental {

template <typename T>
struct is_fabric_mux_v2_sender {
    static constexpr bool value = false;
};
template <bool EAGER_STAGING, uint8_t NUM_BUFFERS>
struct is_fabric_mux_v2_sender<FabricMuxV2Sender<EAGER_STAGING, NUM_BUFFERS>> {
    static constexpr bool value = true;
};
template <typename T>
constexpr bool is_fabric_mux_v2_sender_v = is_fabric_mux_v2_sender<T>::value;

}  // namespace common::experimental

constexpr uint32_t MAX_CONNECTIONS = 4;

class RoutingPlaneConnectionManager {
public:
    static constexpr std::size_t MaxConnections = MAX_CONNECTIONS;
    using Sender = WorkerToFabricEdmSender;
    enum BuildFromArgsMode : uint8_t {
        BUILD_ONLY,
        BUILD_AND_OPEN_CONNECTION,
        BUILD_AND_OPEN_CONNECTION_START_ONLY
    };
    struct ConnectionSlot {
        WorkerToFabricEdmSender sender;
        uint8_t tag = 0;
        uint16_t dst_dev_id = 0;
        uint16_t dst_mesh_id = 0;
    };
    uint16_t my_mesh_id = 0;
    uint16_t my_chip_id = 0;

    template <
        BuildFromArgsMode build_mode = BuildFromArgsMode::BUILD_ONLY,
        uint8_t HANDSHAKE_NOC = 0,
        bool addresses = false>
    static RoutingPlaneConnectionManager build_from_args(std::size_t& arg_idx, uint32_t count) {
        RoutingPlaneConnectionManager manager;
        for (uint32_t i = 0; i < count; i++) {
            manager.slots_[i].tag = get_arg_val<uint32_t>(arg_idx++);
            manager.slots_[i].sender = WorkerToFabricEdmSender::build_from_args(arg_idx);
            if constexpr (build_mode == BuildFromArgsMode::BUILD_AND_OPEN_CONNECTION) {
                manager.slots_[i].sender.open();
            }
        }
        manager.num_active_ = count;
#if defined(FABRIC_2D)
        manager.my_chip_id = get_arg_val<uint32_t>(arg_idx++);
        manager.my_mesh_id = get_arg_val<uint32_t>(arg_idx++);
        for (uint32_t i = 0; i < count; i++) {
            manager.slots_[i].dst_dev_id = get_arg_val<uint32_t>(arg_idx++);
            manager.slots_[i].dst_mesh_id = get_arg_val<uint32_t>(arg_idx++);
        }
#endif
        return manager;
    }
    uint32_t get_tag(uint32_t index) const { return slots_[index].tag; }
    ConnectionSlot& get(uint32_t index) { return slots_[index]; }
    template <typename Fn>
    void for_each(Fn&& fn) {
        for (uint32_t i = 0; i < num_active_; i++) {
            fn(slots_[i].sender, i, slots_[i].tag);
        }
    }
    void open_start() {}
    void open_finish() { open(); }
    void open() {
        for (uint32_t i = 0; i < num_active_; i++) {
            slots_[i].sender.open();
        }
    }
    void close_start() {}
    void close_finish() { close(); }
    void close() {
        for (uint32_t i = 0; i < num_active_; i++) {
            slots_[i].sender.close();
        }
    }
    uint32_t active_count() const { return num_active_; }

private:
    ConnectionSlot slots_[MAX_CONNECTIONS];
    uint32_t num_active_ = 0;
};

inline uint16_t get_fabric_max_packet_size() { return 4352; }

namespace connection_interface {

static constexpr uint8_t edm_fabric_write_noc_index = 1;

}  // namespace connection_interface

}  // namespace tt::tt_fabric

#define FABRIC_MAX_PACKET_SIZE (tt::tt_fabric::get_fabric_max_packet_size())

class FabricConnectionManager {
public:
    enum BuildFromArgsMode : uint8_t {
        BUILD_ONLY,
        BUILD_AND_OPEN_CONNECTION,
        BUILD_AND_OPEN_CONNECTION_START_ONLY
    };
    template <BuildFromArgsMode build_mode = BuildFromArgsMode::BUILD_ONLY>
    static FabricConnectionManager build_from_args(std::size_t& arg_idx) {
        FabricConnectionManager manager;
        manager.has_forward = get_arg_val<uint32_t>(arg_idx++) != 0;
        if (manager.has_forward) {
            manager.forward = tt::tt_fabric::WorkerToFabricEdmSender::build_from_args(arg_idx);
        }
        manager.has_backward = get_arg_val<uint32_t>(arg_idx++) != 0;
        if (manager.has_backward) {
            manager.backward = tt::tt_fabric::WorkerToFabricEdmSender::build_from_args(arg_idx);
        }
        if constexpr (build_mode == BuildFromArgsMode::BUILD_AND_OPEN_CONNECTION) {
            manager.open();
        }
        return manager;
    }
    bool is_logically_connected() const { return has_forward || has_backward; }
    bool has_forward_connection() const { return has_forward; }
    bool has_backward_connection() const { return has_backward; }
    tt::tt_fabric::WorkerToFabricEdmSender& get_forward_connection() { return forward; }
    tt::tt_fabric::WorkerToFabricEdmSender& get_backward_connection() { return backward; }
    template <bool SEND_CREDIT_ADDR = false>
    void open() {
        if (has_forward) {
            forward.open();
        }
        if (has_backward) {
            backward.open();
        }
    }
    void open_start() {}
    void open_finish() { open(); }
    void close_start() {}
    void close_finish() { close(); }
    void close() {
        if (has_forward) {
            forward.close();
        }
        if (has_backward) {
            backward.close();
        }
    }

private:
    tt::tt_fabric::WorkerToFabricEdmSender forward;
    tt::tt_fabric::WorkerToFabricEdmSender backward;
    bool has_forward = false;
    bool has_backward = false;
};

class PacketHeaderPool {
public:
    static volatile PACKET_HEADER_TYPE* allocate_header(uint8_t count = 1) {
        return reinterpret_cast<volatile PACKET_HEADER_TYPE*>(fabric_packet_headers(count));
    }
    static uint8_t allocate_header_n(uint8_t count) {
        fabric_packet_headers(count);
        return fabric_packet_route(count);
    }
    template <typename Func>
    static void for_each_header(uint8_t route_id, Func&& func) {
        const uint32_t count = fabric_packet_count(route_id);
        const uint32_t first = fabric_packet_address(route_id);
        for (uint32_t i = 0; i < count; i++) {
            func(reinterpret_cast<volatile PACKET_HEADER_TYPE*>(first + i * sizeof(PACKET_HEADER_TYPE)), i);
        }
    }
    static uint8_t get_num_headers(uint8_t route_id) { return fabric_packet_count(route_id); }
    static void reset() { fabric_packet_reset(); }
};

constexpr uint8_t edm_to_local_chip_noc = 1;

inline uint64_t safe_get_noc_addr(uint8_t x, uint8_t y, uint32_t address, uint8_t noc = noc_index) {
    return get_noc_addr(x, y, address);
}

inline std::pair<tt::tt_fabric::WorkerXY, uint32_t> get_noc_address_components(uint64_t noc_address) {
    return {
        tt::tt_fabric::WorkerXY{
            static_cast<uint16_t>((noc_address >> 36) & 0x3F), static_cast<uint16_t>((noc_address >> 42) & 0x3F)},
        static_cast<uint32_t>(noc_address)};
}

namespace tt::tt_fabric::addrgen_detail {

template <typename AddrGen>
inline uint64_t get_noc_address(const AddrGen& generator, uint32_t id, uint32_t offset = 0) {
    return generator.get_noc_addr(id, offset);
}

}  // namespace tt::tt_fabric::addrgen_detail

namespace tt::tt_fabric::linear::addrgen_detail {

using namespace tt::tt_fabric::addrgen_detail;

}  // namespace tt::tt_fabric::linear::addrgen_detail

using namespace tt::tt_fabric;
