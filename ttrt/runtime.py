"""Devices, tensors and the submission of programs."""

from ttmlir.runtime.hooks import DebugHooks
from ttmlir.runtime.session import (
    Event,
    deallocate_tensor,
    get_layout,
    memcpy,
    submit,
    to_host,
    to_layout,
    wait,
)
from ttmlir.runtime.tensor import Device, Tensor, close_device, create_tensor, open_device
from ttmlir.runtime.ttrt.objects import (
    DataType,
    DebugEnv,
    DeviceRuntime,
    get_available_runtimes,
    get_current_runtime,
    get_current_system_desc,
    set_compatible_runtime,
)

__all__ = [
    "DataType",
    "DebugEnv",
    "DebugHooks",
    "Device",
    "DeviceRuntime",
    "Event",
    "Tensor",
    "close_device",
    "create_tensor",
    "deallocate_tensor",
    "get_available_runtimes",
    "get_current_runtime",
    "get_current_system_desc",
    "get_layout",
    "memcpy",
    "open_device",
    "set_compatible_runtime",
    "submit",
    "to_host",
    "to_layout",
    "wait",
]
