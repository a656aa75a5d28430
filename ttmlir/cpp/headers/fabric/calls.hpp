#pragma once

// Calls that set a route and a command and send the packet, in one; `_set_state` sets both ahead of
// time, and `_with_state` sends what is left to be said. A mask says which fields that is.

#include "fabric/sender.hpp"

#define FABRIC_MASK(MASK, ...)                                                              \
    enum class MASK : uint32_t { None = 0, __VA_ARGS__ };                                   \
    constexpr MASK operator|(MASK a, MASK b) {                                              \
        return static_cast<MASK>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));      \
    }                                                                                       \
    constexpr MASK operator&(MASK a, MASK b) {                                              \
        return static_cast<MASK>(static_cast<uint32_t>(a) & static_cast<uint32_t>(b));      \
    }                                                                                       \
    constexpr bool has_flag(MASK mask, MASK bit) {                                          \
        return (static_cast<uint32_t>(mask) & static_cast<uint32_t>(bit)) != 0;             \
    }

// A field that is set if the mask says so.
#define FABRIC_SET(MASK, BIT, FIELD, VALUE)      \
    if constexpr (has_flag(mask, MASK::BIT)) {   \
        header->FIELD = VALUE;                   \
    }

// The calls with state, which are alike for all routes.
#define FABRIC_SEND_PAYLOAD(NAME, MASK, FILL)                                                        \
    template <MASK mask = MASK::None, typename Sender, typename Command = std::nullptr_t>            \
    void NAME##_with_state(                                                                          \
        Sender* sender,                                                                              \
        volatile PACKET_HEADER_TYPE* header,                                                         \
        uint32_t source,                                                                             \
        Command command = nullptr,                                                                   \
        uint16_t size = 0) {                                                                         \
        FILL<mask>(header, command, size);                                                           \
        send_packet(sender, header, source, header->payload_size_bytes);                             \
    }                                                                                                \
    template <MASK mask = MASK::None, typename Command = std::nullptr_t>                             \
    void NAME##_with_state(                                                                          \
        tt::tt_fabric::RoutingPlaneConnectionManager& manager,                                       \
        uint8_t route,                                                                               \
        uint32_t source,                                                                             \
        Command command = nullptr,                                                                   \
        uint16_t size = 0) {                                                                         \
        PacketHeaderPool::for_each_header(route, [&](volatile PACKET_HEADER_TYPE* header, uint8_t i) { \
            FILL<mask>(header, command, size);                                                       \
            send_packet(&manager.get(i).sender, header, source, header->payload_size_bytes);         \
        });                                                                                          \
    }

#define FABRIC_SEND_WORD(NAME, MASK, FILL)                                                           \
    template <MASK mask = MASK::None, typename Sender, typename Command = std::nullptr_t>            \
    void NAME##_with_state(                                                                          \
        Sender* sender, volatile PACKET_HEADER_TYPE* header, Command command = nullptr) {            \
        FILL<mask>(header, command, 0);                                                              \
        send_header(sender, header);                                                                 \
    }                                                                                                \
    template <MASK mask = MASK::None, typename Command = std::nullptr_t>                             \
    void NAME##_with_state(                                                                          \
        tt::tt_fabric::RoutingPlaneConnectionManager& manager, uint8_t route, Command command = nullptr) { \
        PacketHeaderPool::for_each_header(route, [&](volatile PACKET_HEADER_TYPE* header, uint8_t i) { \
            FILL<mask>(header, command, 0);                                                          \
            send_header(&manager.get(i).sender, header);                                             \
        });                                                                                          \
    }

