"""ATen operations that move, repeat and combine elements, with bounds known to the compiler."""

from __future__ import annotations

import math
from typing import cast

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue

from ttmlir.arrays.carriers import array_of
from ttmlir.frontend.torch.building import BodyBuilder, Shape
from ttmlir.frontend.torch.call import Number, TorchCall, TorchRule
from ttmlir.frontend.torch.elements import is_boolean, torch_package
from ttmlir.frontend.torch.rules.complex_numbers import select_part
from ttmlir.ir.tensor_types import element_type, tensor_of, value_shape
from ttmlir.mlir.attributes import ElementType, element_size


def _reshape(call: TorchCall) -> SSAValue:
    return call.build.reshape(call.tensor(), call.shape)


def _permute(call: TorchCall) -> SSAValue:
    x = call.tensor()
    rank = len(value_shape(x))
    return call.build.permute(x, [dim % rank for dim in call["dims"]])


def _expand(call: TorchCall) -> SSAValue:
    return call.build.broadcast(call.tensor(), call.shape)


def _slice(call: TorchCall) -> SSAValue:
    x = call.tensor()
    dim = call.dim(x)
    if isinstance(call["start"], Number):
        return _slice_at(call, x, dim)
    begin, end = slice_bounds(call, value_shape(x)[dim])
    return call.build.slice_along(x, dim, begin, end, call["step"])


def _slice_at(call: TorchCall, x: SSAValue, dim: int) -> SSAValue:
    """A slice of a known length from a computed place."""
    if call["step"] != 1:
        call.refuse("a slice from a computed index has a step of 1")
    begins = _begins(call.build, x, dim, call.tensor("start"))
    return call.build.create_inferred("slice_dynamic", x, begins, sizes=call.shape)


def _begins(build: BodyBuilder, x: SSAValue, dim: int, place: SSAValue) -> SSAValue:
    """A computed place of one dimension, the beginning of all others."""
    extent = value_shape(x)[dim]
    begin = build.reshape(from_start(build, place, extent), (1,))
    zeros = [build.create_number_of_rank(0, element_type(begin), 1)] * len(value_shape(x))
    return build.concat([*zeros[:dim], begin, *zeros[dim + 1 :]], 0)


def from_start(build: BodyBuilder, index: SSAValue, extent: int) -> SSAValue:
    """Indices counted from 0; negative ones count from the end."""
    below = build.compute("lt", index, build.create_number(0, index), element=i1)
    from_end = build.compute("add", index, build.create_number(extent, index))
    return build.compute("where", below, from_end, index)


def slice_bounds(call: TorchCall, extent: int) -> tuple[int, int]:
    """`start` and `end` of a slice, counted from 0 and limited to the dimension."""
    begin, end, _ = slice(call["start"], call["end"]).indices(extent)
    return begin, max(begin, end)


def _select(call: TorchCall) -> SSAValue:
    build, x = call.build, call.tensor()
    if (part := select_part(call)) is not None:
        return part
    dim = call.dim(x)
    if isinstance(call["index"], Number):
        begins = _begins(build, x, dim, call.tensor("index"))
        sizes = tuple(1 if i == dim else extent for i, extent in enumerate(value_shape(x)))
        return build.reshape(
            build.create_inferred("slice_dynamic", x, begins, sizes=sizes), call.shape
        )
    index = call["index"] % value_shape(x)[dim]
    return build.reshape(build.slice_along(x, dim, index, index + 1), call.shape)


def _cat(call: TorchCall) -> SSAValue:
    parts = [call.build.cast(part, call.element) for part in call.tensors("tensors")]
    # Empty tensors of one dimension go with everything.
    parts = [part for part in parts if value_shape(part) != (0,)] or parts
    return call.build.concat(parts, call["dim"] % max(1, len(call.shape)))


def _stack(call: TorchCall) -> SSAValue:
    build, dim = call.build, call["dim"] % len(call.shape)
    shape = (*call.shape[:dim], 1, *call.shape[dim + 1 :])
    parts = [build.cast(part, call.element) for part in call.tensors("tensors")]
    return build.concat([build.reshape(part, shape) for part in parts], dim)


def _split(call: TorchCall) -> tuple[SSAValue, ...]:
    x = call.tensor()
    dim = call.dim(x)
    parts: list[SSAValue] = []
    begin = 0
    for size in call["split_sizes"]:
        parts.append(call.build.slice_along(x, dim, begin, begin + size))
        begin += size
    return tuple(parts)


def _repeat(call: TorchCall) -> SSAValue:
    build, x, counts = call.build, call.tensor(), tuple(call["repeats"])
    x = build.reshape(x, (1,) * (len(counts) - len(value_shape(x))) + value_shape(x))
    if 0 in counts:
        return build.create_splat(0, tensor_of(call.element, call.shape))
    return x if set(counts) <= {1} else build.create_inferred("repeat", x, repeat_dimensions=counts)


