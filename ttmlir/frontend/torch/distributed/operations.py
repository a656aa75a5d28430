"""Operations between the devices of a mesh, as traced programs have them.

Devices are numbered row by row in a mesh of the extents `mesh`; `axes` are those that a group lies
along, slowest first. Nothing runs them in torch: a compiled program does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from ttmlir.frontend.torch.elements import torch_package

NAMESPACE = "ttmlir"
DIVIDE, JOIN, PART = "mesh_divide", "mesh_join", "mesh_part"
ALL_REDUCE, ALL_GATHER = "mesh_all_reduce", "mesh_all_gather"
REDUCE_SCATTER, ALL_TO_ALL, BROADCAST = "mesh_reduce_scatter", "mesh_all_to_all", "mesh_broadcast"
PERMUTE = "mesh_permute"
BETWEEN_DEVICES = f"{NAMESPACE}.mesh_"
"""How their full names begin."""

_SCHEMAS = {
    # What devices have of a whole tensor: `dims` are the dimensions that axes divide, or -1.
    DIVIDE: "(Tensor x, int[] dims, int[] mesh) -> Tensor",
    JOIN: "(Tensor x, int[] dims, int[] mesh) -> Tensor",
    # What a device keeps of a tensor that all along an axis have.
    PART: "(Tensor x, int dim, int axis, int[] mesh) -> Tensor",
    ALL_REDUCE: "(Tensor x, str kind, int[] axes, int[] mesh) -> Tensor",
    ALL_GATHER: "(Tensor x, int dim, int[] axes, int[] mesh) -> Tensor",
    REDUCE_SCATTER: "(Tensor x, int dim, str kind, int[] axes, int[] mesh) -> Tensor",
    ALL_TO_ALL: "(Tensor x, int split, int concat, int[] axes, int[] mesh) -> Tensor",
    BROADCAST: "(Tensor x, int source, int[] axes, int[] mesh) -> Tensor",
    # Device n of a group sends what it has to device targets[n].
    PERMUTE: "(Tensor x, int[] targets, int[] axes, int[] mesh) -> Tensor",
}


def _grown(x: Any, dim: int, by: int) -> Any:
    shape = list(x.shape)
    shape[dim] *= by
    return x.new_empty(shape)


def _shrunk(x: Any, dim: int, by: int) -> Any:
    shape = list(x.shape)
    shape[dim] //= by
    return x.new_empty(shape)


def _divide(x: Any, dims: Sequence[int], mesh: Sequence[int]) -> Any:
    for dim, extent in zip(dims, mesh, strict=True):
        x = _shrunk(x, dim, extent) if dim >= 0 else x
    return x.new_empty(x.shape)


def _join(x: Any, dims: Sequence[int], mesh: Sequence[int]) -> Any:
    for dim, extent in zip(dims, mesh, strict=True):
        x = _grown(x, dim, extent) if dim >= 0 else x
    return x.new_empty(x.shape)


def size_of(axes: Sequence[int], mesh: Sequence[int]) -> int:
    """How many devices a group along axes has."""
    return math.prod(mesh[axis] for axis in axes)


def _part(x: Any, dim: int, axis: int, mesh: Sequence[int]) -> Any:
    return _shrunk(x, dim, mesh[axis])


def _all_gather(x: Any, dim: int, axes: Sequence[int], mesh: Sequence[int]) -> Any:
    return _grown(x, dim, size_of(axes, mesh))


def _reduce_scatter(x: Any, dim: int, kind: str, axes: Sequence[int], mesh: Sequence[int]) -> Any:
    del kind
    return _shrunk(x, dim, size_of(axes, mesh))


def _all_to_all(x: Any, split: int, concat: int, axes: Sequence[int], mesh: Sequence[int]) -> Any:
    count = size_of(axes, mesh)
    return _grown(_shrunk(x, split, count), concat, count)


def _same(x: Any, *_: Any) -> Any:
    return x.new_empty(x.shape)


_SHAPES = {
    DIVIDE: _divide,
    JOIN: _join,
    PART: _part,
    ALL_REDUCE: _same,
    ALL_GATHER: _all_gather,
    REDUCE_SCATTER: _reduce_scatter,
    ALL_TO_ALL: _all_to_all,
    BROADCAST: _same,
    PERMUTE: _same,
}


@cache
def operations() -> Any:
    """The namespace that has these operations: `operations().mesh_part(x, 0, 1, [2, 4])`."""
    torch = torch_package()
    library = torch.library.Library(NAMESPACE, "FRAGMENT")
    for name, schema in _SCHEMAS.items():
        library.define(name + schema)
        torch.library.register_fake(f"{NAMESPACE}::{name}", _SHAPES[name], lib=library)
    for name, inverse in ((DIVIDE, JOIN), (JOIN, DIVIDE)):
        _differentiate(torch, library, name, inverse)
    _KEPT.append(library)
    return getattr(torch.ops, NAMESPACE)


_KEPT: list[Any] = []
"""Operations are gone when their library is."""


def _differentiate(torch: Any, library: Any, name: str, inverse: str) -> None:
    """Gradients of parts are parts of the gradient, and all devices have that of a copy."""

    def keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        del output
        ctx.places = inputs[1:]

    def backward(ctx: Any, gradient: Any) -> tuple[Any, None, None]:
        back = getattr(getattr(torch.ops, NAMESPACE), inverse)
        return back(gradient, *ctx.places), None, None

    torch.library.register_autograd(
        f"{NAMESPACE}::{name}", backward, setup_context=keep, lib=library
    )