namespace tt::tt_fabric::common::experimental {

FABRIC_MASK(UnicastWriteUpdateMask, DstAddr = 1, PayloadSize = 2, All = 3)
FABRIC_MASK(UnicastInlineWriteUpdateMask, DstAddr = 1, Value = 2, All = 3)
FABRIC_MASK(UnicastAtomicIncUpdateMask, DstAddr = 1, Val = 2, Flush = 4, All = 7)
FABRIC_MASK(UnicastScatterWriteUpdateMask, DstAddrs = 1, ChunkSizes = 2, PayloadSize = 4, All = 7)
FABRIC_MASK(
    UnicastFusedAtomicIncUpdateMask, WriteDstAddr = 1, SemaphoreAddr = 2, Val = 4, Flush = 8, PayloadSize = 16, All = 31)
FABRIC_MASK(
    UnicastFusedScatterWriteAtomicIncUpdateMask,
    WriteDstAddrs = 1,
    SemaphoreDstAddr = 2,
    WriteChunkSizes = 4,
    Val = 8,
    Flush = 16,
    PayloadSize = 32,
    All = 63)

template <UnicastWriteUpdateMask mask, typename Command>
void fill_unicast_write(volatile PACKET_HEADER_TYPE* header, const Command& command, uint16_t size) {
    FABRIC_SET(UnicastWriteUpdateMask, DstAddr, command_fields.unicast_write.noc_address, command.noc_address)
    FABRIC_SET(UnicastWriteUpdateMask, PayloadSize, payload_size_bytes, size)
}

template <UnicastInlineWriteUpdateMask mask, typename Command>
void fill_inline_write(volatile PACKET_HEADER_TYPE* header, const Command& command, uint16_t size) {
    header->payload_size_bytes = 0;
    FABRIC_SET(
        UnicastInlineWriteUpdateMask, DstAddr, command_fields.unicast_inline_write.noc_address, command.noc_address)
    FABRIC_SET(UnicastInlineWriteUpdateMask, Value, command_fields.unicast_inline_write.value, command.value)
}

template <UnicastAtomicIncUpdateMask mask, typename Command>
void fill_atomic_inc(volatile PACKET_HEADER_TYPE* header, const Command& command, uint16_t size) {
    header->payload_size_bytes = 0;
    FABRIC_SET(UnicastAtomicIncUpdateMask, DstAddr, command_fields.unicast_seminc.noc_address, command.noc_address)
    FABRIC_SET(UnicastAtomicIncUpdateMask, Val, command_fields.unicast_seminc.val, command.val)
    FABRIC_SET(UnicastAtomicIncUpdateMask, Flush, command_fields.unicast_seminc.flush, command.flush)
}

template <UnicastScatterWriteUpdateMask mask, typename Command>
void fill_scatter_write(volatile PACKET_HEADER_TYPE* header, const Command& command, uint16_t size) {
    if constexpr (has_flag(mask, UnicastScatterWriteUpdateMask::DstAddrs)) {
        for (uint32_t i = 0; i < command.chunk_count; i++) {
            header->command_fields.unicast_scatter_write.noc_address[i] = command.noc_address[i];
        }
    }
    if constexpr (
        has_flag(mask, UnicastScatterWriteUpdateMask::DstAddrs) ||
        has_flag(mask, UnicastScatterWriteUpdateMask::ChunkSizes)) {
        header->command_fields.unicast_scatter_write.chunk_count = command.chunk_count;
        header->command_fields.unicast_scatter_write.chunk_encoding = SCATTER_WRITES_ONLY;
    }
    if constexpr (has_flag(mask, UnicastScatterWriteUpdateMask::ChunkSizes)) {
        for (uint32_t i = 0; i + 1 < command.chunk_count; i++) {
            header->command_fields.unicast_scatter_write.chunk_size[i] = command.chunk_size[i];
        }
    }
    FABRIC_SET(UnicastScatterWriteUpdateMask, PayloadSize, payload_size_bytes, size)
}

template <UnicastFusedAtomicIncUpdateMask mask, typename Command>
void fill_fused_atomic_inc(volatile PACKET_HEADER_TYPE* header, const Command& command, uint16_t size) {
    FABRIC_SET(
        UnicastFusedAtomicIncUpdateMask,
        WriteDstAddr,
        command_fields.unicast_seminc_fused.noc_address,
        command.noc_address)
    FABRIC_SET(
        UnicastFusedAtomicIncUpdateMask,
        SemaphoreAddr,
        command_fields.unicast_seminc_fused.semaphore_noc_address,
        command.semaphore_noc_address)
    FABRIC_SET(UnicastFusedAtomicIncUpdateMask, Val, command_fields.unicast_seminc_fused.val, command.val)
    FABRIC_SET(UnicastFusedAtomicIncUpdateMask, Flush, command_fields.unicast_seminc_fused.flush, command.flush)
    FABRIC_SET(UnicastFusedAtomicIncUpdateMask, PayloadSize, payload_size_bytes, size)
}

template <UnicastFusedScatterWriteAtomicIncUpdateMask mask, typename Command>
void fill_fused_scatter(volatile PACKET_HEADER_TYPE* header, const Command& command, uint16_t size) {
    using Mask = UnicastFusedScatterWriteAtomicIncUpdateMask;
    if constexpr (has_flag(mask, Mask::WriteDstAddrs)) {
        header->command_fields.unicast_scatter_write.noc_address[0] = command.noc_address[0];
        header->command_fields.unicast_scatter_write.noc_address[1] = command.noc_address[1];
    }
    FABRIC_SET(
        Mask, SemaphoreDstAddr, command_fields.unicast_scatter_write.noc_address[2], command.semaphore_noc_address)
    FABRIC_SET(
        Mask, WriteChunkSizes, command_fields.unicast_scatter_write.chunk_size[0], command.chunk_size[0])
    FABRIC_SET(Mask, Val, command_fields.unicast_scatter_write.chunk_size[2], command.val)
    if constexpr (has_flag(mask, Mask::Flush)) {
        header->command_fields.unicast_scatter_write.chunk_count = 3;
        header->command_fields.unicast_scatter_write.chunk_encoding = get_encoding(command.flush);
    }
    FABRIC_SET(Mask, PayloadSize, payload_size_bytes, size)
}

template <typename Sender>
void send_header(Sender* sender, volatile PACKET_HEADER_TYPE* header) {
    sender->wait_for_empty_write_slot();
    sender->send_payload_flush_non_blocking_from_address((uint32_t)header, sizeof(PACKET_HEADER_TYPE));
}

template <typename Sender>
void send_packet(Sender* sender, volatile PACKET_HEADER_TYPE* header, uint32_t source, uint32_t size) {
    sender->wait_for_empty_write_slot();
    sender->send_payload_without_header_non_blocking_from_address(source, size);
    sender->send_payload_flush_non_blocking_from_address((uint32_t)header, sizeof(PACKET_HEADER_TYPE));
}

template <typename Manager>
void open_connections(Manager& manager, uint32_t count, std::size_t& first_argument) {
    manager = Manager::template build_from_args<Manager::BUILD_ONLY>(first_argument, count);
    manager.open();
}

template <typename Manager>
void close_connections(Manager& manager) {
    manager.close();
}

FABRIC_SEND_PAYLOAD(fabric_unicast_noc_unicast_write, UnicastWriteUpdateMask, fill_unicast_write)
FABRIC_SEND_PAYLOAD(fabric_multicast_noc_unicast_write, UnicastWriteUpdateMask, fill_unicast_write)
FABRIC_SEND_PAYLOAD(fabric_unicast_noc_scatter_write, UnicastScatterWriteUpdateMask, fill_scatter_write)
FABRIC_SEND_PAYLOAD(fabric_multicast_noc_scatter_write, UnicastScatterWriteUpdateMask, fill_scatter_write)
FABRIC_SEND_PAYLOAD(
    fabric_unicast_noc_fused_unicast_with_atomic_inc, UnicastFusedAtomicIncUpdateMask, fill_fused_atomic_inc)
FABRIC_SEND_PAYLOAD(
    fabric_multicast_noc_fused_unicast_with_atomic_inc, UnicastFusedAtomicIncUpdateMask, fill_fused_atomic_inc)
FABRIC_SEND_PAYLOAD(
    fabric_unicast_noc_fused_scatter_write_atomic_inc,
    UnicastFusedScatterWriteAtomicIncUpdateMask,
    fill_fused_scatter)
FABRIC_SEND_PAYLOAD(
    fabric_multicast_noc_fused_scatter_write_atomic_inc,
    UnicastFusedScatterWriteAtomicIncUpdateMask,
    fill_fused_scatter)
FABRIC_SEND_WORD(fabric_unicast_noc_unicast_inline_write, UnicastInlineWriteUpdateMask, fill_inline_write)
FABRIC_SEND_WORD(fabric_multicast_noc_unicast_inline_write, UnicastInlineWriteUpdateMask, fill_inline_write)
FABRIC_SEND_WORD(fabric_unicast_noc_unicast_atomic_inc, UnicastAtomicIncUpdateMask, fill_atomic_inc)
FABRIC_SEND_WORD(fabric_multicast_noc_unicast_atomic_inc, UnicastAtomicIncUpdateMask, fill_atomic_inc)

}  // namespace tt::tt_fabric::common::experimental

