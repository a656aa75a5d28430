"""Arguments of a wrong kind: what to say of a call that failed because of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import MemoryConfig

_DATA_TYPE = (DataType, "a ttnn.DataType, such as ttnn.bfloat16")
_KINDS: dict[str, tuple[type, str]] = {
    "dtype": _DATA_TYPE,
    "output_dtype": _DATA_TYPE,
    "layout": (Layout, "a ttnn.Layout, such as ttnn.TILE_LAYOUT"),
    "memory_config": (MemoryConfig, "a ttnn.MemoryConfig, such as ttnn.L1_MEMORY_CONFIG"),
    "output_tensor": (Tensor, "a ttnn.Tensor"),
}
"""Arguments that mean the same everywhere: what they are, and how to say it."""


def find_wrong_argument(named: Mapping[str, Any]) -> str:
    """What is wrong with one of the arguments of a call, or nothing."""
    for name, value in named.items():
        kind, meaning = _KINDS.get(name, (object, ""))
        if value is not None and not isinstance(value, kind):
            return f"{name} is {meaning}, not {value!r}"
        if name == "device" and value is not None and not hasattr(value, "core_grid"):
            return f"device is what ttnn.open_device returns, not {value!r}"
    return ""


def name_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Mapping[str, Any]:
    """The arguments of a call by name, as far as the function takes them."""
    try:
        return signature(function).bind_partial(*args, **kwargs).arguments
    except TypeError:
        return kwargs
