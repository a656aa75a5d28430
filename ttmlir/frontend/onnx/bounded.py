"""Tensors of which only the first elements along some dimensions count: what they are made of.

`Bounded` tensors have the largest extents that there can be; how many elements count is computed
beside them. Nothing here depends on operators: `rules.bounded` says what those do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from xdsl.ir import Operation, SSAValue

from ttmlir.arrays.array import TRUTH, Array, concatenate
from ttmlir.arrays.carriers import array_of, host_dtype
from ttmlir.composites import indexing
from ttmlir.frontend.onnx.elements import Bounded, Counted, Size, Tensor, Value
from ttmlir.ir.tensor_types import dtype_of, element_type, value_shape

Extent = int | Size

# -- sizes -----------------------------------------------------------------------------------------


def make(
    array: Array,
    sizes: Mapping[int, Size],
    *,
    one: Array | None = None,
    places: tuple[Array, bool] | None = None,
) -> Array | Bounded:
    """An array with the sizes of dimensions; what is known of them is cut off."""
    kept: dict[int, Size] = {}
    for dim, size in sorted(sizes.items()):
        extent = array.shape[dim]
        if size.count.carrier.holds_numbers:
            array = array.cut(dim, 0, min(int(size.count.value), extent))
        elif size.least >= extent:
            continue
        else:
            kept[dim] = size if size.most == extent else replace(size, most=extent)
    return Bounded(array, kept, one=one, places=places) if kept else array


def size_of_mask(mask: Array, source: SSAValue | None = None) -> Size:
    """How many elements of a flat mask are true; those of a source that are not 0, if it is one."""
    count = mask.cast("i64").sum(0, keep=False)
    return Size(count, mask.shape[0], source=source)


def count_of(extent: Extent) -> Array:
    """An extent as an i64 of no dimension."""
    return array_of(np.array(extent, np.int64)) if isinstance(extent, int) else extent.count


def most_of(extent: Extent) -> int:
    """The largest that an extent can be."""
    return extent if isinstance(extent, int) else extent.most


def least_of(extent: Extent) -> int:
    """The smallest that an extent can be."""
    return extent if isinstance(extent, int) else extent.least


def are_same(a: Extent, b: Extent) -> bool:
    """Whether two extents are known to be equal."""
    if isinstance(a, int) or isinstance(b, int):
        return a == b
    if a is b or a.count.value is b.count.value:
        return True
    return a.source is not None and a.source is b.source


def multiply(extents: Sequence[Extent]) -> Extent:
    """How many elements a tensor of these extents has."""
    known = math.prod(each for each in extents if isinstance(each, int))
    open_ = [each for each in extents if not isinstance(each, int)]
    if not open_ or not known:
        return known
    if known == 1 and len(open_) == 1:
        return open_[0]
    count = open_[0].count
    for each in open_[1:]:
        count = count * each.count
    return Size(
        count * known,
        known * math.prod(each.most for each in open_),
        known * math.prod(each.least for each in open_),
    )


# -- values ----------------------------------------------------------------------------------------


def bounded(value: Tensor | Bounded) -> Bounded:
    """A value as one of which dimensions may be open; all of a tensor's are known."""
    return value if isinstance(value, Bounded) else Bounded(value.array, {}, value.type)


def extents_of(value: Bounded) -> list[Extent]:
    """The extents of a value."""
    return [value.sizes.get(dim, n) for dim, n in enumerate(value.array.shape)]


def valid_along(size: Size, extent: int) -> Array:
    """Which of so many elements along a dimension count."""
    return array_of(np.arange(extent)) < size.count


def valid_in(value: Bounded, dims: Sequence[int] | None = None) -> Array | None:
    """Which elements count, as far as these dimensions decide it; broadcasts. None for all."""
    found: Array | None = None
    rank = value.array.rank
    for dim, size in value.sizes.items():
        if dims is None or dim in dims:
            extent = value.array.shape[dim]
            shape = [extent if each == dim else 1 for each in range(rank)]
            each = valid_along(size, extent).reshape(shape)
            found = each if found is None else found & each
    return found


def choose(condition: Array, yes: Array, no: Array) -> Array:
    """Elements of one of two arrays of a type, truth values included."""
    if yes.dtype != TRUTH:
        return condition.where(yes, no)
    return condition.where(yes.cast("ui8"), no.cast("ui8")).ne(0)


def fill(value: Bounded, number: float, dims: Sequence[int] | None = None) -> Array:
    """The array with a number where elements do not count."""
    valid = valid_in(value, dims)
    if valid is None:
        return value.array
    return choose(valid, value.array, value.array.fill(number, ()))


def edge(dtype: str, *, highest: bool) -> float:
    """The number above or below all others of a type."""
    if dtype == TRUTH:
        return highest
    if "f" in dtype:
        return math.inf if highest else -math.inf
    limits = np.iinfo(host_dtype(dtype))
    return int(limits.max if highest else limits.min)


def resize(array: Array, dim: int, extent: int) -> Array:
    """An array with its first elements along a dimension, or with further ones of 0."""
    missing = extent - array.shape[dim]
    if missing <= 0:
        return array.cut(dim, 0, extent)
    shape = [missing if each == dim else n for each, n in enumerate(array.shape)]
    zeros = array_of(np.zeros(shape, np.int8), array.dtype)
    return concatenate([array, zeros], dim) if array.shape[dim] else zeros


