"""Operators that move, repeat and combine elements, with bounds known while compiling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as np

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.composites.indexing import take
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.frontend.onnx.elements import Tensor, type_name
from ttmlir.optable.op_definition import broadcast_shape

# -- shapes ------------------------------------------------------------------------------------


def _shape(call: Call) -> Array:
    extents = call.tensor("data").array.shape
    start, end = (call[name] for name in ("start", "end"))
    return array_of(np.array(extents[slice(start or 0, end)], np.int64))


def _size(call: Call) -> Array:
    return array_of(np.array(math.prod(call.tensor("data").array.shape), np.int64))


def _reshape(call: Call) -> Array:
    x = call.array("data")
    extents = list(call.integers("shape") or ())
    if not call["allowzero"]:
        if any(not n and i >= x.rank for i, n in enumerate(extents)):
            call.refuse(f"the shape {extents} has a 0 for a dimension that the tensor has not")
        extents = [n or x.shape[i] for i, n in enumerate(extents)]
    return x.reshape(_fit(call, x, extents))


def _fit(call: Call, x: Array, extents: Sequence[int]) -> list[int]:
    """A shape with the extent that is left for -1."""
    count, known = math.prod(x.shape), math.prod(n for n in extents if n != -1)
    found = [count // known if n == -1 and known else n for n in extents]
    is_open = list(extents).count(-1)
    if is_open > 1 or min(found, default=0) < 0 or math.prod(found) != count:
        call.refuse(f"the {count} elements of the shape {list(x.shape)} do not fit {list(extents)}")
    return found


def _flatten(call: Call) -> Array:
    x = call.array("input")
    axis = call["axis"]
    if not -x.rank <= axis <= x.rank:
        call.refuse(f"axis is {axis}; the tensor has {x.rank} dimensions")
    axis = axis + x.rank if axis < 0 else axis
    return x.reshape((math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


def _squeeze(call: Call) -> Array:
    x = call.array("data")
    axes = call.integers("axes")
    if axes is None:
        return x.reshape([n for n in x.shape if n != 1])
    dims = call.dims(x.rank, axes)
    if any(x.shape[dim] != 1 for dim in dims):
        call.refuse(f"axes is {list(axes)}; the shape {list(x.shape)} has other extents than 1")
    return x.squeeze(*dims)


def _unsqueeze(call: Call) -> Array:
    x, axes = call.array("data"), call.integers("axes") or ()
    return x.unsqueeze(*call.dims(x.rank + len(axes), axes))


def _transpose(call: Call) -> Array:
    x, order = call.array("data"), call["perm"]
    order = list(range(x.rank))[::-1] if order is None else list(order)
    if sorted(order) != list(range(x.rank)):
        call.refuse(f"perm is {order}; the tensor has {x.rank} dimensions")
    return x.permute(order)


def _expand(call: Call) -> Array:
    x = call.array("input")
    shape = broadcast_shape(x.shape, call.integers("shape") or ())
    call.check_size(shape, x.dtype)
    return x.broadcast(shape)


def _tile(call: Call) -> Array:
    x = call.array("input")
    if call.version < 6:
        counts = [1] * x.rank
        counts[int(call.numbers("axis"))] = int(call.numbers("tiles"))
    else:
        counts = list(call.integers("repeats") or ())
    if len(counts) != x.rank or min(counts, default=0) < 0:
        call.refuse(f"repeats is {counts}; the tensor has {x.rank} dimensions")
    return repeat(call, x, counts)


def repeat(call: Call, x: Array, counts: Sequence[int]) -> Array:
    """An array so many times along each dimension."""
    call.check_size([n * m for n, m in zip(x.shape, counts, strict=True)], x.dtype)
    apart, wide = list[int](), list[int]()
    for extent, count in zip(x.shape, counts, strict=True):
        apart += [1, extent]
        wide += [count, extent]
    whole = [n * m for n, m in zip(x.shape, counts, strict=True)]
    if 0 in whole:
        return call.fill(0, whole, x.dtype)
    return x.reshape(apart).broadcast(wide).reshape(whole)


# -- parts -------------------------------------------------------------------------------------


def _concat(call: Call) -> Array:
    (name,) = (each for each in call.inputs)
    parts = call.arrays(name)
    dim = call.dim(parts[0].rank, default=1)
    for part in parts[1:]:
        rest = [
            (n, m)
            for i, (n, m) in enumerate(zip(parts[0].shape, part.shape, strict=False))
            if i != dim
        ]
        if part.rank != parts[0].rank or any(n != m for n, m in rest):
            call.refuse(
                f"the shapes {', '.join(str(list(each.shape)) for each in parts)} differ in other "
                f"dimensions than {dim}"
            )
    return concatenate(parts, dim)


def _split(call: Call) -> tuple[Array, ...]:
    x = call.array("input")
    dim, count = call.dim(x.rank), call["num_outputs"] or len(call.outputs)
    sizes = call.integers("split")
    extent = x.shape[dim]
    if sizes is None:
        size = -(-extent // count) if call.version >= 18 else extent // count
        sizes = [max(0, min(size, extent - i * size)) for i in range(count)]
    if sum(sizes) != extent or min(sizes, default=0) < 0:
        call.refuse(f"the parts {list(sizes)} do not add up to the extent {extent}")
    return tuple(cut_up(x, dim, sizes))


def cut_up(x: Array, dim: int, sizes: Sequence[int]) -> list[Array]:
    """Parts of these sizes, one after the other."""
    found, begin = list[Array](), 0
    for size in sizes:
        found.append(x.cut(dim, begin, begin + size))
        begin += size
    return found


def _slice(call: Call) -> Array:
    x = call.array("data")
    starts, ends = (call.integers(name) or () for name in ("starts", "ends"))
    axes = call.integers("axes")
    dims = call.dims(x.rank, tuple(range(len(starts))) if axes is None else axes)
    steps = call.integers("steps") or (1,) * len(starts)
    if not len(starts) == len(ends) == len(dims) == len(steps) or 0 in steps:
        call.refuse(
            f"starts {list(starts)}, ends {list(ends)}, axes {list(dims)} and steps {list(steps)} "
            "have to be as many, and steps other than 0"
        )
    for dim, start, end, step in zip(dims, starts, ends, steps, strict=True):
        places = range(*slice(start, end, step).indices(x.shape[dim]))
        if not places:
            x = x.cut(dim, 0, 0)
        elif step > 0:
            x = x.cut(dim, places.start, places[-1] + 1, step)
        else:
            x = x.cut(dim, places[-1], places.start + 1, -step).reverse(dim)
    return x


def _pad(call: Call) -> Array:
    x = call.array("data")
    mode = call.choose("mode", ("constant", "reflect", "edge", "wrap"))
    pads = call.integers("pads") or call.integers("paddings") or ()
    axes = call.integers("axes")
    dims = call.dims(x.rank, tuple(range(x.rank)) if axes is None else axes)
    if len(pads) != 2 * len(dims):
        call.refuse(f"pads is {list(pads)}; it has to have {2 * len(dims)} numbers")
    margins = [(0, 0)] * x.rank
    for place, dim in enumerate(dims):
        margins[dim] = pads[place], pads[place + len(dims)]
    shape = [low + n + high for n, (low, high) in zip(x.shape, margins, strict=True)]
    call.check_size(shape, x.dtype)
    if mode == "constant":
        return _pad_with(call, x, margins)
    for dim, (low, high) in enumerate(margins):
        if low or high:
            x = _pad_from_inside(call, x, dim, (low, high), cast("Any", mode))
    return x


def _pad_with(call: Call, x: Array, margins: Sequence[tuple[int, int]]) -> Array:
    """Numbers of one kind around a tensor."""
    if call.has("constant_value"):
        number = call.array("constant_value")
        if not number.carrier.holds_numbers:
            number = number.reshape(())
            inside = x.fill(1).pad(margins, 0) if x.dtype != "i1" else None
            if inside is None:
                call.refuse("truth values are padded with a number that is known while compiling")
            return inside.ne(0).where(x.pad(margins, 0), number)
        fill = number.value.reshape(()).item()
    else:
        fill = call["value"] or 0.0
    if x.dtype == "i1":
        return x.cast("ui8").pad(margins, int(fill)).ne(0)
    return x.pad(margins, fill if x.is_real else int(fill))


def _pad_from_inside(
    call: Call,
    x: Array,
    dim: int,
    margin: tuple[int, int],
    mode: Literal["reflect", "edge", "wrap"],
) -> Array:
    """Elements of the tensor repeated around it."""
    low, high = margin
    x = x.cut(dim, max(-low, 0), x.shape[dim] - max(-high, 0))
    if not x.shape[dim]:
        call.refuse(f"there are no elements along dimension {dim} to pad with")
    wide = max(low, 0), max(high, 0)
    places = np.pad(np.arange(x.shape[dim]), wide, mode=mode)
    return take(x, dim, array_of(places))


# -- made from numbers -------------------------------------------------------------------------


def _constant(call: Call) -> Tensor:
    for name, value in call.attributes.items():
        if isinstance(value, Tensor):
            return value
        if name.startswith("value_float"):
            return Tensor.of(array_of(np.array(value, np.float32)))
        if name.startswith("value_int"):
            return Tensor.of(array_of(np.array(value, np.int64)))
    if not call.attributes:
        call.refuse("it has no value")
    call.refuse("its value is a string; devices compute with numbers")


def _constant_of_shape(call: Call) -> Tensor:
    shape = call.integers("input") or ()
    value = call["value"]
    if value is None:
        return Tensor(call.fill(0, shape, "f32"), "FLOAT")
    number = value.array.value.reshape(-1)
    if number.size != 1:
        call.refuse(f"its value has {number.size} elements; it has to have one")
    return Tensor(call.fill(number[0].item(), shape, value.array.dtype), value.type)


def _range(call: Call) -> Array:
    names = ("start", "limit", "delta")
    start, limit, step = (call.numbers(name).reshape(()) for name in names)
    dtype = call.tensor("start").array.dtype
    if not step:
        call.refuse("delta is 0")
    count = max(0, math.ceil((limit.astype(object) - start.astype(object)) / step.astype(object)))
    call.check_size((count,), dtype)
    wide = np.int64 if start.dtype.kind in "iu" else np.float64
    numbers = start.astype(wide) + np.arange(count) * step.astype(wide)
    return array_of(numbers, dtype)


def _eye_like(call: Call) -> Tensor:
    given = call.tensor("input")
    if given.array.rank != 2:
        call.refuse(f"the tensor has {given.array.rank} dimensions; it has to have 2")
    name = given.type if call["dtype"] is None else type_name(call["dtype"])
    call.check_size(given.array.shape, "f64")
    numbers = np.eye(*given.array.shape, k=call["k"])
    return Tensor(array_of(numbers, call.dtype_of(name)), name)


def _trilu(call: Call) -> Array:
    x, offset = call.array("input"), int(call.number("k", 0))
    if x.rank < 2:
        call.refuse(f"the tensor has {x.rank} dimensions; it has to have 2 or more")
    rows, columns = x.shape[-2:]
    offset = max(-rows - 1, min(offset, columns + 1))
    lower = np.tri(rows, columns, offset - bool(call["upper"]), dtype=np.bool_)
    mask = array_of(~lower if call["upper"] else lower)
    return mask.where(x, x.fill(0, ())) if x.dtype != "i1" else mask & x


# -- blocks of images --------------------------------------------------------------------------


def _depth_to_space(call: Call) -> Array:
    x, size = call.array("input"), int(call.required("blocksize"))
    if x.rank != 4 or size < 1 or x.shape[1] % (size * size):
        call.refuse(f"the shape {list(x.shape)} has no channels for blocks of {size}x{size}")
    n, c, h, w = x.shape
    depth = c // (size * size)
    if call["mode"] == "CRD":
        parts, order = (n, depth, size, size, h, w), (0, 1, 4, 2, 5, 3)
    else:
        parts, order = (n, size, size, depth, h, w), (0, 3, 4, 1, 5, 2)
    return x.reshape(parts).permute(order).reshape((n, depth, h * size, w * size))


def _space_to_depth(call: Call) -> Array:
    x, size = call.array("input"), int(call.required("blocksize"))
    if x.rank != 4 or size < 1 or x.shape[2] % size or x.shape[3] % size:
        call.refuse(f"the shape {list(x.shape)} is not of blocks of {size}x{size}")
    n, c, h, w = x.shape
    apart = x.reshape((n, c, h // size, size, w // size, size))
    order = (0, 1, 3, 5, 2, 4) if call["mode"] == "CRD" else (0, 3, 5, 1, 2, 4)
    return apart.permute(order).reshape((n, c * size * size, h // size, w // size))


def _reverse_sequence(call: Call) -> Array:
    x, lengths = call.array("input"), call.array("sequence_lens").cast("i64")
    batch, time = (call.dim(x.rank, name) for name in ("batch_axis", "time_axis"))
    if {batch, time} != {0, 1}:
        call.refuse(f"batch_axis is {batch} and time_axis {time}; they have to be 0 and 1")
    steps = array_of(np.arange(x.shape[time]))
    steps, lengths = (
        (steps.unsqueeze(1), lengths.unsqueeze(0)) if time == 0 else (steps, lengths.unsqueeze(1))
    )
    places = (steps < lengths).where(lengths - 1 - steps, steps)
    index = places.reshape((*places.shape, *(1,) * (x.rank - 2)))
    return x.gather(time, index.broadcast((*places.shape, *x.shape[2:])))


RULES: dict[str, Rule] = {
    "Concat": _concat,
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "EyeLike": _eye_like,
    "Flatten": _flatten,
    "Pad": _pad,
    "Range": _range,
    "Reshape": _reshape,
    "ReverseSequence": _reverse_sequence,
    "Shape": _shape,
    "Size": _size,
    "Slice": _slice,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
}
"""Rules by the names of operators."""
