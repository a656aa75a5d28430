"""Tensors as text, as ttnn prints them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ttmlir.errors import UsageError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.operation import Operation, operations_of
from ttmlir.ttnn.tensor.tensor import Tensor

_HEAD = "ttnn.Tensor("
_PROFILES = ("empty", "short", "full")
_EDGE = 2
"""Numbers at each end of a dimension in the short profile."""


@dataclass
class Options:
    """What `set_printoptions` sets."""

    profile: str = "short"
    sci_mode: bool | None = None
    precision: int = 4


OPTIONS = Options()


def set_printoptions(
    *, profile: str, sci_mode: bool | None = None, precision: int | None = None
) -> None:
    """How much of a tensor is printed: `empty`, `short` or `full`; RuntimeError for others."""
    if profile.lower() not in _PROFILES:
        raise UsageError(f"profile is one of {', '.join(_PROFILES)}, not '{profile}'")
    OPTIONS.profile = profile.lower()
    OPTIONS.sci_mode = sci_mode
    OPTIONS.precision = Options.precision if precision is None else precision


def print_tensor(tensor: Tensor) -> str:
    """The numbers and what they are, of each device."""
    if tensor.is_allocated() and (divided := tensor.mesh_storage) is not None:
        places = divided.topology.mesh_coords()
        return "\n".join(
            f"{_name_of(part)}{place}\n{print_tensor(part)}"
            for place, part in zip(places, divided.parts, strict=True)
        )
    facts = (
        f"shape={tensor.shape}, dtype=DataType::{tensor.dtype.name}, "
        f"layout=Layout::{tensor.layout.name})"
    )
    if not tensor.is_allocated():
        return f"{_HEAD}<buffer is not allocated>, {facts}"
    if OPTIONS.profile == "empty":
        numbers = "..."
    else:
        numbers = _nested(tensor.array, _format_of(tensor.array), 1, _HEAD)
    return f"{_HEAD}{numbers}, {facts}"


def _name_of(part: Tensor) -> str:
    device = part.device()
    return "" if device is None else f"device_id: {device.id()}, "


def _format_of(array: Array) -> str:
    """The format of every number, chosen by the largest and the smallest."""
    if array.dtype.kind != "f":
        return "5d"
    precision = OPTIONS.precision
    sizes = np.abs(array[np.isfinite(array) & (array != 0)])
    scientific = OPTIONS.sci_mode
    if scientific is None:
        low, high = (float(sizes.min()), float(sizes.max())) if sizes.size else (1.0, 1.0)
        scientific = high / low > 1000 or high > 1e8 or low < 1e-4
    if scientific:
        return f"{precision + 7}.{precision}e"
    return f"{precision + 3}.{precision}f"


def _nested(array: Array, form: str, depth: int, head: str) -> str:
    if array.ndim == 0:
        return format(array.item(), form)
    parts = [_nested(part, form, depth + 1, head) for part in _shown(array)]
    if len(parts) < len(array):
        # Numbers of a row have a column more there.
        parts.insert(_EDGE, " ..." if array.ndim == 1 else "...")
    if array.ndim == 1:
        return f"[{', '.join(parts)}]"
    indent = " " * (len(head) + depth)
    lines = "\n" * min(array.ndim - 1, 2) + indent
    return f"[{f',{lines}'.join(parts)}]"


def _shown(array: Array) -> list[Array]:
    if OPTIONS.profile == "full" or len(array) <= 2 * _EDGE:
        return list(array)
    return [*array[:_EDGE], *array[-_EDGE:]]


OPERATIONS: dict[str, Operation] = operations_of(print_tensor, crosses_devices=True)
