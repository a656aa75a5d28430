"""Devices: opening them, and what a program asks of one."""

from ttmlir.layout.enums import Arch
from ttmlir.metalium.mesh_shapes import MeshShape
from ttmlir.ttnn.device.mesh import MeshDevice
from ttmlir.ttnn.device.opening import (
    CloseDevice,
    CloseDevices,
    CreateDevice,
    CreateDevices,
    DispatchCoreAxis,
    DispatchCoreConfig,
    DispatchCoreType,
    GetDefaultDevice,
    SetDefaultDevice,
    close_device,
    is_blackhole,
    is_grayskull,
    is_wormhole_b0,
    manage_device,
    open_device,
    synchronize_device,
)
from ttmlir.ttnn.namespace import all_names

Device = MeshDevice

__getattr__ = all_names("device")

__all__ = [
    "Arch",
    "CloseDevice",
    "CloseDevices",
    "CreateDevice",
    "CreateDevices",
    "Device",
    "DispatchCoreAxis",
    "DispatchCoreConfig",
    "DispatchCoreType",
    "GetDefaultDevice",
    "MeshDevice",
    "MeshShape",
    "SetDefaultDevice",
    "close_device",
    "is_blackhole",
    "is_grayskull",
    "is_wormhole_b0",
    "manage_device",
    "open_device",
    "synchronize_device",
]
