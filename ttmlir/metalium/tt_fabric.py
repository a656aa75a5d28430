"""The names of `tt::tt_fabric`: the fabric that connects the chips of a mesh.

Source: tt-metal, tt-metalium/experimental/fabric/fabric.hpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from ttmlir.metalium.cores import CoreCoord, CoreSpec, cores_of
from ttmlir.metalium.device import fabric_of_chip, remember_fabric
from ttmlir.metalium.enums import CoreType, NamedNumber
from ttmlir.metalium.errors import MetaliumError, host_call
from ttmlir.sim.execution.program import Kernel, Program
from ttmlir.sim.machine.cluster import Cluster, End
from ttmlir.sim.machine.fabric import (
    HEADER_SIZE,
    MAX_MUX_CHANNELS,
    MAX_PAYLOAD,
    Direction,
    Fabric,
    FabricConfig,
)

__all__ = [
    "FabricConfig",
    "FabricMuxChannelType",
    "FabricMuxConfig",
    "FabricMuxV2Config",
    "FabricNodeId",
    "GetFabricConfig",
    "SetFabricConfig",
    "add_fabric_mux_v2_to_program",
    "append_fabric_connection_rt_args",
    "append_routing_plane_connection_manager_rt_args",
    "get_forwarding_link_indices",
    "get_tt_fabric_channel_buffer_size_bytes",
    "get_tt_fabric_max_payload_size_bytes",
    "get_tt_fabric_packet_header_size_bytes",
]

_chosen = [FabricConfig.DISABLED]
"""The configuration of meshes that are opened from now on."""


def open_fabric(cluster: Cluster, config: FabricConfig | None = None) -> Fabric | None:
    """The fabric of a mesh that is opened, by default the chosen one; None if there is none."""
    config = _chosen[0] if config is None else config
    if config is FabricConfig.DISABLED:
        return None
    fabric = Fabric(cluster, config)
    remember_fabric(fabric)
    return fabric


class _Node(NamedTuple):
    mesh_id: int
    chip_id: int


class FabricNodeId(_Node):
    """A chip as the fabric numbers it."""

    fabric: Fabric | None = None
    """That of the mesh that gave it, whatever was opened since."""


def node_of_mesh(chip: int, fabric: Fabric | None) -> FabricNodeId:
    """A chip of a mesh, as its fabric numbers it."""
    node = FabricNodeId(0, chip)
    node.fabric = fabric
    return node


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
    fabric = node.fabric or fabric_of_chip(node.chip_id)
    if fabric is None:
        raise MetaliumError(
            f"no fabric connects chip {node.chip_id}; call SetFabricConfig before the devices are "
            "opened as one mesh"
        )
    return fabric


def find_link(source: FabricNodeId, target: FabricNodeId, link: int) -> tuple[End, int]:
    """The link with a number towards a chip, and its direction; MetaliumError without one."""
    end = _find_end(source, target, link)
    return end, int(cast("Direction", _fabric_of(source).heading(end)))


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


# --- Muxes ----------------------------------------------------------------------------------------
# Cores that pass the packets of several workers on to one router.
#
# Source: tt-metal, tt-metalium/experimental/fabric/fabric.hpp.


class FabricMuxChannelType(NamedNumber):
    """What the channels of a mux carry."""

    FULL_SIZE_CHANNEL = 0
    HEADER_ONLY_CHANNEL = 1


_UNIT = 16
_LAYOUT = ("connection_info", "connection_handshake", "flow_control", "buffer_index")
"""What a mux has for each channel, in this order, behind two words of its own."""


class FabricMuxConfig:
    """The channels of a mux and where they are in its L1."""

    def __init__(
        self,
        num_full_size_channels: int,
        num_header_only_channels: int,
        num_buffers_full_size_channel: int,
        num_buffers_header_only_channel: int,
        buffer_size_bytes_full_size_channel: int,
        base_l1_address: int,
        core_type: CoreType = CoreType.WORKER,
    ) -> None:
        """MetaliumError for a mux without channels, and for buffers that hold no packet."""
        self._channels = (num_full_size_channels, num_header_only_channels)
        self._buffers = (num_buffers_full_size_channel, num_buffers_header_only_channel)
        self._sizes = (buffer_size_bytes_full_size_channel, HEADER_SIZE)
        self._base = base_l1_address
        if min(self._channels) < 0 or not 1 <= sum(self._channels) <= MAX_MUX_CHANNELS:
            raise MetaliumError(
                f"{num_full_size_channels} channels for packets and {num_header_only_channels} for "
                f"headers; a mux has 1 to {MAX_MUX_CHANNELS} together"
            )
        if num_full_size_channels and not HEADER_SIZE < self._sizes[0] <= HEADER_SIZE + MAX_PAYLOAD:
            raise MetaliumError(
                f"buffers of {self._sizes[0]} bytes; one holds a header of {HEADER_SIZE} bytes and "
                f"at most {MAX_PAYLOAD} bytes more (get_tt_fabric_channel_buffer_size_bytes())"
            )

    def get_num_channels(self, channel_type: FabricMuxChannelType) -> int:
        """How many workers can connect."""
        return self._channels[int(channel_type)]

    def get_num_buffers(self, channel_type: FabricMuxChannelType) -> int:
        """Slots of a channel."""
        return self._buffers[int(channel_type)]

    def get_buffer_size_bytes(self, channel_type: FabricMuxChannelType) -> int:
        """Bytes of a slot."""
        return self._sizes[int(channel_type)]

    def get_status_address(self) -> int:
        """Where the mux says that it serves."""
        return self._base

    def get_termination_signal_address(self) -> int:
        """Where workers say that it may end."""
        return self._base + _UNIT

    def get_channel_credits_stream_id(
        self, channel_type: FabricMuxChannelType, channel_id: int
    ) -> int:
        """The number by which a worker names a channel."""
        return self._index(channel_type, channel_id)

    def get_connection_info_address(
        self, channel_type: FabricMuxChannelType, channel_id: int
    ) -> int:
        """Where the worker is noted."""
        return self._address("connection_info", channel_type, channel_id)

    def get_connection_handshake_address(
        self, channel_type: FabricMuxChannelType, channel_id: int
    ) -> int:
        """Where the worker connects."""
        return self._address("connection_handshake", channel_type, channel_id)

    def get_flow_control_address(self, channel_type: FabricMuxChannelType, channel_id: int) -> int:
        """Where slots are counted."""
        return self._address("flow_control", channel_type, channel_id)

    def get_buffer_index_address(self, channel_type: FabricMuxChannelType, channel_id: int) -> int:
        """Where the next slot is noted."""
        return self._address("buffer_index", channel_type, channel_id)

    def get_channel_base_address(self, channel_type: FabricMuxChannelType, channel_id: int) -> int:
        """Where the slots of a channel begin."""
        full = channel_id if int(channel_type) == 0 else self._channels[0]
        others = self._index(channel_type, channel_id) - full
        sizes = [count * size for count, size in zip(self._buffers, self._sizes, strict=True)]
        return self._slots + full * sizes[0] + others * sizes[1]

    def get_memory_map_end_address(self) -> int:
        """The end of what the mux has in L1."""
        sizes = zip(self._channels, self._buffers, self._sizes, strict=True)
        return self._slots + sum(count * buffers * size for count, buffers, size in sizes)

    def get_fabric_mux_compile_time_args(self) -> list[int]:
        """Those of the kernel `tt_metal/fabric/impl/kernels/tt_fabric_mux.cpp`."""
        full, headers = self._channels
        first = (
            FabricMuxChannelType.FULL_SIZE_CHANNEL
            if full
            else (FabricMuxChannelType.HEADER_ONLY_CHANNEL)
        )
        return [
            *(full, self._buffers[0], self._sizes[0], headers, self._buffers[1]),
            *(self.get_status_address(), self.get_termination_signal_address()),
            *(self._address(each, first, 0) for each in _LAYOUT[:3]),
            self._slots,
        ]

    def get_fabric_mux_run_time_args(
        self,
        src_fabric_node_id: FabricNodeId,
        dst_fabric_node_id: FabricNodeId,
        link_idx: int,
        mux_program: Program,
        mux_logical_core: CoreSpec,
    ) -> list[int]:
        """Those of that kernel: its connection to the router of a link towards a chip."""
        arguments = list[int]()
        append_fabric_connection_rt_args(
            src_fabric_node_id,
            dst_fabric_node_id,
            link_idx,
            mux_program,
            mux_logical_core,
            arguments,
        )
        return arguments

    def _index(self, channel_type: FabricMuxChannelType, channel_id: int) -> int:
        count = self._channels[int(channel_type)]
        if not 0 <= channel_id < count:
            raise MetaliumError(f"there is no channel {channel_id}; {count} are of this kind")
        return channel_id + (self._channels[0] if int(channel_type) else 0)

    def _address(self, part: str, channel_type: FabricMuxChannelType, channel_id: int) -> int:
        number = _LAYOUT.index(part) * sum(self._channels) + self._index(channel_type, channel_id)
        return self._base + (2 + number) * _UNIT

    @property
    def _slots(self) -> int:
        return self._base + (2 + len(_LAYOUT) * sum(self._channels)) * _UNIT


class ClientSemaphores(NamedTuple):
    """Two semaphores of a worker that is connected to a mux of the second kind."""

    flow_control: int
    teardown: int


class FabricMuxV2Config:
    """A mux that ends when all its workers have closed, and where its channels are in L1."""

    ClientSemaphores = ClientSemaphores

    def __init__(
        self,
        mesh_device: object,
        num_channels: int,
        num_buffers_per_channel: int,
        channel_buffer_size_bytes: int,
        base_l1_address: int,
    ) -> None:
        """MetaliumError for a mux without channels, and for buffers that hold no packet."""
        self.num_channels = num_channels
        self._config = FabricMuxConfig(
            num_channels,
            0,
            num_buffers_per_channel,
            0,
            channel_buffer_size_bytes,
            base_l1_address,
        )

    def get_memory_map_end_address(self) -> int:
        """The end of what the mux has in L1."""
        return self._config.get_memory_map_end_address()

    def get_fabric_mux_v2_named_compile_time_args(self) -> dict[str, int]:
        """Those of the kernel `tt_metal/fabric/impl/kernels/tt_fabric_mux_v2.cpp`."""
        return {
            "fabric_mux_v2_num_channels": self.num_channels,
            "fabric_mux_v2_mux_status_address": self._config.get_status_address(),
        }

    def append_client_connection_rt_args(
        self,
        mux_virtual_core: CoreCoord,
        logical_channel_id: int,
        client_semaphores: ClientSemaphores,
        worker_args: list[int],
    ) -> None:
        """Append what `FabricMuxV2Sender::build_from_args` reads; a worker has its own channel.

        `mux_virtual_core` is where the mux is on the network.
        """
        match cast("object", (mux_virtual_core, client_semaphores)):
            case ((int(), int()), (int(), int())):
                pass
            case _:
                raise MetaliumError(
                    "a worker has the CoreCoord of its mux and ClientSemaphores of two numbers, "
                    f"not {mux_virtual_core!r} and {client_semaphores!r}"
                )
        config, full = self._config, FabricMuxChannelType.FULL_SIZE_CHANNEL
        channel = full, logical_channel_id
        worker_args.extend(
            (
                *(mux_virtual_core[0], mux_virtual_core[1]),
                config.get_channel_credits_stream_id(*channel),
                *(config.get_num_buffers(full), config.get_buffer_size_bytes(full)),
                config.get_channel_base_address(*channel),
                config.get_connection_info_address(*channel),
                config.get_connection_handshake_address(*channel),
                *client_semaphores,
                config.get_status_address(),
            )
        )


def add_fabric_mux_v2_to_program(
    program: Program,
    mux_config: FabricMuxV2Config,
    mux_logical_core: CoreSpec,
    src_fabric_node_id: FabricNodeId,
    dst_fabric_node_id: FabricNodeId,
    link_idx: int,
) -> Kernel:
    """Put a mux of the second kind on a core, connected to a link towards a chip: its kernel."""
    from ttmlir.metalium.enums import DataMovementConfig
    from ttmlir.metalium.host_api import CreateKernel, SetRuntimeArgs

    named = mux_config.get_fabric_mux_v2_named_compile_time_args()
    kernel = CreateKernel(
        program,
        "tt_metal/fabric/impl/kernels/tt_fabric_mux_v2.cpp",
        mux_logical_core,
        DataMovementConfig(named_compile_args=named),
    )
    arguments = list[int]()
    append_fabric_connection_rt_args(
        src_fabric_node_id, dst_fabric_node_id, link_idx, program, mux_logical_core, arguments
    )
    SetRuntimeArgs(program, kernel, mux_logical_core, arguments)
    return kernel
