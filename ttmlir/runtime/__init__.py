"""Loads and runs `.ttnn` programs with NumPy; never imports the compiler.

    from ttmlir.runtime import Tensor, get_layout, load_binary, open_device, submit, to_layout

    device = open_device()
    binary = load_binary("mlp.ttnn")
    x = to_layout(Tensor.from_numpy(array), device, get_layout(binary, 0, 0))
    [result] = submit(device, binary, 0, [x])
    print(result.to_numpy())

Names are loaded on first use: NumPy is only imported when something runs.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ttmlir.errors import MissingNameError

if TYPE_CHECKING:
    from ttmlir.runtime.binary import Binary, BinaryProgram
    from ttmlir.runtime.errors import BinaryError, ExecutionError, InputError, UnsupportedError
    from ttmlir.runtime.hooks import (
        DebugHooks,
        OpContext,
        ProgramContext,
        get_op_debug_str,
        get_op_loc_info,
        get_op_output_tensor,
    )
    from ttmlir.runtime.loading import load_binary, read_binary
    from ttmlir.runtime.session import (
        Event,
        deallocate_tensor,
        get_layout,
        get_output_layout,
        memcpy,
        submit,
        to_host,
        to_layout,
        wait,
    )
    from ttmlir.runtime.tensor import (
        Counters,
        Device,
        ElementType,
        Numerics,
        Tensor,
        TensorDesc,
        close_device,
        create_tensor,
        open_device,
    )
    from ttmlir.runtime.ttrt.objects import (
        DataType,
        DeviceRuntime,
        get_available_runtimes,
        get_current_runtime,
        get_current_system_desc,
        set_compatible_runtime,
    )

_HOMES = {
    "binary": ("Binary", "BinaryProgram"),
    "loading": ("load_binary", "read_binary"),
    "tensor": (
        *("Counters", "Device", "ElementType", "Numerics", "Tensor", "TensorDesc"),
        *("close_device", "create_tensor", "open_device"),
    ),
    "errors": ("BinaryError", "ExecutionError", "InputError", "UnsupportedError"),
    "hooks": (
        "DebugHooks",
        "OpContext",
        "ProgramContext",
        "get_op_debug_str",
        "get_op_loc_info",
        "get_op_output_tensor",
    ),
    "session": (
        "Event",
        "deallocate_tensor",
        "get_layout",
        "get_output_layout",
        "memcpy",
        "submit",
        "to_host",
        "to_layout",
        "wait",
    ),
    "ttrt.objects": (
        "DataType",
        "DeviceRuntime",
        "get_available_runtimes",
        "get_current_runtime",
        "get_current_system_desc",
        "set_compatible_runtime",
    ),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Binary",
    "BinaryError",
    "BinaryProgram",
    "Counters",
    "DataType",
    "DebugHooks",
    "Device",
    "DeviceRuntime",
    "ElementType",
    "Event",
    "ExecutionError",
    "InputError",
    "Numerics",
    "OpContext",
    "ProgramContext",
    "Tensor",
    "TensorDesc",
    "UnsupportedError",
    "close_device",
    "create_tensor",
    "deallocate_tensor",
    "get_available_runtimes",
    "get_current_runtime",
    "get_current_system_desc",
    "get_layout",
    "get_op_debug_str",
    "get_op_loc_info",
    "get_op_output_tensor",
    "get_output_layout",
    "load_binary",
    "memcpy",
    "open_device",
    "read_binary",
    "set_compatible_runtime",
    "submit",
    "to_host",
    "to_layout",
    "wait",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    module = _MODULE_OF.get(name)
    if module is None:
        raise MissingNameError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    """Public names, those that are not loaded yet included."""
    return sorted({*globals(), *__all__})