using namespace tt::tt_fabric::common::experimental;

namespace tt::tt_fabric::linear::experimental {

using namespace tt::tt_fabric::common::experimental;

inline void fabric_set_unicast_route(
    RoutingPlaneConnectionManager& manager, volatile PACKET_HEADER_TYPE* header, uint8_t i) {
#if defined(FABRIC_2D)
    tt::tt_fabric::fabric_set_unicast_route(header, manager.get(i).dst_dev_id, manager.get(i).dst_mesh_id);
#endif
}

inline void fabric_set_mcast_route(
    RoutingPlaneConnectionManager& manager, volatile PACKET_HEADER_TYPE* header, uint8_t* range, uint8_t i) {
#if defined(FABRIC_2D)
    const uint32_t tag = manager.get(i).tag;
    tt::tt_fabric::fabric_set_mcast_route(
        header,
        manager.get(i).dst_dev_id,
        manager.get(i).dst_mesh_id,
        tag == EAST ? range[i] : 0,
        tag == WEST ? range[i] : 0,
        tag == NORTH ? range[i] : 0,
        tag == SOUTH ? range[i] : 0);
#endif
}

}  // namespace tt::tt_fabric::linear::experimental

// The other calls, for each kind of route: its parameters, those of several connections, how it is
// set in a header, and how in the one of connection i.

