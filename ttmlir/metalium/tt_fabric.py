"""The names of `tt::tt_fabric`: the fabric that connects the chips of a mesh.

Source: tt-metal, tt-metalium/experimental/fabric/fabric.hpp.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple, cast
from weakref import WeakValueDictionary

from ttmlir.metalium.cores import CoreSpec, cores_of
from ttmlir.metalium.enums import CoreType
from ttmlir.metalium.errors import MetaliumError, host_call
from ttmlir.sim.execution.program import Kernel, Program
from ttmlir.sim.machine.cluster import Cluster, End
from ttmlir.sim.machine.fabric import (
    HEADER_SIZE,
    MAX_PAYLOAD,
    Direction,
    Fabric,
    FabricConfig,
)

__all__ = [
    "FabricConfig",
    "FabricNodeId",
    "GetFabricConfig",
    "SetFabricConfig",
    "append_fabric_connection_rt_args",
    "append_routing_plane_connection_manager_rt_args",
    "get_forwarding_link_indices",
    "get_tt_fabric_channel_buffer_size_bytes",
    "get_tt_fabric_max_payload_size_bytes",
    "get_tt_fabric_packet_header_size_bytes",
]

_chosen = [FabricConfig.DISABLED]
"""The configuration of meshes that are opened from now on."""


_fabrics: WeakValueDictionary[int, Fabric] = WeakValueDictionary()
"""Those of the meshes that are open, by the order in which they were opened."""
_numbers = itertools.count()


def open_fabric(cluster: Cluster) -> Fabric | None:
    """The fabric of a mesh that is opened; None if none was chosen."""
    if _chosen[0] is FabricConfig.DISABLED:
        return None
    fabric = Fabric(cluster, _chosen[0])
    _fabrics[next(_numbers)] = fabric
    return fabric


def close_fabric(fabric: Fabric | None) -> None:
    """Forget the fabric of a mesh that is closed."""
    for number, each in list(_fabrics.items()):
        if each is fabric:
            del _fabrics[number]


class FabricNodeId(NamedTuple):
    """A chip as the fabric numbers it."""

    mesh_id: int
    chip_id: int


def SetFabricConfig(
    fabric_config: FabricConfig,
    reliability_mode: object = None,
    num_routing_planes: int | None = None,
) -> None:
    """Choose how the chips of meshes are connected that are opened from now on.

    `num_routing_planes` is how many links between neighbours are used; None: all. MetaliumError
    for what is no configuration.
    """
    if not isinstance(cast("object", fabric_config), FabricConfig):
        known = ", ".join(each.name for each in FabricConfig)
        raise MetaliumError(f"{fabric_config!r} is no FabricConfig; known are {known}")
    _chosen[0] = fabric_config


def GetFabricConfig() -> FabricConfig:
    """The configuration of meshes that are opened from now on."""
    return _chosen[0]


def get_tt_fabric_packet_header_size_bytes() -> int:
    """Bytes of the header of a packet."""
    return HEADER_SIZE


def get_tt_fabric_max_payload_size_bytes() -> int:
    """Bytes that a packet carries at most."""
    return MAX_PAYLOAD


def get_tt_fabric_channel_buffer_size_bytes() -> int:
    """Bytes of a slot for a packet."""
    return HEADER_SIZE + MAX_PAYLOAD


def get_forwarding_link_indices(
    src_fabric_node_id: FabricNodeId, dst_fabric_node_id: FabricNodeId
) -> list[int]:
    """The numbers of the links by which packets for a chip leave another one."""
    links = _fabric_of(src_fabric_node_id).links_towards(
        src_fabric_node_id.chip_id, dst_fabric_node_id.chip_id
    )
    return list(range(len(links)))


def append_fabric_connection_rt_args(
    src_fabric_node_id: FabricNodeId,
    dst_fabric_node_id: FabricNodeId,
    link_idx: int,
    worker_program: Program,
    worker_core: CoreSpec,
    worker_args: list[int],
    core_type: CoreType = CoreType.WORKER,
) -> None:
    """Append what `WorkerToFabricEdmSender::build_from_args` reads to run-time arguments.

    The connection is that of a core to the router of link `link_idx` towards a chip; it takes two
    semaphores of the program. MetaliumError if no such link is there.
    """
    end = _find_end(src_fabric_node_id, dst_fabric_node_id, link_idx)
    if core_type != CoreType.WORKER:
        raise MetaliumError("only worker cores connect to the fabric")
    cores = cores_of(worker_core)
    with host_call():
        semaphores = [worker_program.add_semaphore(cores) for _ in range(2)]
    worker_args.extend((end.channel, *semaphores))


def append_routing_plane_connection_manager_rt_args(
    src_fabric_node_id: FabricNodeId,
    dst_nodes: Sequence[FabricNodeId],
    connection_link_indices: Sequence[int],
    worker_program: Program,
    kernel_id: Kernel,
    worker_core: CoreSpec,
    worker_args: list[int],
    core_type: CoreType = CoreType.WORKER,
) -> None:
    """Append what `RoutingPlaneConnectionManager::build_from_args` reads to run-time arguments.

    There is a connection for each chip of `dst_nodes`, over link 0 if `connection_link_indices` is
    empty. The kernel gets `FABRIC_2D` defined where the fabric has two dimensions.
    """
    fabric = _fabric_of(src_fabric_node_id)
    links = list(connection_link_indices) or [0] * len(dst_nodes)
    if len(links) != len(dst_nodes):
        raise MetaliumError(f"{len(links)} links for {len(dst_nodes)} connections")
    for node, link in zip(dst_nodes, links, strict=True):
        end = _find_end(src_fabric_node_id, node, link)
        worker_args.append(int(cast("Direction", fabric.heading(end))))
        append_fabric_connection_rt_args(
            src_fabric_node_id, node, link, worker_program, worker_core, worker_args, core_type
        )
    if fabric.config.is_2d:
        kernel_id.defines = {**kernel_id.defines, "FABRIC_2D": "1"}
        worker_args.extend((src_fabric_node_id.chip_id, src_fabric_node_id.mesh_id))
        for node in dst_nodes:
            worker_args.extend((node.chip_id, node.mesh_id))


def _fabric_of(node: FabricNodeId) -> Fabric:
    """The fabric of the open mesh that has a chip."""
    for fabric in reversed([each for _, each in sorted(_fabrics.items())]):
        if node.chip_id in fabric.cluster.devices:
            return fabric
    raise MetaliumError(
        f"no fabric connects chip {node.chip_id}; call SetFabricConfig before the devices are "
        "opened as one mesh"
    )


def _find_end(source: FabricNodeId, target: FabricNodeId, link: int) -> End:
    """The link with a number towards a chip."""
    fabric = _fabric_of(source)
    if target.chip_id not in fabric.cluster.devices or target == source:
        known = ", ".join(str(each) for each in fabric.cluster.devices if each != source.chip_id)
        raise MetaliumError(
            f"chip {target.chip_id} is no other chip of the mesh; those are {known}"
        )
    ends = fabric.links_towards(source.chip_id, target.chip_id)
    if not 0 <= link < len(ends):
        raise MetaliumError(
            f"chip {source.chip_id} has {len(ends)} links towards chip {target.chip_id}, no link "
            f"{link}; links of the chip: {fabric.describe_links(source.chip_id)}"
        )
    return ends[link]
