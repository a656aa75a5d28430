"""Global circular buffers, through which cores get what others read for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ttmlir.errors import UsageError
from ttmlir.metalium.enums import BufferType
from ttmlir.metalium.errors import MetaliumError
from ttmlir.metalium.global_buffers import GlobalCircularBuffer

if TYPE_CHECKING:
    from ttmlir.metalium.cores import CoreCoord, CoreRangeSet
    from ttmlir.ttnn.device.mesh import MeshDevice


def create_global_circular_buffer(
    mesh_device: MeshDevice,
    sender_receiver_core_mapping: Sequence[tuple[CoreCoord, CoreRangeSet]],
    size: int,
    buffer_type: BufferType = BufferType.L1,
) -> GlobalCircularBuffer:
    """So many bytes in L1 of senders and of their receivers, on each device.

    RuntimeError for cores that are used twice or are not there, and for bytes that do not fit.
    """
    mesh_device.check_open()
    try:
        return _OfDevices(mesh_device, sender_receiver_core_mapping, size, buffer_type)
    except MetaliumError as error:
        raise UsageError(str(error)) from error


class _OfDevices(GlobalCircularBuffer):
    """The bytes on all devices of a mesh; the address is that on the first one."""

    def __init__(
        self,
        mesh: MeshDevice,
        mapping: Sequence[tuple[CoreCoord, CoreRangeSet]],
        size: int,
        buffer_type: BufferType,
    ) -> None:
        """Take the bytes."""
        first, *others = mesh.units
        super().__init__(first, mapping, size, buffer_type)
        self._others = [GlobalCircularBuffer(each, mapping, size, buffer_type) for each in others]