#define FABRIC_EACH(...) \
    PacketHeaderPool::for_each_header(route, [&](volatile PACKET_HEADER_TYPE* header, uint8_t i) { __VA_ARGS__ });

#define FABRIC_LINE_PAYLOAD(NAME, COMMAND, TO, TYPE, MASK, FILL)                                      \
    template <typename Sender>                                                                       \
    void fabric_unicast_noc_##NAME(                                                                  \
        Sender* sender,                                                                              \
        volatile PACKET_HEADER_TYPE* header,                                                         \
        uint32_t source,                                                                             \
        uint32_t size,                                                                               \
        COMMAND command,                                                                             \
        uint8_t hops) {                                                                              \
        header->to_chip_unicast(hops);                                                               \
        header->TO(command, size);                                                                   \
        send_packet(sender, header, source, size);                                                   \
    }                                                                                                \
    inline void fabric_unicast_noc_##NAME(                                                           \
        RoutingPlaneConnectionManager& manager,                                                      \
        uint8_t route,                                                                               \
        uint32_t source,                                                                             \
        uint32_t size,                                                                               \
        COMMAND command,                                                                             \
        uint8_t* hops) {                                                                             \
        FABRIC_EACH(fabric_set_unicast_route(manager, header, i);                                    \
                    fabric_unicast_noc_##NAME(                                                       \
                        &manager.get(i).sender, header, source, size, command, hops[i]);)            \
    }                                                                                                \
    template <MASK mask, typename Command = std::nullptr_t>                                          \
    void fabric_unicast_noc_##NAME##_set_state(                                                      \
        volatile PACKET_HEADER_TYPE* header, uint8_t hops, Command command = nullptr, uint16_t size = 0) { \
        header->to_chip_unicast(hops);                                                               \
        header->noc_send_type = TYPE;                                                                \
        FILL<mask>(header, command, size);                                                           \
    }                                                                                                \
    template <MASK mask, typename Command = std::nullptr_t>                                          \
    void fabric_unicast_noc_##NAME##_set_state(                                                      \
        RoutingPlaneConnectionManager& manager,                                                      \
        uint8_t route,                                                                               \
        uint8_t* hops,                                                                               \
        Command command = nullptr,                                                                   \
        uint16_t size = 0) {                                                                         \
        FABRIC_EACH(fabric_set_unicast_route(manager, header, i);                                    \
                    fabric_unicast_noc_##NAME##_set_state<mask>(header, hops[i], command, size);)    \
    }                                                                                                \
    template <typename Sender>                                                                       \
    void fabric_multicast_noc_##NAME(                                                                \
        Sender* sender,                                                                              \
        volatile PACKET_HEADER_TYPE* header,                                                         \
        uint32_t source,                                                                             \
        uint32_t size,                                                                               \
        COMMAND command,                                                                             \
        uint8_t start,                                                                               \
        uint8_t range) {                                                                             \
        header->to_chip_multicast(MulticastRoutingCommandHeader{start, range});                      \
        header->TO(command, size);                                                                   \
        send_packet(sender, header, source, size);                                                   \
    }                                                                                                \
    inline void fabric_multicast_noc_##NAME(                                                         \
        RoutingPlaneConnectionManager& manager,                                                      \
        uint8_t route,                                                                               \
        uint32_t source,                                                                             \
        uint32_t size,                                                                               \
        COMMAND command,                                                                             \
        uint8_t* start,                                                                              \
        uint8_t* range) {                                                                            \
        FABRIC_EACH(fabric_set_mcast_route(manager, header, range, i);                               \
                    fabric_multicast_noc_##NAME(                                                     \
                        &manager.get(i).sender, header, source, size, command, start[i], range[i]);) \
    }                                                                                                \
    template <MASK mask, typename Command = std::nullptr_t>                                          \
    void fabric_multicast_noc_##NAME##_set_state(                                                    \
        volatile PACKET_HEADER_TYPE* header,                                                         \
        uint8_t start,                                                                               \
        uint8_t range,                                                                               \
        Command command = nullptr,                                                                   \
        uint16_t size = 0) {                                                                         \
        header->to_chip_multicast(MulticastRoutingCommandHeader{start, range});                      \
        header->noc_send_type = TYPE;                                                                \
        FILL<mask>(header, command, size);                                                           \
    }                                                                                                \
    template <MASK mask, typename Command = std::nullptr_t>                                          \
    void fabric_multicast_noc_##NAME##_set_state(                                                    \
        RoutingPlaneConnectionManager& manager,                                                      \
        uint8_t route,                                                                               \
        uint8_t* start,                                                                              \
        uint8_t* range,                                                                              \
        Command command = nullptr,                                                                   \
        uint16_t size = 0) {                                                                         \
        FABRIC_EACH(fabric_set_mcast_route(manager, header, range, i);                               \
                    fabric_multicast_noc_##NAME##_set_state<mask>(                                   \
                        header, start[i], range[i], command, size);)                                 \
    }

