// The fabric that connects the chips of a mesh.

#pragma once

#include "host_api.hpp"

namespace tt::tt_fabric {

using ttmlir_host::call;
using ttmlir_host::Where;

/// The other arguments of C++ are about links that fail, and cores for muxes of the fabric's own.
inline void SetFabricConfig(
    FabricConfig config,
    FabricReliabilityMode /*mode*/ = FabricReliabilityMode::STRICT_SYSTEM_HEALTH_SETUP_MODE,
    std::optional<uint8_t> /*num_routing_planes*/ = std::nullopt, Where where = Where::here()) {
    call(where, "tt_fabric.SetFabricConfig", config);
}
inline FabricConfig GetFabricConfig(Where where = Where::here()) {
    return static_cast<FabricConfig>(call(where, "tt_fabric.GetFabricConfig").number);
}
inline size_t get_tt_fabric_channel_buffer_size_bytes(Where where = Where::here()) {
    return call(where, "tt_fabric.get_tt_fabric_channel_buffer_size_bytes").number;
}
inline size_t get_tt_fabric_packet_header_size_bytes(Where where = Where::here()) {
    return call(where, "tt_fabric.get_tt_fabric_packet_header_size_bytes").number;
}
inline size_t get_tt_fabric_max_payload_size_bytes(Where where = Where::here()) {
    return call(where, "tt_fabric.get_tt_fabric_max_payload_size_bytes").number;
}
inline std::vector<uint32_t> get_forwarding_link_indices(
    const FabricNodeId& source, const FabricNodeId& target, Where where = Where::here()) {
    return call(where, "tt_fabric.get_forwarding_link_indices", source, target)
        .numbers<uint32_t>();
}

/// Append the arguments of `WorkerToFabricEdmSender::build_from_args`.
inline void append_fabric_connection_rt_args(
    const FabricNodeId& source, const FabricNodeId& target, uint32_t link,
    tt_metal::Program& program, const CoreCoord& core, std::vector<uint32_t>& arguments,
    tt_metal::CoreType type = tt_metal::CoreType::WORKER, Where where = Where::here()) {
    const auto made = call(
        where, "tt_fabric.append_fabric_connection_rt_args", source, target, link, program, core,
        type);
    for (uint32_t each : made.numbers<uint32_t>()) {
        arguments.push_back(each);
    }
}

/// Append the arguments of `RoutingPlaneConnectionManager::build_from_args`.
inline void append_routing_plane_connection_manager_rt_args(
    const FabricNodeId& source, const std::vector<FabricNodeId>& targets,
    const std::vector<uint32_t>& links, tt_metal::Program& program,
    tt_metal::KernelHandle kernel, const CoreCoord& core, std::vector<uint32_t>& arguments,
    tt_metal::CoreType type = tt_metal::CoreType::WORKER, Where where = Where::here()) {
    const auto made = call(
        where, "tt_fabric.append_routing_plane_connection_manager_rt_args", source, targets, links,
        program, ttmlir_host::Reference{kernel}, core, type);
    for (uint32_t each : made.numbers<uint32_t>()) {
        arguments.push_back(each);
    }
}

// --- Muxes

/// The channels of a mux, and where they are in its L1; the other arguments of C++ are for muxes of
/// the fabric's own.
class FabricMuxConfig : public tt_metal::Remote {
public:
    FabricMuxConfig(
        uint8_t full_channels, uint8_t header_channels, uint8_t full_buffers,
        uint8_t header_buffers, size_t full_size, size_t base_address,
        tt_metal::CoreType type = tt_metal::CoreType::WORKER, Where where = Where::here()) :
        Remote(call(
            where, "tt_fabric.FabricMuxConfig", full_channels, header_channels, full_buffers,
            header_buffers, full_size, base_address, type)) {}

