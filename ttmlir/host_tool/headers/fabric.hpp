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

}  // namespace tt::tt_fabric