def _constant_pad(call: TorchCall) -> SSAValue:
    x, given = call.array(cast=False), list(call["pad"])
    # Pairs of a low and a high count, the last dimension first.
    pairs = [(given[i], given[i + 1]) for i in range(0, len(given), 2)]
    margins = [(0, 0)] * (x.rank - len(pairs)) + pairs[::-1]
    number = call["value"]
    if isinstance(number, complex):
        if max(given, default=0) > 0:
            call.refuse(
                "padding with complex numbers is not supported; pad with 0 and add the number"
            )
        number = 0
    return x.pad(margins, float(number)).value


def _flip(call: TorchCall) -> SSAValue:
    x = call.tensor()
    rank = len(value_shape(x))
    dims = tuple(dim % rank for dim in call["dims"]) if rank else ()
    return call.build.create_inferred("reverse", x, dimensions=dims) if dims else x


def _roll(call: TorchCall) -> SSAValue:
    build, x = call.build, call.tensor()
    shifts, dims = list(call["shifts"]), list(call["dims"])
    flat = not dims
    if flat:
        x, dims = build.reshape(x, (math.prod(value_shape(x)),)), [0]
    for shift, number in zip(shifts, dims, strict=True):
        dim = number % len(value_shape(x))
        extent = value_shape(x)[dim]
        cut = -shift % extent if extent else 0
        if cut:
            ends = build.slice_along(x, dim, cut, extent), build.slice_along(x, dim, 0, cut)
            x = build.concat(ends, dim)
    return build.reshape(x, call.shape)


def _slice_scatter(call: TorchCall) -> SSAValue:
    build, x = call.build, call.tensor()
    dim = call.dim(x)
    source = build.cast(call.tensor("src"), element_type(x))
    if isinstance(call["start"], Number):
        if call["step"] != 1:
            call.refuse("a slice from a computed index has a step of 1")
        return build.create_inferred(
            "slice_write", x, source, _begins(build, x, dim, call.tensor("start"))
        )
    begin, end = slice_bounds(call, value_shape(x)[dim])
    if call["step"] == 1:
        return replace(call, x, source, dim, begin, end)
    # The elements between the steps come from the tensor itself, slice by slice.
    step, count = call["step"], value_shape(source)[dim]
    parts: list[SSAValue] = [build.slice_along(x, dim, 0, begin)]
    for i in range(count):
        place = begin + i * step
        following = place + step if i + 1 < count else value_shape(x)[dim]
        parts.append(build.slice_along(source, dim, i, i + 1))
        parts.append(build.slice_along(x, dim, place + 1, following))
    return build.concat(parts, dim)


def _select_scatter(call: TorchCall) -> SSAValue:
    build, x = call.build, call.tensor()
    dim = call.dim(x)
    shape = (*call.shape[:dim], 1, *call.shape[dim + 1 :])
    source = build.reshape(build.cast(call.tensor("src"), element_type(x)), shape)
    if isinstance(call["index"], Number):
        return build.create_inferred(
            "slice_write", x, source, _begins(build, x, dim, call.tensor("index"))
        )
    index = call["index"] % value_shape(x)[dim]
    return replace(call, x, source, dim, index, index + 1)


def replace(
    call: TorchCall, x: SSAValue, source: SSAValue, dim: int, begin: int, end: int
) -> SSAValue:
    """A tensor with the slice from `begin` to `end` of a dimension replaced by another tensor."""
    build, extent = call.build, value_shape(x)[dim]
    if end <= begin:
        return x
    parts = build.slice_along(x, dim, 0, begin), source, build.slice_along(x, dim, end, extent)
    return build.concat(parts, dim)


def _diagonal(call: TorchCall) -> SSAValue:
    """The diagonal of a matrix: every (columns + 1)-th element of its rows put together."""
    build, x, offset = call.build, call.tensor(), call["offset"]
    rank = len(value_shape(x))
    dims = [call["dim1"] % rank, call["dim2"] % rank]
    x = build.permute(x, [*(i for i in range(rank) if i not in dims), *dims])
    *batch, rows, columns = value_shape(x)
    count = call.shape[-1]
    if not count:
        return build.create_splat(0, tensor_of(call.element, call.shape))
    flat = build.reshape(x, (*batch, rows * columns))
    start = offset if offset >= 0 else -offset * columns
    end = start + (count - 1) * (columns + 1) + 1
    return build.slice_along(flat, len(batch), start, end, columns + 1)


