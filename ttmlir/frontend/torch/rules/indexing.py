"""ATen operations that look elements up by numbers that are themselves tensors."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from xdsl.dialects.builtin import IntegerType, TensorType, i1
from xdsl.ir import SSAValue

from ttmlir.frontend.torch.building import BodyBuilder, Shape, broadcast_shape, shape_of
from ttmlir.frontend.torch.call import Call, Known, Rule, own_element
from ttmlir.frontend.torch.elements import is_boolean, torch_package

_I64 = IntegerType(64)


def take(build: BodyBuilder, x: SSAValue, dim: int, indices: SSAValue) -> SSAValue:
    """The slices of a dimension with these numbers; their shape takes its place."""
    shape, places = shape_of(x), shape_of(indices)
    rest = shape[:dim] + shape[dim + 1 :]
    front = build.permute(x, [dim, *(i for i in range(len(shape)) if i != dim)])
    table = build.reshape(front, (shape[dim], math.prod(rest)))
    flat = build.reshape(indices, (math.prod(places),))
    type_ = TensorType(own_element(x), (*shape_of(flat), math.prod(rest)))
    found = build.op("embedding", (flat, table), type_)
    rows = build.reshape(found, (*places, *rest))
    count = len(places)
    order = [
        *range(count, count + dim),
        *range(count),
        *range(count + dim, count + len(rest)),
    ]
    return build.permute(rows, order)


def _embedding(call: Call) -> SSAValue:
    return take(call.build, call.tensor("weight"), 0, call.tensor("indices"))


def _index_select(call: Call) -> SSAValue:
    build, x = call.build, call.tensor()
    dim = call.dim(x)
    known = call.known("index")
    if known is not None and (bounds := progression(known)) is not None:
        return build.slice(x, dim, *bounds)
    index = call.tensor("index")
    return build.reshape(take(build, x, dim, index), call.shape)


def progression(indices: Any) -> tuple[int, int, int] | None:
    """Begin, end and step of a slice that selects these numbers; None if there is none."""
    if indices.dim() != 1 or not indices.numel():
        return None
    numbers: list[int] = indices.tolist()
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
    if step < 1 or numbers[0] < 0:
        return None
    if any(b - a != step for a, b in pairwise(numbers)):
        return None
    return numbers[0], numbers[-1] + 1, step


def _index(call: Call) -> SSAValue:
    build = call.build
    x = call.tensor()
    indices = _without_masks(call, call["indices"])
    dims = [i for i, index in enumerate(indices) if index is not None]
    if not dims:
        return x
    if len(dims) == 1 and isinstance(indices[dims[0]], Known):
        (dim,) = dims
        known = _nonnegative_known(indices[dim].tensor, shape_of(x)[dim])
        if (bounds := progression(known)) is not None:
            return build.slice(x, dim, *bounds)
    flat, places = linear_index(
        call, [indices[dim] for dim in dims], [shape_of(x)[d] for d in dims]
    )
    first = dims[0]
    others = [i for i in range(len(shape_of(x))) if i not in dims]
    if dims == list(range(first, first + len(dims))):
        at = first
        shape = shape_of(x)
        merged = (*shape[:at], math.prod(shape[d] for d in dims), *shape[dims[-1] + 1 :])
        x = build.reshape(x, merged)
    else:
        # With other dimensions in between, torch puts those of the indices first.
        at = 0
        x = build.permute(x, [*dims, *others])
        rest = shape_of(x)[len(dims) :]
        x = build.reshape(x, (math.prod(shape_of(x)[: len(dims)]), *rest))
    assert places == shape_of(flat)
    return build.reshape(take(build, x, at, flat), call.shape)


def _without_masks(call: Call, indices: Any) -> list[Any]:
    """The indices, those that are masks of known numbers turned into numbers."""
    found: list[Any] = []
    for index in indices:
        known = isinstance(index, Known)
        is_mask = index is not None and (
            index.tensor.dtype == torch_package().bool if known else is_boolean(own_element(index))
        )
        if not is_mask:
            found.append(index)
        elif known:
            found += [Known(places) for places in index.tensor.nonzero(as_tuple=True)]
        else:
            call.refuse(
                "a boolean mask selects as many elements as it has true values, which is known "
                "only at run time; torch.where(mask, x, other) keeps the shape"
            )
    return found


def _nonnegative_known(indices: Any, extent: int) -> Any:
    indices = indices.to(torch_package().int64)
    return indices + (indices < 0) * extent


def linear_index(call: Call, indices: list[Any], extents: list[int]) -> tuple[SSAValue, Shape]:
    """One number for several indices into dimensions that lie next to each other."""
    build = call.build
    if all(isinstance(index, Known) for index in indices):
        torch = torch_package()
        numbers = torch.zeros((), dtype=torch.int64)
        for index, extent in zip(indices, extents, strict=True):
            numbers = numbers * extent + _nonnegative_known(index.tensor, extent)
        return build.constant(numbers), tuple(numbers.shape)
    total: SSAValue | None = None
    for index, extent in zip(indices, extents, strict=True):
        numbers = _nonnegative(build, build.cast(call.value(index), _I64), extent)
        if total is not None:
            scaled = build.elementwise("multiply", total, build.number(extent, total))
            numbers = build.elementwise("add", scaled, numbers)
        total = numbers
    assert total is not None
    shape = broadcast_shape(*(_index_shape(index) for index in indices))
    return build.broadcast(total, shape), shape


def _index_shape(index: Any) -> Shape:
    return tuple(index.tensor.shape) if isinstance(index, Known) else shape_of(index)


def _nonnegative(build: BodyBuilder, index: SSAValue, extent: int) -> SSAValue:
    """Indices counted from 0; negative ones count from the end."""
    below = build.elementwise("lt", index, build.number(0, index), element=i1)
    from_end = build.elementwise("add", index, build.number(extent, index))
    return build.elementwise("where", below, from_end, index)


def _gather(call: Call) -> SSAValue:
    """The elements of a dimension with these numbers, one for each place of the result."""
    build, x = call.build, call.tensor()
    if not shape_of(x):
        return build.reshape(x, call.shape)
    dim, shape = call.dim(x), shape_of(x)
    torch = torch_package()
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    base = torch.zeros(call.shape, dtype=torch.int64)
    for i, stride in enumerate(strides):
        if i != dim:
            along = [-1 if j == i else 1 for j in range(len(shape))]
            base = base + (torch.arange(call.shape[i]) * stride).reshape(along)
    known = call.known("index")
    if known is not None:
        places = build.constant(base + known.to(torch.int64) * strides[dim])
    else:
        index = build.cast(call.tensor("index"), _I64)
        scaled = build.elementwise("multiply", index, build.number(strides[dim], index))
        places = build.elementwise("add", scaled, build.constant(base))
    flat = build.reshape(x, (math.prod(shape),))
    return take(build, flat, 0, places)


RULES: dict[str, Rule] = {
    "embedding": _embedding,
    "gather": _gather,
    "index.Tensor": _index,
    "index_select": _index_select,
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