def stretch(array: Array, dim: int, size: Size, extent: Extent) -> Array:
    """A dimension broadcast to an extent: it has as many elements, or only one."""
    most = most_of(extent)
    whole = resize(array, dim, most)
    if are_same(size, extent) or size.least > 1 or not array.shape[dim]:
        return whole
    return choose(size.count.eq(1), array.cut(dim, 0, 1), whole)


def join(sizes: Sequence[Size]) -> Size:
    """The size of what tensors of several sizes have when they are broadcast."""
    found, *others = sizes
    for each in others:
        if not are_same(found, each):
            count = found.count.eq(1).where(each.count, found.count)
            most = max(found.most, each.most)
            found = Size(count, most, min(found.least, each.least))
    return found


def align(values: Sequence[Bounded]) -> tuple[list[Array], dict[int, Size]]:
    """Arrays that broadcast together, and the sizes of what is computed of them."""
    arrays = [each.array for each in values]
    rank = max((each.rank for each in arrays), default=0)
    sizes: dict[int, Size] = {}
    for dim in range(rank):
        here = [(n, dim - rank + each.array.rank) for n, each in enumerate(values)]
        held = [(n, at) for n, at in here if at >= 0 and at in values[n].sizes]
        if not held:
            continue
        known = [arrays[n].shape[at] for n, at in here if at >= 0 and (n, at) not in held]
        extent: Extent | None = next((each for each in known if each != 1), None)
        if extent is None:
            extent = sizes[dim] = join([values[n].sizes[at] for n, at in held])
        for n, at in held:
            arrays[n] = stretch(arrays[n], at, values[n].sizes[at], extent)
    return arrays, sizes


def unify(a: Value, b: Value) -> tuple[Value, Value] | None:
    """Two values with extents and sizes of the same dimensions; None if they differ in more."""
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        pairs = [unify(*each) for each in zip(a, b, strict=True)]
        found = [each for each in pairs if each is not None]
        if len(found) < len(pairs):
            return None
        return [first for first, _ in found], [second for _, second in found]
    if a is None and b is None:
        return None, None
    if not isinstance(a, Tensor | Bounded) or not isinstance(b, Tensor | Bounded):
        return None
    if a.type != b.type or a.array.rank != b.array.rank:
        return None
    values = bounded(a), bounded(b)
    arrays, sizes = [a.array, b.array], [dict[int, Size](), dict[int, Size]()]
    for dim, pair in enumerate(zip(*map(extents_of, values), strict=True)):
        most, least = max(map(most_of, pair)), min(map(least_of, pair))
        if all(isinstance(each, int) for each in pair) and most == least:
            continue
        for number, extent in enumerate(pair):
            arrays[number] = resize(arrays[number], dim, most)
            sizes[number][dim] = Size(count_of(extent), most, least)
    if not sizes[0]:
        return a, b
    first, second = (Bounded(*each, a.type) for each in zip(arrays, sizes, strict=True))
    return first, second


# -- compacting ------------------------------------------------------------------------------------


def compact(array: Array, dim: int, mask: Array) -> tuple[Array, Size]:
    """The elements along a dimension that a mask chooses, in order, and how many they are."""
    size = size_of_mask(mask)
    order = indexing.find_chosen(mask, mask.shape[0]).limit(low=0)
    return indexing.take(array, dim, order), size


def flatten(value: Bounded) -> tuple[Array, Extent]:
    """All elements that count, in order, and how many they are."""
    array, shape = value.array, value.array.shape
    flat = array.reshape((math.prod(shape),))
    lead = next((dim for dim, n in enumerate(shape) if n != 1), 0)
    if not value.sizes or [*value.sizes] == [lead]:
        return flat, multiply(extents_of(value))
    valid = valid_in(value)
    assert valid is not None, "one of the dimensions is open"
    return compact(flat, 0, valid.broadcast(shape).reshape(flat.shape))


# -- numbers that shapes depend on -----------------------------------------------------------------


def counted(extents: Sequence[Extent], shape: Sequence[int] | None = None) -> Counted:
    """Extents as a tensor."""
    parts = [count_of(each).reshape((1,)) for each in extents]
    array = concatenate(parts, 0) if parts else array_of(np.zeros(0, np.int64))
    array = array.reshape((len(parts),) if shape is None else shape)
    return Counted(array, "INT64", tuple(extents))


def entries_of(tensor: Tensor) -> tuple[Extent, ...] | None:
    """What is known of the whole numbers in a tensor; None if nothing is."""
    if isinstance(tensor, Counted):
        return tensor.entries
    array = tensor.array
    if array.carrier.holds_numbers:
        return tuple(map(int, array.value.reshape(-1).tolist()))
    most = _most_true(array.value) if math.prod(array.shape) == 1 else None
    return None if most is None else (Size(array.cast("i64").reshape(()), most),)


_VIEWS = ("ttir.reshape", "ttir.typecast")


def _most_true(value: SSAValue) -> int | None:
    """How many truth values a number is the sum of, if it is one."""
    owner = _behind_views(value).owner
    if not isinstance(owner, Operation) or owner.name != "ttir.sum":
        return None
    summed = _behind_views(owner.operands[0])
    is_truth = dtype_of(element_type(summed)) == TRUTH
    return math.prod(value_shape(summed)) if is_truth else None


def _behind_views(value: SSAValue) -> SSAValue:
    """What a value is a reshaped or cast one of, down to truth values."""
    while isinstance(owner := value.owner, Operation) and owner.name in _VIEWS:
        if dtype_of(element_type(value)) == TRUTH:
            break
        value = owner.operands[0]
    return value
