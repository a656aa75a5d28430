"""The fabric between the devices of a mesh, for kernels of `generic_op` that send over it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from ttmlir.errors import ArgumentTypeError, UsageError
from ttmlir.metalium import tt_fabric
from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet, cores_of
from ttmlir.metalium.errors import MetaliumError
from ttmlir.metalium.tt_fabric import FabricNodeId
from ttmlir.ttnn.device.opening import FabricConfig, get_fabric_config
from ttmlir.ttnn.errors import check_arguments
from ttmlir.ttnn.programs.descriptors import ProgramDescriptor, SemaphoreDescriptor
from ttmlir.ttnn.types.enums import CoreType

if TYPE_CHECKING:
    from ttmlir.sim.machine.cluster import End

_SEMAPHORES = 16
"""How many semaphores a core has."""
_WORDS = 3
"""Run-time arguments of a connection: its channel and two semaphores."""
_API_TYPES = ("Linear", "Mesh")


class MeshId(int):
    """The number of a mesh of the fabric, which is 0."""

    def __new__(cls, value: int) -> MeshId:
        """ArgumentTypeError for what is no number."""
        if not isinstance(cast("object", value), int):
            raise ArgumentTypeError(f"the number of a mesh is an integer, not {value!r}")
        return super().__new__(cls, value)


@check_arguments
def setup_fabric_connection(
    src_fabric_node_id: FabricNodeId,
    dst_fabric_node_id: FabricNodeId,
    link_idx: int,
    program_descriptor: ProgramDescriptor,
    worker_core: CoreCoord,
    core_type: CoreType = CoreType.WORKER,
) -> list[int]:
    """The run-time arguments that `WorkerToFabricEdmSender::build_from_args` reads.

    The program gets two semaphores on the core. RuntimeError if no such link is there.
    """
    if core_type != CoreType.WORKER:
        raise UsageError("only worker cores connect to the fabric")
    end, _ = _find_link(src_fabric_node_id, dst_fabric_node_id, link_idx)
    return [end.channel, *(_add_semaphore(program_descriptor, worker_core) for _ in range(2))]


@check_arguments
def fabric_connection_rt_args(
    src_fabric_node_id: FabricNodeId,
    dst_nodes: Sequence[FabricNodeId],
    connection_link_indices: Sequence[int],
    program_descriptor: ProgramDescriptor,
    kernel_idx: int,
    worker_core: CoreCoord,
) -> list[int]:
    """The run-time arguments that `RoutingPlaneConnectionManager::build_from_args` reads.

    A connection for each chip, over the given links: one for each connection, one for all, or link
    0. The defines of the kernel are `get_fabric_kernel_defines`. RuntimeError for links that there
    are not, and for a kernel that the program does not have.
    """
    if not 0 <= kernel_idx < len(program_descriptor.kernels):
        raise UsageError(
            f"kernel {kernel_idx} of a program with {len(program_descriptor.kernels)}; kernels are "
            "counted from 0"
        )
    links = list(connection_link_indices) or [0]
    links = links * len(dst_nodes) if len(links) == 1 else links
    if len(links) != len(dst_nodes):
        raise UsageError(f"{len(links)} links for {len(dst_nodes)} connections")
    words = list[int]()
    for node, link in zip(dst_nodes, links, strict=True):
        _, direction = _find_link(src_fabric_node_id, node, link)
        words.append(direction)
        words += setup_fabric_connection(
            src_fabric_node_id, node, link, program_descriptor, worker_core
        )
    if _is_2d():
        words += [src_fabric_node_id.chip_id, src_fabric_node_id.mesh_id]
        words += [number for node in dst_nodes for number in (node.chip_id, node.mesh_id)]
    return words


@check_arguments
def get_fabric_kernel_defines(api_type: str = "Linear") -> list[tuple[str, str]]:
    """Defines of kernels that use `RoutingPlaneConnectionManager`; RuntimeError for other kinds."""
    if api_type not in _API_TYPES:
        raise UsageError(f"'api_type' is {' or '.join(_API_TYPES)}, not {api_type!r}")
    mode = [("FABRIC_2D", "1")] if _is_2d() else []
    return [*mode, (f"API_TYPE_{api_type}", "1")]


@check_arguments
def fabric_connection_rt_args_size(num_connections: int) -> int:
    """How many words `fabric_connection_rt_args` makes."""
    return num_connections * (1 + _WORDS) + (2 + 2 * num_connections if _is_2d() else 0)


def _is_2d() -> bool:
    config = get_fabric_config()
    return FabricConfig.FABRIC_2D <= config <= FabricConfig.FABRIC_2D_TORUS_XY


def _find_link(source: FabricNodeId, target: FabricNodeId, link: int) -> tuple[End, int]:
    with _usage_errors():
        return tt_fabric.find_link(source, target, link)


def _add_semaphore(program: ProgramDescriptor, core: CoreCoord) -> int:
    """The number of a new semaphore, the lowest that the core has not."""
    taken = {each.id for each in program.semaphores if core in cores_of(each.core_ranges)}
    number = next((each for each in range(_SEMAPHORES) if each not in taken), None)
    if number is None:
        raise UsageError(f"core {core} has {_SEMAPHORES} semaphores, and no room for more")
    cores = CoreRangeSet([CoreRange(core, core)])
    program.semaphores.append(SemaphoreDescriptor(id=number, core_ranges=cores))
    return number


@contextmanager
def _usage_errors() -> Generator[None]:
    try:
        yield
    except MetaliumError as error:
        raise UsageError(str(error)) from error