def _diagonal_scatter(call: TorchCall) -> SSAValue:
    """A tensor with the diagonal of its matrices replaced."""
    torch, build, x, offset = torch_package(), call.build, call.tensor(), call["offset"]
    rank = len(value_shape(x))
    dims = [call["dim1"] % rank, call["dim2"] % rank]
    order = [*(i for i in range(rank) if i not in dims), *dims]
    x = build.permute(x, order)
    *batch, rows, columns = value_shape(x)
    source = build.cast(call.tensor("src"), element_type(x))
    count = value_shape(source)[-1]
    # Element k lies in row k above the diagonal, in column k below it.
    extent, shape = (rows, (rows, 1)) if offset >= 0 else (columns, (1, columns))
    if count < extent:
        padding = (*(0 for _ in range(2 * len(batch) + 1)), extent - count)
        source = build.create_inferred("pad", source, padding=padding, value=0.0)
    source = build.reshape(source, (*batch, *shape))
    places = torch.ones(rows, columns, dtype=torch.bool).tril(offset).triu(offset)
    mask = build.create_tensor(places.reshape(*(1 for _ in batch), rows, columns))
    result = build.compute("where", mask, source, x)
    return build.permute(result, [order.index(i) for i in range(rank)])


def _view_dtype(call: TorchCall) -> SSAValue:
    x, element = call.tensor(), element_type(call.tensor())
    if element == call.element:
        return x
    if _width(element) == _width(call.element):
        return call.build.create("bitcast_convert", (x,), call.result_type())
    call.refuse(
        f"reading the bits of {element} as {call.element} is not supported, since they are not as "
        "many; .to(dtype) converts numbers"
    )


def _width(element: Attribute) -> int:
    """Bits of an element; truth values, which are stored in a byte, have none to be read."""
    return 0 if is_boolean(element) else element_size(cast("ElementType", element))


def _as_strided(call: TorchCall) -> SSAValue:
    """Elements by their places in memory, in which windows may overlap."""
    build, strides, shape = call.build, tuple(call["stride"]), call.shape
    order, offset = _memory_of(call, shape)
    flat = build.reshape(
        build.permute(call.tensor(), order), (call.node.args[0].meta["val"].numel(),)
    )
    elements, dense = math.prod(shape), _strides(shape)
    if all(a == b or n == 1 for a, b, n in zip(strides, dense, shape, strict=True)):
        return build.reshape(build.slice_along(flat, 0, offset, offset + elements), shape)
    places = torch_package().arange(value_shape(flat)[0]).as_strided(shape, strides, offset)
    index = build.create_tensor(places.reshape(-1).contiguous())
    found = build.create_inferred("gather", flat, index, dim=0)
    return build.reshape(found, shape)


def _memory_of(call: TorchCall, shape: Shape) -> tuple[list[int], int]:
    """The dimensions of a tensor in the order of its memory, and where a view of that begins."""
    meta, given = call.node.args[0].meta["val"], call.arguments.get("storage_offset")
    offset = 0 if given is None else given - meta.storage_offset()
    order = sorted(range(meta.dim()), key=lambda dim: (-meta.stride(dim), dim))
    last = offset + sum((n - 1) * step for n, step in zip(shape, call["stride"], strict=True))
    if not meta.permute(order).is_contiguous() or offset < 0 or last >= meta.numel():
        call.refuse(
            "a view of the memory of a tensor that has gaps, or of more than the tensor, is "
            "not supported; use slices, permute and expand, or x.contiguous() before it"
        )
    return order, offset


def _as_strided_scatter(call: TorchCall) -> SSAValue:
    """A tensor with other elements at such places in memory."""
    x, source = call.array(), call.array("src")
    if 0 in source.shape:
        return x.value
    order, offset = _memory_of(call, source.shape)
    moved, count = x.permute(order), math.prod(x.shape)
    places = torch_package().arange(count).as_strided(source.shape, call["stride"], offset)
    flat, elements = moved.reshape((count,)), math.prod(source.shape)
    index = array_of(places.reshape(-1).numpy())
    written = flat.scatter(0, index, source.reshape((elements,)))
    return written.reshape(moved.shape).permute([order.index(i) for i in range(x.rank)]).value


def _strides(shape: Shape) -> Shape:
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


RULES: dict[str, TorchRule] = {
    "_unsafe_view": _reshape,
    "as_strided": _as_strided,
    "as_strided_copy": _as_strided,
    "as_strided_scatter": _as_strided_scatter,
    "cat": _cat,
    "constant_pad_nd": _constant_pad,
    "diagonal": _diagonal,
    "diagonal_copy": _diagonal,
    "diagonal_scatter": _diagonal_scatter,
    "expand": _expand,
    "flatten": _reshape,
    "flip": _flip,
    "permute": _permute,
    "permute_copy": _permute,
    "repeat": _repeat,
    "reshape": _reshape,
    "roll": _roll,
    "select.int": _select,
    "select_copy.int": _select,
    "select_scatter": _select_scatter,
    "slice.Tensor": _slice,
    "slice_copy.Tensor": _slice,
    "slice_scatter": _slice_scatter,
    "split_with_sizes": _split,
    "split_with_sizes_copy": _split,
    "squeeze": _reshape,
    "stack": _stack,
    "unsqueeze": _reshape,
    "view": _reshape,
    "view.dtype": _view_dtype,
    "view_copy": _reshape,
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