#define FABRIC_LINE_WORD(NAME, COMMAND, TO, TYPE, MASK, FILL)                                         \
    template <typename Sender>                                                                       \
    void fabric_unicast_noc_##NAME(                                                                  \
        Sender* sender, volatile PACKET_HEADER_TYPE* header, COMMAND command, uint8_t hops) {        \
        header->to_chip_unicast(hops);                                                               \
        header->TO(command);                                                                         \
        send_header(sender, header);                                                                 \
    }                                                                                                \
    inline void fabric_unicast_noc_##NAME(                                                           \
        RoutingPlaneConnectionManager& manager, uint8_t route, COMMAND command, uint8_t* hops) {     \
        FABRIC_EACH(fabric_set_unicast_route(manager, header, i);                                    \
                    fabric_unicast_noc_##NAME(&manager.get(i).sender, header, command, hops[i]);)    \
    }                                                                                                \
    template <MASK mask = MASK::None, typename Command = std::nullptr_t>                             \
    void fabric_unicast_noc_##NAME##_set_state(                                                      \
        volatile PACKET_HEADER_TYPE* header, uint8_t hops, Command command = nullptr) {              \
        header->to_chip_unicast(hops);                                                               \
        header->noc_send_type = TYPE;                                                                \
        FILL<mask>(header, command, 0);                                                              \
    }                                                                                                \
    template <MASK mask = MASK::None, typename Command = std::nullptr_t>                             \
    void fabric_unicast_noc_##NAME##_set_state(                                                      \
        RoutingPlaneConnectionManager& manager,                                                      \
        uint8_t route,                                                                               \
        uint8_t* hops,                                                                               \
        Command command = nullptr) {                                                                 \
        FABRIC_EACH(fabric_set_unicast_route(manager, header, i);                                    \
                    fabric_unicast_noc_##NAME##_set_state<mask>(header, hops[i], command);)          \
    }                                                                                                \
    template <typename Sender>                                                                       \
    void fabric_multicast_noc_##NAME(                                                                \
        Sender* sender,                                                                              \
        volatile PACKET_HEADER_TYPE* header,                                                         \
        COMMAND command,                                                                             \
        uint8_t start,                                                                               \
        uint8_t range) {                                                                             \
        header->to_chip_multicast(MulticastRoutingCommandHeader{start, range});                      \
        header->TO(command);                                                                         \
        send_header(sender, header);                                                                 \
    }                                                                                                \
    inline void fabric_multicast_noc_##NAME(                                                         \
        RoutingPlaneConnectionManager& manager,                                                      \
        uint8_t route,                                                                               \
        COMMAND command,                                                                             \
        uint8_t* start,                                                                              \
        uint8_t* range) {                                                                            \
        FABRIC_EACH(fabric_set_mcast_route(manager, header, range, i);                               \
                    fabric_multicast_noc_##NAME(                                                     \
                        &manager.get(i).sender, header, command, start[i], range[i]);)               \
    }                                                                                                \
    template <MASK mask = MASK::None, typename Command = std::nullptr_t>                             \
    void fabric_multicast_noc_##NAME##_set_state(                                                    \
        volatile PACKET_HEADER_TYPE* header, uint8_t start, uint8_t range, Command command = nullptr) { \
        header->to_chip_multicast(MulticastRoutingCommandHeader{start, range});                      \
        header->noc_send_type = TYPE;                                                                \
        FILL<mask>(header, command, 0);                                                              \
    }                                                                                                \
    template <MASK mask = MASK::None, typename Command = std::nullptr_t>                             \
    void fabric_multicast_noc_##NAME##_set_state(                                                    \
        RoutingPlaneConnectionManager& manager,                                                      \
        uint8_t route,                                                                               \
        uint8_t* start,                                                                              \
        uint8_t* range,                                                                              \
        Command command = nullptr) {                                                                 \
        FABRIC_EACH(fabric_set_mcast_route(manager, header, range, i);                               \
                    fabric_multicast_noc_##NAME##_set_state<mask>(header, start[i], range[i], command);) \
    }

// Routes to a chip by its number, and to rectangles of chips.
#define FABRIC_TO_NODE header, manager.get(i).dst_dev_id, manager.get(i).dst_mesh_id

#define FABRIC_MESH_PAYLOAD(NAME, COMMAND, TO, TYPE, MASK, FILL)                                     \
    template <typename Sender>                                                                       \
    void fabric_unicast_noc_##NAME(                                                                  \
        Sender* sender,                                                                              \
        volatile PACKET_HEADER_TYPE* header,                                                         \
        uint8_t chip,                                                                                \
        uint16_t mesh,                                                                               \
        uint32_t source,                                                                             \
        uint32_t size,                                                                               \
        COMMAND command) {                                                                           \
        fabric_set_unicast_route(header, chip, mesh);                                                \
        header->TO(command, size);                                                                   \
        send_packet(sender, header, source, size);                                                   \
    }                                                                                                \
    inline void fabric_unicast_noc_##NAME(                                                           \
        RoutingPlaneConnectionManager& manager,                                                      \
        uint8_t route,                                                                               \
        uint32_t source,                                                                             \
        uint32_t size,                                                                               \
        COMMAND command) {                                                                           \
        FABRIC_EACH(fabric_set_unicast_route(FABRIC_TO_NODE); header->TO(command, size);             \
                    send_packet(&manager.get(i).sender, header, source, size);)                      \
    }                                                                                                \
    template <typename Sender>                                                                       \
    void fabric_multicast_noc_##NAME(                                                                \
        Sender* sender,                                                                              \
        volatile PACKET_HEADER_TYPE* header,                                                         \
        uint8_t chip,                                                                                \
        uint16_t mesh,                                                                               \
        const MeshMcastRange& range,                                                                 \
        uint32_t source,                                                                             \
        uint32_t size,                                                                               \
        COMMAND command) {                                                                           \
        fabric_set_mcast_route(header, chip, mesh, range.e, range.w, range.n, range.s);              \
        header->TO(command, size);                                                                   \
        send_packet(sender, header, source, size);                                                   \
    }                                                                                                \
    inline void fabric_multicast_noc_##NAME(                                                         \
        RoutingPlaneConnectionManager& manager,                                                      \
        uint8_t route,                                                                               \
        const MeshMcastRange* ranges,                                                                \
        uint32_t source,                                                                             \
        uint32_t size,                                                                               \
        COMMAND command) {                                                                           \
        FABRIC_EACH(                                                                                 \
            fabric_set_mcast_route(                                                                  \
                FABRIC_TO_NODE, ranges[i].e, ranges[i].w, ranges[i].n, ranges[i].s);                 \
            header->TO(command, size);                                                               \
            send_packet(&manager.get(i).sender, header, source, size);)                              \
    }                                                                                                \
    FABRIC_MESH_STATE(NAME, TYPE, MASK, FILL)

