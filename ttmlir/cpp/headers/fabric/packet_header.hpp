#pragma once

// Headers of packets of the fabric: where they go, and what is done there.

#define NOC_SCATTER_WRITE_MAX_CHUNKS 4

// Parts of ROUTING_MODE, which says what the fabric of the mesh is.
#define ROUTING_MODE_UNDEFINED 0x0000
#define ROUTING_MODE_1D 0x0001
#define ROUTING_MODE_2D 0x0002
#define ROUTING_MODE_LINE 0x0008
#define ROUTING_MODE_RING 0x0010
#define ROUTING_MODE_MESH 0x0020
#define ROUTING_MODE_TORUS 0x0040
#define ROUTING_MODE_LOW_LATENCY 0x0080
#define ROUTING_MODE_NEIGHBOR_EXCHANGE 0x0200

namespace tt::tt_fabric {

enum class Topology { NeighborExchange = 0, Linear = 1, Ring = 2, Mesh = 3, Torus = 4 };
constexpr bool is_2D_topology(Topology topology) { return topology == Topology::Mesh || topology == Topology::Torus; }
constexpr bool is_ring_or_torus(Topology topology) { return topology == Topology::Ring || topology == Topology::Torus; }

enum TerminationSignal : uint32_t {
    KEEP_RUNNING = 0,
    GRACEFULLY_TERMINATE = 1,
    IMMEDIATELY_TERMINATE = 2
};
enum EDMStatus : uint32_t { STARTED = 0xA0B0C0D0, READY_FOR_TRAFFIC = 0xA3B3C3D3, TERMINATED = 0xA4B4C4D4 };
enum NocSendType : uint8_t {
    NOC_UNICAST_WRITE = 0,
    NOC_UNICAST_INLINE_WRITE = 1,
    NOC_UNICAST_ATOMIC_INC = 2,
    NOC_FUSED_UNICAST_ATOMIC_INC = 3,
    NOC_UNICAST_SCATTER_WRITE = 4
};
enum eth_chan_directions : uint8_t { EAST = 0, WEST = 1, NORTH = 2, SOUTH = 3, COUNT = 4 };

static constexpr uint8_t NOC_SCATTER_WRITE_MIN_CHUNKS = 2;

// What the parts of a scatter write are, two bits each: 1 writes, 2 adds, 3 adds after all writes.
static constexpr uint8_t SCATTER_WRITES_ONLY = 0x55;
inline uint8_t get_encoding(bool flush) { return 0x05 | (flush ? 0x30 : 0x20); }

struct MulticastRoutingCommandHeader {
    uint8_t start_distance_in_hops;
    uint8_t range_hops;
};

template <typename Header>
struct SparseMulticastRoutingCommandHeader {
    uint32_t hop_mask;
};

struct NocUnicastCommandHeader {
    uint64_t noc_address;
};

struct NocUnicastInlineWriteCommandHeader {
    uint64_t noc_address;
    uint32_t value;
};

struct NocUnicastAtomicIncCommandHeader {
    uint64_t noc_address;
    uint32_t val;
    bool flush;
    NocUnicastAtomicIncCommandHeader(uint64_t noc_address, uint32_t val, bool flush = true) :
        noc_address(noc_address), val(val), flush(flush) {}
};

struct NocUnicastAtomicIncFusedCommandHeader {
    uint64_t noc_address;
    uint64_t semaphore_noc_address;
    uint32_t val;
    bool flush;
    NocUnicastAtomicIncFusedCommandHeader(
        uint64_t noc_address, uint64_t semaphore_noc_address, uint32_t val, bool flush = true) :
        noc_address(noc_address), semaphore_noc_address(semaphore_noc_address), val(val), flush(flush) {}
};

struct NocUnicastScatterCommandHeader {
    uint64_t noc_address[NOC_SCATTER_WRITE_MAX_CHUNKS];
    uint16_t chunk_size[NOC_SCATTER_WRITE_MAX_CHUNKS - 1];
    uint8_t chunk_count;
    NocUnicastScatterCommandHeader(
        std::initializer_list<uint64_t> addresses, std::initializer_list<uint16_t> sizes = {}) {
        this->chunk_count = addresses.size();
        uint32_t i = 0;
        for (uint64_t address : addresses) {
            this->noc_address[i++] = address;
        }
        i = 0;
        for (uint16_t size : sizes) {
            this->chunk_size[i++] = size;
        }
    }
    NocUnicastScatterCommandHeader(const uint64_t* addresses, const uint16_t* sizes, uint8_t count) :
        chunk_count(count) {
        for (uint32_t i = 0; i < count; i++) {
            this->noc_address[i] = addresses[i];
        }
        for (uint32_t i = 0; i + 1 < count; i++) {
            this->chunk_size[i] = sizes[i];
        }
    }
};

struct NocUnicastScatterAtomicIncFusedCommandHeader {
    uint64_t noc_address[2];
    uint64_t semaphore_noc_address;
    uint16_t chunk_size[1];
    uint16_t val;
    bool flush;
    NocUnicastScatterAtomicIncFusedCommandHeader(
        std::initializer_list<uint64_t> addresses,
        uint64_t semaphore_noc_address,
        std::initializer_list<uint16_t> sizes,
        uint16_t val,
        bool flush = true) :
        semaphore_noc_address(semaphore_noc_address), val(val), flush(flush) {
        uint32_t i = 0;
        for (uint64_t address : addresses) {
            this->noc_address[i++] = address;
        }
        for (uint16_t size : sizes) {
            this->chunk_size[0] = size;
        }
    }
};

struct UnicastFields {
    uint64_t noc_address;
};
struct InlineFields {
    uint64_t noc_address;
    uint32_t value;
};
struct IncFields {
    uint64_t noc_address;
    uint32_t val;
    bool flush;
};
struct FusedFields {
    uint64_t noc_address;
    uint64_t semaphore_noc_address;
    uint32_t val;
    bool flush;
};
struct ScatterFields {
    uint64_t noc_address[NOC_SCATTER_WRITE_MAX_CHUNKS];
    uint16_t chunk_size[NOC_SCATTER_WRITE_MAX_CHUNKS - 1];
    uint8_t chunk_count;
    uint8_t chunk_encoding;
};
union NocCommandFields {
    UnicastFields unicast_write;
    InlineFields unicast_inline_write;
    IncFields unicast_seminc;
    FusedFields unicast_seminc_fused;
    ScatterFields unicast_scatter_write;
};

struct PacketHeaderBase {
    NocCommandFields command_fields;
    uint16_t payload_size_bytes;
    NocSendType noc_send_type;
    uint8_t src_ch_id;
    uint8_t route_kind;
    uint8_t route_start;
    uint8_t route_range;
    uint8_t route_unused;
    uint16_t dst_start_chip_id;
    uint16_t dst_start_mesh_id;
    uint16_t mcast_hops[4];
    uint32_t hop_mask;