    uint8_t get_num_channels(FabricMuxChannelType type, Where where = Where::here()) const {
        return number(where, "tt_fabric.FabricMuxConfig.get_num_channels", type);
    }
    uint8_t get_num_buffers(FabricMuxChannelType type, Where where = Where::here()) const {
        return number(where, "tt_fabric.FabricMuxConfig.get_num_buffers", type);
    }
    size_t get_buffer_size_bytes(FabricMuxChannelType type, Where where = Where::here()) const {
        return number(where, "tt_fabric.FabricMuxConfig.get_buffer_size_bytes", type);
    }
    size_t get_status_address(Where where = Where::here()) const {
        return number(where, "tt_fabric.FabricMuxConfig.get_status_address");
    }
    size_t get_termination_signal_address(Where where = Where::here()) const {
        return number(where, "tt_fabric.FabricMuxConfig.get_termination_signal_address");
    }
    size_t get_memory_map_end_address(Where where = Where::here()) const {
        return number(where, "tt_fabric.FabricMuxConfig.get_memory_map_end_address");
    }
    size_t get_channel_credits_stream_id(
        FabricMuxChannelType type, uint8_t channel, Where where = Where::here()) const {
        return number(
            where, "tt_fabric.FabricMuxConfig.get_channel_credits_stream_id", type, channel);
    }
    size_t get_channel_base_address(
        FabricMuxChannelType type, uint8_t channel, Where where = Where::here()) const {
        return number(where, "tt_fabric.FabricMuxConfig.get_channel_base_address", type, channel);
    }
    size_t get_connection_info_address(
        FabricMuxChannelType type, uint8_t channel, Where where = Where::here()) const {
        return number(
            where, "tt_fabric.FabricMuxConfig.get_connection_info_address", type, channel);
    }
    size_t get_connection_handshake_address(
        FabricMuxChannelType type, uint8_t channel, Where where = Where::here()) const {
        return number(
            where, "tt_fabric.FabricMuxConfig.get_connection_handshake_address", type, channel);
    }
    size_t get_flow_control_address(
        FabricMuxChannelType type, uint8_t channel, Where where = Where::here()) const {
        return number(where, "tt_fabric.FabricMuxConfig.get_flow_control_address", type, channel);
    }
    size_t get_buffer_index_address(
        FabricMuxChannelType type, uint8_t channel, Where where = Where::here()) const {
        return number(where, "tt_fabric.FabricMuxConfig.get_buffer_index_address", type, channel);
    }
    std::vector<uint32_t> get_fabric_mux_compile_time_args(Where where = Where::here()) const {
        return ask(where, "tt_fabric.FabricMuxConfig.get_fabric_mux_compile_time_args")
            .numbers<uint32_t>();
    }
    std::vector<uint32_t> get_fabric_mux_run_time_args(
        const FabricNodeId& source, const FabricNodeId& target, uint32_t link,
        tt_metal::Program& program, const CoreCoord& core, Where where = Where::here()) const {
        return ask(
                   where, "tt_fabric.FabricMuxConfig.get_fabric_mux_run_time_args", source, target,
                   link, program, core)
            .numbers<uint32_t>();
    }

private:
    template <typename... Arguments>
    uint64_t number(Where where, const char* name, const Arguments&... arguments) const {
        return ask(where, name, arguments...).number;
    }
};

/// A mux that ends when all its workers have closed.
class FabricMuxV2Config : public tt_metal::Remote {
public:
    struct ClientSemaphores {
        uint32_t flow_control_sem_id = 0;
        uint32_t teardown_sem_id = 0;
    };
    FabricMuxV2Config(
        const tt_metal::distributed::MeshDevice& mesh, uint8_t channels, uint8_t buffers,
        size_t buffer_size, size_t base_address, Where where = Where::here()) :
        Remote(call(
            where, "tt_fabric.FabricMuxV2Config", mesh, channels, buffers, buffer_size,
            base_address)) {}
    size_t get_memory_map_end_address(Where where = Where::here()) const {
        return ask(where, "tt_fabric.FabricMuxV2Config.get_memory_map_end_address").number;
    }
    /// Append the arguments of `FabricMuxV2Sender::build_from_args`.
    void append_client_connection_rt_args(
        const CoreCoord& mux, uint8_t channel, const ClientSemaphores& semaphores,
        std::vector<uint32_t>& arguments, Where where = Where::here()) const {
        const auto made = ask(
            where, "tt_fabric.FabricMuxV2Config.append_client_connection_rt_args", mux, channel,
            semaphores.flow_control_sem_id, semaphores.teardown_sem_id);
        for (uint32_t each : made.numbers<uint32_t>()) {
            arguments.push_back(each);
        }
    }
};
inline void add_fabric_mux_v2_to_program(
    tt_metal::Program& program, const FabricMuxV2Config& config, const CoreCoord& core,
    const FabricNodeId& source, const FabricNodeId& target, uint32_t link,
    Where where = Where::here()) {
    call(
        where, "tt_fabric.add_fabric_mux_v2_to_program", program, config, core, source, target,
        link);
}

}  // namespace tt::tt_fabric
