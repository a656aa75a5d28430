"""What a device says about itself."""

from __future__ import annotations

from ttmlir.metalium.enums import BufferType
from ttmlir.ttnn.device.mesh import MemoryView, MeshDevice


def get_memory_view(device: MeshDevice, buffer_type: BufferType) -> MemoryView:
    """How full a memory is."""
    device.check_open()
    return device.get_memory_view(buffer_type)


def ReadDeviceProfiler(device: MeshDevice) -> None:
    """Nothing: operations on tensors take no time on a simulated device."""
    device.check_open()
