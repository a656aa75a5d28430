"""Outputs that are given by their shape instead of by a tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ttmlir.bridge.framework import FrameworkKernel


@dataclass(frozen=True)
class ShapeDtype:
    """A tensor that is not there yet."""

    shape: tuple[int, ...]
    dtype: Any


def place_outputs(
    kernel: FrameworkKernel, args: Sequence[Any], kwargs: Mapping[str, Any], out_shape: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with its outputs among them.

    `out_shape` is something with a shape and a dtype, or a sequence of such, for the outputs that
    are left out, in the order of the function's parameters.
    """
    if out_shape is None:
        return tuple(args), dict(kwargs)
    shapes = cast("Sequence[Any]", out_shape if _is_sequence(out_shape) else (out_shape,))
    placed = dict(kwargs)
    free = kernel.free_parameters(args, kwargs)
    if len(free) < len(shapes):
        raise ValueError(
            f"out_shape has {len(shapes)} shapes, but '{kernel.func_name}' has {len(free)} "
            "parameters left for them"
        )
    for name, each in zip(free, shapes, strict=False):
        placed[name] = ShapeDtype(tuple(each.shape), each.dtype)
    return tuple(args), placed


def _is_sequence(value: object) -> bool:
    return isinstance(value, list | tuple)