#define FABRIC_MESH_WORD(NAME, COMMAND, TO, TYPE, MASK, FILL)                                        \
    template <typename Sender>                                                                       \
    void fabric_unicast_noc_##NAME(                                                                  \
        Sender* sender,                                                                              \
        volatile PACKET_HEADER_TYPE* header,                                                         \
        uint8_t chip,                                                                                \
        uint16_t mesh,                                                                               \
        COMMAND command) {                                                                           \
        fabric_set_unicast_route(header, chip, mesh);                                                \
        header->TO(command);                                                                         \
        send_header(sender, header);                                                                 \
    }                                                                                                \
    inline void fabric_unicast_noc_##NAME(                                                           \
        RoutingPlaneConnectionManager& manager, uint8_t route, COMMAND command) {                    \
        FABRIC_EACH(fabric_set_unicast_route(FABRIC_TO_NODE); header->TO(command);                   \
                    send_header(&manager.get(i).sender, header);)                                    \
    }                                                                                                \
    template <typename Sender>                                                                       \
    void fabric_multicast_noc_##NAME(                                                                \
        Sender* sender,                                                                              \
        volatile PACKET_HEADER_TYPE* header,                                                         \
        uint8_t chip,                                                                                \
        uint16_t mesh,                                                                               \
        const MeshMcastRange& range,                                                                 \
        COMMAND command) {                                                                           \
        fabric_set_mcast_route(header, chip, mesh, range.e, range.w, range.n, range.s);              \
        header->TO(command);                                                                         \
        send_header(sender, header);                                                                 \
    }                                                                                                \
    inline void fabric_multicast_noc_##NAME(                                                         \
        RoutingPlaneConnectionManager& manager,                                                      \
        uint8_t route,                                                                               \
        const MeshMcastRange* ranges,                                                                \
        COMMAND command) {                                                                           \
        FABRIC_EACH(                                                                                 \
            fabric_set_mcast_route(                                                                  \
                FABRIC_TO_NODE, ranges[i].e, ranges[i].w, ranges[i].n, ranges[i].s);                 \
            header->TO(command);                                                                     \
            send_header(&manager.get(i).sender, header);)                                            \
    }                                                                                                \
    FABRIC_MESH_STATE(NAME, TYPE, MASK, FILL)

