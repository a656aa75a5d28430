"""Arguments of a wrong kind: what to say of a call that failed because of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import MemoryConfig

_Kind = tuple[type | str, str]
"""What an argument is: its class, or an attribute that only its class has; how to say it."""
_DATA_TYPE: _Kind = (DataType, "a ttnn.DataType, such as ttnn.bfloat16")
_LAYOUT: _Kind = (Layout, "a ttnn.Layout, such as ttnn.TILE_LAYOUT")
_MEMORY: _Kind = (MemoryConfig, "a ttnn.MemoryConfig, such as ttnn.L1_MEMORY_CONFIG")
_TENSOR: _Kind = ("tensor_id", "a ttnn.Tensor")
_DEVICE: _Kind = ("core_grid", "what ttnn.open_device returns")
_OPTIONAL = {
    "dtype": _DATA_TYPE,
    "output_dtype": _DATA_TYPE,
    "layout": _LAYOUT,
    "memory_config": _MEMORY,
    "output_tensor": _TENSOR,
    "device": _DEVICE,
}
"""Arguments that mean the same everywhere, if they are given."""
_NEEDED = {
    "DataType": _DATA_TYPE,
    "Layout": _LAYOUT,
    "MemoryConfig": _MEMORY,
    "Tensor": _TENSOR,
    "MeshDevice": _DEVICE,
}
"""Arguments by their annotations."""


def find_wrong_argument(named: Mapping[str, Any], annotations: Mapping[str, Any]) -> str:
    """What is wrong with one of the arguments of a call, or nothing.

    `annotations` are those of the function, as texts.
    """
    for name, value in named.items():
        found = _NEEDED.get(annotations.get(name, ""))
        if found is None and value is not None:
            found = _OPTIONAL.get(name)
        if found is not None and not _is_a(value, found[0]):
            return f"{name} is {found[1]}, not {value!r}"
    return ""


def _is_a(value: object, kind: type | str) -> bool:
    return hasattr(value, kind) if isinstance(kind, str) else isinstance(value, kind)


def find_misuse(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """What is wrong with one of the arguments of a function, or nothing."""
    return find_wrong_argument(name_arguments(function, args, kwargs), function.__annotations__)


def name_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Mapping[str, Any]:
    """The arguments of a call by name, as far as the function takes them."""
    try:
        return signature(function).bind_partial(*args, **kwargs).arguments
    except TypeError:
        return kwargs