    uint32_t get_payload_size_excluding_header() volatile const { return this->payload_size_bytes; }
    uint32_t get_payload_size_including_header() volatile const { return this->payload_size_bytes + 64; }
    NocSendType get_noc_send_type() volatile const { return this->noc_send_type; }
    void set_payload_size_bytes(uint16_t size) volatile { this->payload_size_bytes = size; }
    void set_src_ch_id(uint8_t channel) volatile { this->src_ch_id = channel; }

    volatile PacketHeaderBase* to_chip_unicast(uint8_t distance_in_hops) volatile {
        this->route_kind = 1;
        this->route_start = distance_in_hops;
        this->route_range = 1;
        return this;
    }
    volatile PacketHeaderBase* to_chip_multicast(const MulticastRoutingCommandHeader& command) volatile {
        this->route_kind = 1;
        this->route_start = command.start_distance_in_hops;
        this->route_range = command.range_hops;
        return this;
    }
    template <typename Command>
    volatile PacketHeaderBase* to_chip_sparse_multicast(const Command& command) volatile {
        this->route_kind = 4;
        this->hop_mask = command.hop_mask;
        return this;
    }
    volatile PacketHeaderBase* to_noc_unicast_write(
        const NocUnicastCommandHeader& command, uint32_t payload_size) volatile {
        this->noc_send_type = NOC_UNICAST_WRITE;
        this->command_fields.unicast_write.noc_address = command.noc_address;
        this->payload_size_bytes = payload_size;
        return this;
    }
    volatile PacketHeaderBase* to_noc_unicast_inline_write(
        const NocUnicastInlineWriteCommandHeader& command) volatile {
        this->noc_send_type = NOC_UNICAST_INLINE_WRITE;
        this->command_fields.unicast_inline_write.noc_address = command.noc_address;
        this->command_fields.unicast_inline_write.value = command.value;
        this->payload_size_bytes = 0;
        return this;
    }
    volatile PacketHeaderBase* to_noc_unicast_atomic_inc(
        const NocUnicastAtomicIncCommandHeader& command) volatile {
        this->noc_send_type = NOC_UNICAST_ATOMIC_INC;
        this->command_fields.unicast_seminc.noc_address = command.noc_address;
        this->command_fields.unicast_seminc.val = command.val;
        this->command_fields.unicast_seminc.flush = command.flush;
        this->payload_size_bytes = 0;
        return this;
    }
    volatile PacketHeaderBase* to_noc_fused_unicast_write_atomic_inc(
        const NocUnicastAtomicIncFusedCommandHeader& command, uint32_t payload_size) volatile {
        this->noc_send_type = NOC_FUSED_UNICAST_ATOMIC_INC;
        this->command_fields.unicast_seminc_fused.noc_address = command.noc_address;
        this->command_fields.unicast_seminc_fused.semaphore_noc_address = command.semaphore_noc_address;
        this->command_fields.unicast_seminc_fused.val = command.val;
        this->command_fields.unicast_seminc_fused.flush = command.flush;
        this->payload_size_bytes = payload_size;
        return this;
    }
    void set_fused_unicast_write_atomic_inc_write_noc_address(uint64_t noc_address) volatile {
        this->command_fields.unicast_seminc_fused.noc_address = noc_address;
    }
    void set_fused_unicast_write_atomic_inc_value(uint32_t val) volatile {
        this->command_fields.unicast_seminc_fused.val = val;
    }
    volatile PacketHeaderBase* to_noc_unicast_scatter_write(
        const NocUnicastScatterCommandHeader& command, uint32_t payload_size) volatile {
        this->noc_send_type = NOC_UNICAST_SCATTER_WRITE;
        this->command_fields.unicast_scatter_write.chunk_count = command.chunk_count;
        this->command_fields.unicast_scatter_write.chunk_encoding = SCATTER_WRITES_ONLY;
        for (uint32_t i = 0; i < command.chunk_count; i++) {
            this->command_fields.unicast_scatter_write.noc_address[i] = command.noc_address[i];
        }
        for (uint32_t i = 0; i + 1 < command.chunk_count; i++) {
            this->command_fields.unicast_scatter_write.chunk_size[i] = command.chunk_size[i];
        }
        this->payload_size_bytes = payload_size;
        return this;
    }
    volatile PacketHeaderBase* to_noc_fused_unicast_scatter_write_atomic_inc(
        const NocUnicastScatterAtomicIncFusedCommandHeader& command, uint32_t payload_size) volatile {
        this->noc_send_type = NOC_UNICAST_SCATTER_WRITE;
        this->command_fields.unicast_scatter_write.chunk_count = 3;
        this->command_fields.unicast_scatter_write.chunk_encoding = get_encoding(command.flush);
        this->command_fields.unicast_scatter_write.noc_address[0] = command.noc_address[0];
        this->command_fields.unicast_scatter_write.noc_address[1] = command.noc_address[1];
        this->command_fields.unicast_scatter_write.noc_address[2] = command.semaphore_noc_address;
        this->command_fields.unicast_scatter_write.chunk_size[0] = command.chunk_size[0];
        this->command_fields.unicast_scatter_write.chunk_size[2] = command.val;
        this->payload_size_bytes = payload_size;
        return this;
    }
};

struct LowLatencyPacketHeader : public PacketHeaderBase {};
// In two dimensions routes are set by fabric_set_unicast_route and fabric_set_mcast_route alone.
struct HybridMeshPacketHeader : public PacketHeaderBase {
    volatile PacketHeaderBase* to_chip_unicast(uint8_t distance_in_hops) volatile { return this; }
    volatile PacketHeaderBase* to_chip_multicast(const MulticastRoutingCommandHeader& command) volatile {
        return this;
    }
};
// Of a kind of fabric that there is not here.
struct UDMHybridMeshPacketHeader : public HybridMeshPacketHeader {};

using PacketHeader = LowLatencyPacketHeader;

template <typename Header>
inline bool fabric_set_unicast_route(volatile Header* header, uint16_t dst_dev_id, uint16_t dst_mesh_id) {
    header->route_kind = 2;
    header->dst_start_chip_id = dst_dev_id;
    header->dst_start_mesh_id = dst_mesh_id;
    return true;
}

template <bool target_as_dev = true, bool compressed = true>
inline bool fabric_set_unicast_route(volatile LowLatencyPacketHeader* header, uint16_t target) {
    if constexpr (target_as_dev) {
        header->route_kind = 2;
        header->dst_start_chip_id = target;
    } else {
        header->to_chip_unicast(target);
    }
    return true;
}

template <typename Header>
inline void fabric_set_mcast_route(
    volatile Header* header,
    uint16_t dst_dev_id,
    uint16_t dst_mesh_id,
    uint16_t e_num_hops,
    uint16_t w_num_hops,
    uint16_t n_num_hops,
    uint16_t s_num_hops) {
    header->route_kind = 3;
    header->dst_start_chip_id = dst_dev_id;
    header->dst_start_mesh_id = dst_mesh_id;
    header->mcast_hops[0] = e_num_hops;
    header->mcast_hops[1] = w_num_hops;
    header->mcast_hops[2] = n_num_hops;
    header->mcast_hops[3] = s_num_hops;
}

}  // namespace tt::tt_fabric

#ifndef PACKET_HEADER_TYPE
#if defined(FABRIC_2D) || (defined(ROUTING_MODE) && (ROUTING_MODE & ROUTING_MODE_2D))
#define PACKET_HEADER_TYPE tt::tt_fabric::HybridMeshPacketHeader
#else
#define PACKET_HEADER_TYPE tt::tt_fabric::LowLatencyPacketHeader
#endif
#endif
