"""ATen operations that look elements up by numbers that are themselves tensors."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import SSAValue

from ttmlir.frontend.torch.building import BodyBuilder, Shape
from ttmlir.frontend.torch.call import Known, TorchCall, TorchRule
from ttmlir.frontend.torch.elements import is_boolean, is_floating, torch_package
from ttmlir.frontend.torch.rules.movement import from_start
from ttmlir.ir.constants import identity_of
from ttmlir.ir.tensor_types import element_type, tensor_of, value_shape
from ttmlir.optable import row
from ttmlir.optable.row import broadcast_shape

_I64 = IntegerType(64)


def take(build: BodyBuilder, x: SSAValue, dim: int, indices: SSAValue) -> SSAValue:
    """The slices of a dimension with these numbers; their shape takes its place."""
    shape, places = value_shape(x), value_shape(indices)
    rest = shape[:dim] + shape[dim + 1 :]
    front = build.permute(x, [dim, *(i for i in range(len(shape)) if i != dim)])
    table = build.reshape(front, (shape[dim], math.prod(rest)))
    flat = build.reshape(indices, (math.prod(places),))
    type_ = TensorType(element_type(x), (*value_shape(flat), math.prod(rest)))
    found = build.create("embedding", (flat, table), type_)
    rows = build.reshape(found, (*places, *rest))
    count = len(places)
    order = [
        *range(count, count + dim),
        *range(count),
        *range(count + dim, count + len(rest)),
    ]
    return build.permute(rows, order)


def _embedding(call: TorchCall) -> SSAValue:
    return take(call.build, call.tensor("weight"), 0, call.tensor("indices"))


def _index_select(call: TorchCall) -> SSAValue:
    build, x = call.build, call.tensor()
    if not value_shape(x):
        # Whichever place is asked for, there is one.
        return build.broadcast(x, call.shape)
    dim = call.dim(x)
    known = call.known("index")
    if known is not None and (bounds := progression(known)) is not None:
        return build.slice_along(x, dim, *bounds)
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


def _index(call: TorchCall) -> SSAValue:
    build = call.build
    x = call.tensor()
    indices = _without_masks(call, call["indices"])
    dims = [i for i, index in enumerate(indices) if index is not None]
    if not dims:
        return x
    if len(dims) == 1 and isinstance(indices[dims[0]], Known):
        (dim,) = dims
        known = _nonnegative_known(indices[dim].tensor, value_shape(x)[dim])
        if (bounds := progression(known)) is not None:
            return build.slice_along(x, dim, *bounds)
    flat, places = linear_index(
        call, [indices[dim] for dim in dims], [value_shape(x)[d] for d in dims]
    )
    first = dims[0]
    others = [i for i in range(len(value_shape(x))) if i not in dims]
    if dims == list(range(first, first + len(dims))):
        at = first
        shape = value_shape(x)
        merged = (*shape[:at], math.prod(shape[d] for d in dims), *shape[dims[-1] + 1 :])
        x = build.reshape(x, merged)
    else:
        # With other dimensions in between, torch puts those of the indices first.
        at = 0
        x = build.permute(x, [*dims, *others])
        rest = value_shape(x)[len(dims) :]
        x = build.reshape(x, (math.prod(value_shape(x)[: len(dims)]), *rest))
    assert places == value_shape(flat)
    return build.reshape(take(build, x, at, flat), call.shape)


def _without_masks(call: TorchCall, indices: Any) -> list[Any]:
    """The indices, those that are masks of known numbers turned into numbers."""
    found: list[Any] = []
    for index in indices:
        known = isinstance(index, Known)
        is_mask = index is not None and (
            index.tensor.dtype == torch_package().bool if known else is_boolean(element_type(index))
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


def linear_index(call: TorchCall, indices: list[Any], extents: list[int]) -> tuple[SSAValue, Shape]:
    """One number for several indices into dimensions that lie next to each other."""
    build = call.build
    if all(isinstance(index, Known) for index in indices):
        torch = torch_package()
        numbers = torch.zeros((), dtype=torch.int64)
        for index, extent in zip(indices, extents, strict=True):
            numbers = numbers * extent + _nonnegative_known(index.tensor, extent)
        return build.create_tensor(numbers), tuple(numbers.shape)
    total: SSAValue | None = None
    for index, extent in zip(indices, extents, strict=True):
        numbers = from_start(build, build.cast(call.value(index), _I64), extent)
        if total is not None:
            scaled = build.compute("multiply", total, build.create_number(extent, total))
            numbers = build.compute("add", scaled, numbers)
        total = numbers
    assert total is not None
    shape = broadcast_shape(*(_shape_of_argument(index) for index in indices))
    return build.broadcast(total, shape), shape


def _shape_of_argument(index: Any) -> Shape:
    return tuple(index.tensor.shape) if isinstance(index, Known) else value_shape(index)


def _gather(call: TorchCall) -> SSAValue:
    """The elements of a dimension with these numbers, one for each place of the result."""
    build, x, index = call.build, call.tensor(), call.tensor("index")
    if not value_shape(x):
        return build.reshape(x, call.shape)
    dim = call.dim(x)
    index = build.reshape(index, call.shape or (1,))
    for other, count in enumerate(value_shape(index)):
        if other != dim:
            x = build.slice_along(x, other, 0, count)
    return build.reshape(build.create_inferred("gather", x, index, dim=dim), call.shape)


def _unfold(call: TorchCall) -> SSAValue:
    """The windows of a dimension, put at the end."""
    build, x = call.build, call.tensor()
    if not value_shape(x):
        return build.reshape(x, call.shape)
    dim, size, step = call.dim(x, "dimension"), call["size"], call["step"]
    shape, count = value_shape(x), call.shape[call.dim(x, "dimension")]
    if step == size:
        windows = build.slice_along(x, dim, 0, count * size)
    else:
        torch = torch_package()
        places = torch.arange(count).unsqueeze(1) * step + torch.arange(size)
        windows = take(build, x, dim, build.create_tensor(places.reshape(-1)))
    windows = build.reshape(windows, (*shape[:dim], count, size, *shape[dim + 1 :]))
    order = [i for i in range(len(shape) + 1) if i != dim + 1]
    return build.permute(windows, [*order, dim + 1])


# -- writing -----------------------------------------------------------------------------------

_REDUCTIONS = {
    "sum": "scatter_add",
    "add": "scatter_add",
    "prod": "scatter_multiply",
    "multiply": "scatter_multiply",
    "amax": "scatter_maximum",
    "amin": "scatter_minimum",
}


def _scatter(call: TorchCall) -> SSAValue:
    return _write(call, "scatter", _source(call))


def _scatter_add(call: TorchCall) -> SSAValue:
    return _write(call, "scatter_add", _source(call))


def _scatter_reduce(call: TorchCall) -> SSAValue:
    build, reduce, x = call.build, str(call["reduce"]), call.tensor()
    source = _source(call)
    keeps = bool(call.arguments.get("include_self", True))
    start = x if keeps else _write(call, "scatter", _like(build, source, _neutral(x, reduce)))
    if reduce != "mean":
        return _write(call, _REDUCTIONS[reduce], source, start)
    ones = _like(build, source, 1)
    none = _like(build, x, 0)
    count = _write(call, "scatter_add", ones, _like(build, x, 1) if keeps else none)
    if not keeps:
        # What nothing is written to stays.
        count = build.compute("maximum", count, build.create_number(1, count))
    total = _write(call, "scatter_add", source, start)
    mean = build.compute("div", total, count)
    if is_floating(call.element):
        return mean
    # Rounded toward zero is one too many where there is a remainder below 0.
    rest = build.compute("remainder", total, count)
    is_below = build.compute("lt", rest, build.create_number(0, rest), element=IntegerType(1))
    return build.compute("subtract", mean, build.cast(is_below, call.element))


def _like(build: BodyBuilder, x: SSAValue, number: float) -> SSAValue:
    return build.create_splat(number, tensor_of(element_type(x), value_shape(x)))


def _neutral(x: SSAValue, reduce: str) -> float:
    """The number that leaves every other as it is."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    found = identity_of(row("maximum" if reduce == "amax" else "minimum"), element_type(x))
    assert found is not None, "the larger and the smaller one of two have identities"
    return found