#define FABRIC_MESH_STATE(NAME, TYPE, MASK, FILL)                                                    \
    template <MASK mask = MASK::None, typename Command = std::nullptr_t>                             \
    void fabric_unicast_noc_##NAME##_set_state(                                                      \
        volatile PACKET_HEADER_TYPE* header,                                                         \
        uint8_t chip,                                                                                \
        uint16_t mesh,                                                                               \
        Command command = nullptr,                                                                   \
        uint16_t size = 0) {                                                                         \
        fabric_set_unicast_route(header, chip, mesh);                                                \
        header->noc_send_type = TYPE;                                                                \
        FILL<mask>(header, command, size);                                                           \
    }                                                                                                \
    template <MASK mask = MASK::None, typename Command = std::nullptr_t>                             \
    void fabric_unicast_noc_##NAME##_set_state(                                                      \
        RoutingPlaneConnectionManager& manager,                                                      \
        uint8_t route,                                                                               \
        Command command = nullptr,                                                                   \
        uint16_t size = 0) {                                                                         \
        FABRIC_EACH(fabric_unicast_noc_##NAME##_set_state<mask>(FABRIC_TO_NODE, command, size);)     \
    }                                                                                                \
    template <MASK mask = MASK::None, typename Command = std::nullptr_t>                             \
    void fabric_multicast_noc_##NAME##_set_state(                                                    \
        volatile PACKET_HEADER_TYPE* header,                                                         \
        uint8_t chip,                                                                                \
        uint16_t mesh,                                                                               \
        const MeshMcastRange& range,                                                                 \
        Command command = nullptr,                                                                   \
        uint16_t size = 0) {                                                                         \
        fabric_set_mcast_route(header, chip, mesh, range.e, range.w, range.n, range.s);              \
        header->noc_send_type = TYPE;                                                                \
        FILL<mask>(header, command, size);                                                           \
    }                                                                                                \
    template <MASK mask = MASK::None, typename Command = std::nullptr_t>                             \
    void fabric_multicast_noc_##NAME##_set_state(                                                    \
        RoutingPlaneConnectionManager& manager,                                                      \
        uint8_t route,                                                                               \
        const MeshMcastRange* ranges,                                                                \
        Command command = nullptr,                                                                   \
        uint16_t size = 0) {                                                                         \
        FABRIC_EACH(                                                                                 \
            fabric_multicast_noc_##NAME##_set_state<mask>(FABRIC_TO_NODE, ranges[i], command, size);) \
    }

// What each command is called, and what it is made of.
#define FABRIC_COMMANDS(PAYLOAD, WORD)                                                               \
    PAYLOAD(                                                                                         \
        unicast_write,                                                                               \
        NocUnicastCommandHeader,                                                                     \
        to_noc_unicast_write,                                                                        \
        NOC_UNICAST_WRITE,                                                                           \
        UnicastWriteUpdateMask,                                                                      \
        fill_unicast_write)                                                                          \
    PAYLOAD(                                                                                         \
        scatter_write,                                                                               \
        NocUnicastScatterCommandHeader,                                                              \
        to_noc_unicast_scatter_write,                                                                \
        NOC_UNICAST_SCATTER_WRITE,                                                                   \
        UnicastScatterWriteUpdateMask,                                                               \
        fill_scatter_write)                                                                          \
    PAYLOAD(                                                                                         \
        fused_unicast_with_atomic_inc,                                                               \
        NocUnicastAtomicIncFusedCommandHeader,                                                       \
        to_noc_fused_unicast_write_atomic_inc,                                                       \
        NOC_FUSED_UNICAST_ATOMIC_INC,                                                                \
        UnicastFusedAtomicIncUpdateMask,                                                             \
        fill_fused_atomic_inc)                                                                       \
    PAYLOAD(                                                                                         \
        fused_scatter_write_atomic_inc,                                                              \
        NocUnicastScatterAtomicIncFusedCommandHeader,                                                \
        to_noc_fused_unicast_scatter_write_atomic_inc,                                               \
        NOC_UNICAST_SCATTER_WRITE,                                                                   \
        UnicastFusedScatterWriteAtomicIncUpdateMask,                                                 \
        fill_fused_scatter)                                                                          \
    WORD(                                                                                            \
        unicast_inline_write,                                                                        \
        NocUnicastInlineWriteCommandHeader,                                                          \
        to_noc_unicast_inline_write,                                                                 \
        NOC_UNICAST_INLINE_WRITE,                                                                    \
        UnicastInlineWriteUpdateMask,                                                                \
        fill_inline_write)                                                                           \
    WORD(                                                                                            \
        unicast_atomic_inc,                                                                          \
        NocUnicastAtomicIncCommandHeader,                                                            \
        to_noc_unicast_atomic_inc,                                                                   \
        NOC_UNICAST_ATOMIC_INC,                                                                      \
        UnicastAtomicIncUpdateMask,                                                                  \
        fill_atomic_inc)

namespace tt::tt_fabric::linear::experimental {

FABRIC_COMMANDS(FABRIC_LINE_PAYLOAD, FABRIC_LINE_WORD)

template <typename Sender>
void fabric_sparse_multicast_noc_unicast_write(
    Sender* sender,
    volatile PACKET_HEADER_TYPE* header,
    uint32_t source,
    uint32_t size,
    NocUnicastCommandHeader command,
    uint16_t hops) {
    header->to_chip_sparse_multicast(SparseMulticastRoutingCommandHeader<PACKET_HEADER_TYPE>{hops});
    header->to_noc_unicast_write(command, size);
    send_packet(sender, header, source, size);
}

}  // namespace tt::tt_fabric::linear::experimental

namespace tt::tt_fabric::mesh::experimental {

using namespace tt::tt_fabric::common::experimental;

struct MeshMcastRange {
    uint8_t e;
    uint8_t w;
    uint8_t n;
    uint8_t s;
};

FABRIC_COMMANDS(FABRIC_MESH_PAYLOAD, FABRIC_MESH_WORD)

}  // namespace tt::tt_fabric::mesh::experimental

namespace tt::tt_fabric::linear {

template <typename Pages>
void to_noc_unicast_write(
    uint32_t size, volatile PACKET_HEADER_TYPE* header, uint32_t page, const Pages& pages, uint32_t offset = 0) {
    header->to_noc_unicast_write(NocUnicastCommandHeader{pages.get_noc_addr(page, offset)}, size);
}

template <typename Pages>
void to_noc_fused_unicast_write_atomic_inc(
    uint32_t size,
    volatile PACKET_HEADER_TYPE* header,
    const NocUnicastAtomicIncCommandHeader& increment,
    uint32_t page,
    const Pages& pages,
    uint32_t offset = 0) {
    header->to_noc_fused_unicast_write_atomic_inc(
        NocUnicastAtomicIncFusedCommandHeader(
            pages.get_noc_addr(page, offset), increment.noc_address, increment.val, increment.flush),
        size);
}

template <typename Pages>
void to_noc_unicast_scatter_write(
    uint32_t page_size,
    volatile PACKET_HEADER_TYPE* header,
    uint32_t first,
    uint32_t second,
    const Pages& pages,
    uint32_t offset0 = 0,
    uint32_t offset1 = 0) {
    header->to_noc_unicast_scatter_write(
        NocUnicastScatterCommandHeader(
            {pages.get_noc_addr(first, offset0), pages.get_noc_addr(second, offset1)},
            {static_cast<uint16_t>(page_size)}),
        page_size * 2);
}

}  // namespace tt::tt_fabric::linear