def _source(call: TorchCall) -> SSAValue:
    """What is written: the first elements of a tensor, as many as places; or one number."""
    build, places = call.build, _shape_of_argument(call.arguments["index"])
    if not call.has("src"):
        return build.create_splat(call["value"], tensor_of(call.element, places or (1,)))
    source = build.cast(call.tensor("src"), call.element)
    for dim, count in enumerate(places):
        source = build.slice_along(source, dim, 0, count)
    return build.reshape(source, places or (1,))


def _write(
    call: TorchCall, mnemonic: str, source: SSAValue, given: SSAValue | None = None
) -> SSAValue:
    """A tensor, the first argument unless given, with elements written to numbered places."""
    build, index = call.build, call.tensor("index")
    x = call.tensor() if given is None else given
    if not value_shape(x):
        x = build.reshape(x, (1,))
    dim, shape = call.dim(x), value_shape(x)
    index = build.reshape(index, value_shape(index) or (1,))
    if 0 in value_shape(index):
        return build.reshape(x, call.shape)
    part = x
    for other, count in enumerate(value_shape(index)):
        if other != dim:
            part = build.slice_along(part, other, 0, count)
    part = build.create_inferred(mnemonic, part, index, source, dim=dim)
    if part is not x and value_shape(part) != shape:
        begins = build.create_tensor(torch_package().zeros(len(shape), dtype=torch_package().int64))
        part = build.create_inferred("slice_write", x, part, begins)
    return build.reshape(part, call.shape)


def _index_put(call: TorchCall) -> SSAValue:
    """A tensor with elements replaced, or added to, at the places that `indices` select."""
    build, x = call.build, call.tensor()
    values = build.cast(call.tensor("values"), element_type(x))
    masked = _masked_put(call, x, values)
    if masked is not None:
        return masked
    indices = _without_masks(call, call["indices"])
    dims = [i for i, index in enumerate(indices) if index is not None]
    extents = [value_shape(x)[dim] for dim in dims]
    flat, places = linear_index(call, [indices[dim] for dim in dims], extents)
    others = [i for i in range(len(value_shape(x))) if i not in dims]
    rest = tuple(value_shape(x)[i] for i in others)
    first = dims[0] if dims == list(range(dims[0], dims[0] + len(dims))) else 0
    # What an access by these indices would give, with the dimensions of the indices in front.
    values = build.broadcast(values, (*rest[:first], *places, *rest[first:]))
    middle = range(first, first + len(places))
    values = build.permute(values, [*middle, *(i for i in _dims(values) if i not in middle)])
    order = [*dims, *others]
    rows, columns, count = math.prod(extents), math.prod(rest), math.prod(places)
    if not count * columns:
        return x
    table = build.reshape(build.permute(x, order), (rows, columns))
    mnemonic = "scatter_add" if call["accumulate"] else "scatter"
    written = build.create_inferred(
        mnemonic,
        table,
        build.reshape(flat, (count, 1)),
        build.reshape(values, (count, columns)),
        dim=0,
    )
    written = build.reshape(written, (*extents, *rest))
    return build.permute(written, [order.index(i) for i in range(len(order))])


def _masked_put(call: TorchCall, x: SSAValue, values: SSAValue) -> SSAValue | None:
    """One number put where a mask is true; None for anything but one mask."""
    build = call.build
    indices: list[Any] = [index for index in call["indices"] if index is not None]
    if len(indices) != 1 or math.prod(value_shape(values)) != 1:
        return None
    (index,) = indices
    if isinstance(index, Known) or not is_boolean(element_type(index)):
        return None
    before: int = call["indices"].index(index)
    behind = len(value_shape(x)) - before - len(value_shape(index))
    mask = build.reshape(index, (*value_shape(index), *((1,) * behind)))
    number = build.reshape(values, (1,) * len(value_shape(x)))
    if call["accumulate"]:
        number = build.compute("add", x, number)
    return build.compute("where", mask, number, x)


def _dims(value: SSAValue) -> range:
    return range(len(value_shape(value)))


RULES: dict[str, TorchRule] = {
    "embedding": _embedding,
    "gather": _gather,
    "index.Tensor": _index,
    "index_put": _index_put,
    "index_select": _index_select,
    "scatter.reduce": _scatter_reduce,
    "scatter.src": _scatter,
    "scatter.value": _scatter,
    "scatter.value_reduce": _scatter_reduce,
    "scatter_add": _scatter_add,
    "scatter_reduce.two": _scatter_reduce,
    "unfold": _unfold,
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
