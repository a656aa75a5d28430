"""Operators on tensors whose sizes are known only when the model runs, and on such sizes.

    y = x[mask]; y.mean()        all elements of x that there can be, and how many of them count

Elementwise operators compute all elements, whether they count or not; sums and the like leave out
those that do not count. What counts comes first along each dimension, so that results are cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import indexing
from ttmlir.frontend.onnx.bounded import (
    Extent,
    align,
    are_same,
    bounded,
    choose,
    compact,
    count_of,
    counted,
    edge,
    entries_of,
    extents_of,
    fill,
    flatten,
    join,
    least_of,
    make,
    most_of,
    multiply,
    resize,
    stretch,
    valid_along,
    valid_in,
)
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.frontend.onnx.elements import Bounded, Counted, Size, Tensor, Value
from ttmlir.frontend.onnx.rules import (
    control,
    elementwise,
    reduction,
    selection,
    sequences,
)
from ttmlir.optable.op_definition import broadcast_shape

Handler = Callable[[Call, Rule], Any]
"""What an operator gives of bounded tensors; the rule is that of tensors."""


def apply(call: Call, rule: Rule) -> Any:
    """What an operator gives: by its rule, unless inputs are bounded or sizes."""
    if call.operator in _OWN:
        return rule(call)
    call = _with_sums(call)
    values = [value for _, value in _values(call)]
    is_bounded = any(isinstance(each, Bounded) for each in values)
    if not is_bounded and not any(isinstance(each, Counted) for each in values):
        return rule(call)
    handler = _HANDLERS.get(call.operator)
    deciding = [call.inputs.get(name) for name in _BY_SIZES.get(call.operator, ())]
    if handler is not None and (is_bounded or any(isinstance(each, Counted) for each in deciding)):
        return handler(call, rule)
    if not is_bounded:
        return _compute_sizes(call, rule)
    name, value = next(each for each in _values(call) if isinstance(each[1], Bounded))
    assert isinstance(value, Bounded)
    call.refuse_bounded(name, value)


def _values(call: Call) -> Iterator[tuple[str, Value]]:
    """The inputs with their names, and the items of lists."""
    for name, value in call.inputs.items():
        if isinstance(value, list):
            yield from ((name, each) for each in cast("list[Value]", value))
        else:
            yield name, value


def _with(call: Call, **inputs: Array | Value | list[Value]) -> Call:
    """A call with other inputs."""
    given: dict[str, Any] = {**call.inputs}
    for name, value in inputs.items():
        if isinstance(value, Array):
            old = given[name]
            value = Tensor(value, old.type)
        given[name] = value
    return replace(call, inputs=given)


def _bind(found: Any, sizes: Mapping[int, Size]) -> Any:
    """The results of a rule with sizes."""
    if isinstance(found, tuple):
        return tuple(_bind(each, sizes) for each in cast("tuple[Any, ...]", found))
    if isinstance(found, Tensor):
        bound = make(found.array, sizes)
        if isinstance(bound, Bounded):
            return replace(bound, type=found.type)
        return Tensor(bound, found.type)
    return make(found, sizes)


# -- sizes as numbers ------------------------------------------------------------------------------


def _with_sums(call: Call) -> Call:
    """A call whose numbers of elements that are sums of truth values are bounded by those."""
    names = _BY_SIZES.get(call.operator, ())
    found: dict[str, Value] = {}
    for name in names:
        value = call.inputs.get(name)
        if isinstance(value, Tensor) and not isinstance(value, Counted):
            entries = entries_of(value)
            if entries is not None and not value.array.carrier.holds_numbers:
                found[name] = Counted(value.array, value.type, entries)
    return _with(call, **found) if found else call


def _read_extents(call: Call, name: str) -> list[Extent] | None:
    """Whole numbers of an attribute or an input, which may be sizes; None if it is missing."""
    if call.attributes.get(name) is None and call.has(name):
        entries = entries_of(call.tensor(name))
        if entries is not None:
            return [*entries]
    found = call.integers(name)
    return None if found is None else [*found]


def _compute_sizes(call: Call, rule: Rule) -> Any:
    """What an operator gives for sizes, with what is known of its elements."""
    if call.operator in _MOVES:
        return _move_sizes(call, rule)
    found = rule(call)
    array = found.array if isinstance(found, Tensor) else found
    if call.operator not in (*_COMPUTED, *_COMPARED) or not isinstance(array, Array):
        return found
    entries = [
        entries_of(value) if isinstance(value, Tensor) else None
        for name, value in _values(call)
        if value is not None and name != "axes"
    ]
    if any(each is None for each in entries):
        return found
    low, high = _limits(call, rule)
    if low is None or high is None:
        return found
    if call.operator in _COMPARED:
        return array_of(low) if np.array_equal(low, high) else found
    flat = array.reshape((low.size,)).cast("i64")
    known: list[Extent] = [
        a if a == b else Size(flat.cut(0, n, n + 1).reshape(()), b, a)
        for n, (a, b) in enumerate(
            zip(low.reshape(-1).tolist(), high.reshape(-1).tolist(), strict=True)
        )
    ]
    type_ = next(value.type for _, value in _values(call) if isinstance(value, Tensor))
    return Counted(array, type_, tuple(known))


def _limits(call: Call, rule: Rule) -> tuple[Any, Any]:
    """The least and the largest numbers that an operator can give; None if nothing is known."""

    def at(*are_most: bool) -> Any:
        """With each input at its least or largest numbers; the last flag is that of all others."""
        given: dict[str, Any] = {**call.inputs}
        place = 0
        for name, value in call.inputs.items():
            items = cast("list[Any]", value) if isinstance(value, list) else [value]
            new: list[Any] = []
            for item in items:
                if item is None or name == "axes":
                    new.append(item)
                    continue
                is_most = are_most[min(place, len(are_most) - 1)]
                place += 1
                new.append(_at_limit(cast("Tensor", item), is_most=is_most))
            given[name] = new if isinstance(value, list) else new[0]
        found = rule(replace(call, inputs=given))
        return (found.array if isinstance(found, Tensor) else found).value

    least = [
        min(map(least_of, entries_of(value) or (0,)), default=0)
        for name, value in _values(call)
        if isinstance(value, Tensor) and name != "axes"
    ]
    if call.operator == "Equal":
        return _limits_of_equal(call)
    is_known = call.operator != "ReduceProd" or least[0] >= 0
    if not is_known or (call.operator == "Div" and least[1] <= 0):
        return None, None
    corners = [at(a, b) for a in (False, True) for b in (False, True)]
    if call.operator in _COMPARED:
        return np.logical_and.reduce(corners), np.logical_or.reduce(corners)
    return np.minimum.reduce(corners), np.maximum.reduce(corners)


def _limits_of_equal(call: Call) -> tuple[Any, Any]:
    """Whether sizes are certainly, and whether they may be, equal."""
    a, b = call.tensor("A"), call.tensor("B")
    low_a, high_a, low_b, high_b = (
        _at_limit(each, is_most=is_most).array.value for each in (a, b) for is_most in (False, True)
    )
    may = (low_a <= high_b) & (low_b <= high_a)
    return may & (low_a == high_a) & (low_b == high_b), may


def _at_limit(value: Tensor, *, is_most: bool) -> Tensor:
    """A tensor with the least or largest numbers that its elements can be."""
    entries = entries_of(value)
    assert entries is not None, "what is not known was left out"
    limits = [most_of(each) if is_most else least_of(each) for each in entries]
    shape = value.array.shape
    return Tensor(
        array_of(np.array(limits, np.int64).reshape(shape), value.array.dtype), value.type
    )


def _move_sizes(call: Call, rule: Rule) -> Any:
    """What an operator gives that moves sizes: which of them stands where."""
    found = rule(call)
    names = _MOVES[call.operator]
    table: list[Extent | None] = []
    given: dict[str, Any] = {**call.inputs}

    def numbered(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        first, count = len(table), math.prod(value.array.shape)
        table.extend(entries_of(value) or [None] * count)
        numbers = np.arange(first, first + count).reshape(value.array.shape)
        return Tensor(array_of(numbers, "i64"), "INT64")

    for name in names:
        value = given[name]
        if isinstance(value, list):
            given[name] = [numbered(each) for each in cast("list[Any]", value)]
        else:
            given[name] = numbered(value)
    others = [value for name, value in given.items() if name not in names]
    if any(isinstance(each, Tensor) and not each.array.carrier.holds_numbers for each in others):
        return found
    moved = rule(replace(call, inputs=given))
    pairs = zip(_listed(found), _listed(moved), strict=True)
    type_ = next(value.type for _, value in _values(call) if isinstance(value, Counted))
    results = [_renamed(a, b, table, type_) for a, b in pairs]
    return tuple(results) if isinstance(found, tuple) else results[0]


def _listed(found: Any) -> Sequence[Any]:
    return cast("tuple[Any, ...]", found) if isinstance(found, tuple) else (found,)


def _renamed(found: Any, moved: Any, table: Sequence[Extent | None], type_: str) -> Any:
    """A result with the sizes at the places that numbers say."""
    array: Array = found.array if isinstance(found, Tensor) else found
    type_ = found.type if isinstance(found, Tensor) else type_
    numbers: Array = moved.array if isinstance(moved, Tensor) else moved
    if not type_.startswith(("INT", "UINT")):
        return found
    places: list[int] = numbers.value.reshape(-1).tolist()
    entries = [table[each] for each in places]
    if any(each is None for each in entries):
        return found
    sizes = tuple(each for each in entries if each is not None)
    if all(isinstance(each, int) for each in sizes):
        return Tensor(array_of(np.array(sizes).reshape(array.shape), array.dtype), type_)
    return Counted(array, type_, sizes)


_MOVES: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("Gather", "GatherElements", "GatherND", "Slice", "Squeeze"), ("data",)),
    **dict.fromkeys(("Unsqueeze", "Reshape", "Transpose"), ("data",)),
    **dict.fromkeys(("Cast", "Expand", "Flatten", "Identity", "Split", "Tile"), ("input",)),
    "Concat": ("inputs",),
    "Where": ("X", "Y"),
}
"""Operators that move sizes, and the inputs that these stand in."""
_COMPUTED = (
    *("Add", "Div", "Max", "Min", "Mul", "Neg", "ReduceMax", "ReduceMin", "ReduceProd"),
    *("ReduceSum", "Sub", "Sum"),
)
"""Operators that are least and largest where their inputs are."""
_COMPARED = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")

_BY_SIZES: Mapping[str, Sequence[str]] = {
    "ConstantOfShape": ("input",),
    "Expand": ("shape",),
    "Pad": ("pads",),
    "Range": ("start", "limit"),
    "Reshape": ("shape",),
    "Slice": ("starts", "ends"),
    "Split": ("split",),
    "Tile": ("repeats",),
    "TopK": ("K",),
}
"""Operators whose shapes sizes may decide, and the inputs that these are."""

# -- each element ----------------------------------------------------------------------------------


def _elementwise(call: Call, rule: Rule) -> Any:
    if call["broadcast"]:
        return _keep(call, rule)
    taken = [
        (name, value)
        for name, value in _values(call)
        if isinstance(value, Tensor | Bounded) and name != "target_type"
    ]
    arrays, sizes = align([bounded(value) for _, value in taken])
    rest = iter(arrays)
    given: dict[str, Any] = {}
    for name, value in call.inputs.items():
        if isinstance(value, list):
            given[name] = [Tensor(next(rest), cast("Any", each).type) for each in value]
        elif value is None:
            given[name] = None
        elif name == "target_type":
            given[name] = Tensor(value.array, value.type)
        else:
            given[name] = Tensor(next(rest), value.type)
    found = _bind(rule(replace(call, inputs=given)), sizes)
    first = taken[0][1]
    if call.operator == "Cast" and isinstance(first, Bounded) and isinstance(found, Bounded):
        is_place = found.type in ("INT32", "INT64")
        one = None if first.one is None else first.one.cast(found.array.dtype)
        return replace(found, one=one, places=first.places if is_place else None)
    return found


def _identity(call: Call, rule: Rule) -> Value:
    del rule
    value = call.inputs["input"]
    return cast("Value", value)


def _keep(call: Call, rule: Rule) -> Any:
    """An operator of slices along dimensions that do not count."""
    name, value = _first(call)
    return _bind(rule(_with(call, **{name: value.array})), value.sizes)


def _first(call: Call) -> tuple[str, Bounded]:
    """The first input, the only one that is bounded."""
    name, value = next(iter(call.inputs.items()))
    for other, each in _values(call):
        if other != name and isinstance(each, Bounded):
            call.refuse_bounded(other, each)
    assert isinstance(value, Bounded), "another one would have been refused"
    return name, value


def _filled(number: Callable[[str], float]) -> Handler:
    """An operator along dimensions, to which a number makes no difference."""

    def handler(call: Call, rule: Rule) -> Any:
        name, value = _first(call)
        filled = fill(value, number(value.array.dtype))
        return _bind(rule(_with(call, **{name: filled})), value.sizes)

    return handler


def _normalize(call: Call, rule: Rule) -> Any:
    """Norms of slices from a dimension on, or of all but the first ones."""
    name, value = _first(call)
    rank = value.array.rank
    axis = call["axis"]
    first = (-1 if axis is None else int(axis)) % rank
    if call.operator in ("InstanceNormalization", "GroupNormalization"):
        first = 1
    if call.operator == "BatchNormalization":
        first = rank if 1 not in value.sizes else 1
    if any(dim >= first for dim in value.sizes):
        call.refuse_bounded(name, value)
    return _bind(rule(_with(call, **{name: value.array})), value.sizes)


def _batched(call: Call, rule: Rule) -> Any:
    """An operator of each item of a batch."""
    given: dict[str, Any] = {**call.inputs}
    held = {name: value for name, value in call.inputs.items() if isinstance(value, Bounded)}
    sizes = [value.sizes[0] for value in held.values() if [*value.sizes] == [0]]
    if len(sizes) != len(held):
        name, value = next((n, v) for n, v in held.items() if [*v.sizes] != [0])
        call.refuse_bounded(name, value)
    size = join(sizes)
    for name, value in held.items():
        array = stretch(fill(value, 0), 0, value.sizes[0], size)
        given[name] = Tensor(array, value.type)
    return _bind(rule(replace(call, inputs=given)), {0: size})


# -- products --------------------------------------------------------------------------------------


def _multiply(call: Call, rule: Rule) -> Any:
    a, b = (selection.read(call, name) for name in ("A", "B"))
    along = a.array.rank - 1, max(b.array.rank - 2, 0)
    a, b = _contract(a, b, *along)
    sizes: dict[int, Size] = {}
    rank = max(a.array.rank, b.array.rank)
    for value, other in ((a, b), (b, a)):
        for dim, size in value.sizes.items():
            place = dim + rank - value.array.rank
            at = place - (rank - other.array.rank)
            is_batch = place < rank - 2 and at >= 0
            if is_batch and other.array.shape[at] != 1:
                if at not in other.sizes or not are_same(other.sizes[at], size):
                    call.refuse_bounded("A", a)
            sizes[place] = size
    if a.array.rank == 1 or b.array.rank == 1:
        # One of the last two dimensions is left out.
        sizes = {dim - (dim == rank - 1 and a.array.rank == 1): n for dim, n in sizes.items()}
    return _bind(rule(_with(call, A=a.array, B=b.array)), sizes)


def _contract(a: Bounded, b: Bounded, of_a: int, of_b: int) -> tuple[Bounded, Bounded]:
    """Factors that have 0 where dimensions that are summed do not count."""
    if of_a not in a.sizes and of_b not in b.sizes:
        return a, b
    extent = min(a.array.shape[of_a], b.array.shape[of_b])
    found: list[Bounded] = []
    for value, dim in ((a, of_a), (b, of_b)):
        array = resize(fill(value, 0, [dim]), dim, extent)
        sizes = {each: size for each, size in value.sizes.items() if each != dim}
        found.append(Bounded(array, sizes, value.type))
    return found[0], found[1]


def _gemm(call: Call, rule: Rule) -> Any:
    a, b = (selection.read(call, name) for name in ("A", "B"))
    row, column = int(bool(call["transA"])), 1 - int(bool(call["transB"]))
    a, b = _contract(a, b, 1 - row, 1 - column)
    sizes = {
        dim: value.sizes[at]
        for dim, value, at in ((0, a, row), (1, b, column))
        if at in value.sizes
    }
    call = _with(call, A=a.array, B=b.array)
    bias = call.inputs.get("C")
    if isinstance(bias, Bounded):
        shape, array = (a.array.shape[row], b.array.shape[column]), bias.array
        for dim in bias.sizes:
            at = dim + 2 - array.rank
            array = stretch(array, dim, bias.sizes[dim], sizes.get(at, shape[at]))
        call = _with(call, C=array)
    return _bind(rule(call), sizes)


# -- reductions ------------------------------------------------------------------------------------


def _reduced(number: Callable[[str], float]) -> Handler:
    """A reduction to which a number makes no difference."""

    def handler(call: Call, rule: Rule) -> Any:
        value = selection.read(call, "data")
        rank, axes = value.array.rank, call.integers("axes")
        if not axes and call["noop_with_empty_axes"]:
            return _keep(call, rule)
        dims = call.dims(rank, axes) if axes else tuple(range(rank))
        array = fill(value, number(value.array.dtype), dims)
        if call.operator == "ReduceMean":
            found = reduction.RULES["ReduceSum"](_with(call, data=array))
            count = multiply([extents_of(value)[dim] for dim in dims])
            divisor = count_of(count).cast(found.dtype)
            found = found / (divisor if found.is_real else divisor.maximum(1))
        else:
            found = rule(_with(call, data=array))
        return _bind(found, _without(value.sizes, dims, keep=bool(call["keepdims"])))

    return handler


def _without(sizes: Mapping[int, Size], dims: Sequence[int], *, keep: bool) -> dict[int, Size]:
    """The sizes of what is left when dimensions are reduced."""
    return {
        dim if keep else dim - sum(each < dim for each in dims): size
        for dim, size in sizes.items()
        if dim not in dims
    }


def _place_of_extreme(call: Call, rule: Rule) -> Any:
    value = selection.read(call, "data")
    dim = call.dim(value.array.rank, default=0)
    number = edge(value.array.dtype, highest=call.operator == "ArgMin")
    found: Array = rule(_with(call, data=fill(value, number, [dim])))
    if dim in value.sizes and call["select_last_index"]:
        # Where all elements are the least there is, those that do not count are, too.
        found = found.minimum((value.sizes[dim].count - 1).reshape((1,) * found.rank))
    return _bind(found, _without(value.sizes, [dim], keep=bool(call["keepdims"])))


def _top_k(call: Call, rule: Rule) -> Any:
    value = selection.read(call, "X")
    dim = call.dim(value.array.rank, default=-1)
    is_largest = call["largest"] is None or bool(call["largest"])
    array = fill(value, edge(value.array.dtype, highest=not is_largest), [dim])
    given = _read_extents(call, "K") if call.has("K") else [int(call.required("k"))]
    if given is None or len(given) != 1:
        call.refuse("K has to be one number")
    count = given[0]
    most = most_of(count) if isinstance(count, int) else min(most_of(count), array.shape[dim])
    known = Tensor(array_of(np.array([most])), "INT64")
    inner = _with(call, X=array)
    if call.has("K"):
        inner = _with(inner, K=known)
    sizes = {each: size for each, size in value.sizes.items() if each != dim}
    if not isinstance(count, int):
        sizes[dim] = count
    return _bind(rule(inner), sizes)


# -- shapes ----------------------------------------------------------------------------------------


def _shape(call: Call, rule: Rule) -> Value:
    del rule
    value = selection.read(call, "data")
    return counted(extents_of(value)[slice(call["start"] or 0, call["end"])])


def _size(call: Call, rule: Rule) -> Value:
    del rule
    return counted([multiply(extents_of(selection.read(call, "data")))], ())


def _transpose(call: Call, rule: Rule) -> Any:
    value = selection.read(call, "data")
    rank = value.array.rank
    order = list(call["perm"] or range(rank)[::-1])
    found = rule(_with(call, data=value.array))
    places = value.places if order == [1, 0] else None
    if places is not None:
        places = places[0], not places[1]
    sizes = {order.index(dim): size for dim, size in value.sizes.items()}
    return make(found, sizes, places=places)


def _unsqueeze(call: Call, rule: Rule) -> Any:
    value = selection.read(call, "data")
    axes = call.integers("axes") or ()
    rank = value.array.rank + len(axes)
    dims = call.dims(rank, axes)
    rest = [dim for dim in range(rank) if dim not in dims]
    sizes = {rest[dim]: size for dim, size in value.sizes.items()}
    return _bind(rule(_with(call, data=value.array)), sizes)


def _squeeze(call: Call, rule: Rule) -> Any:
    value = selection.read(call, "data")
    array, axes = value.array, call.integers("axes")
    if axes is None:
        call.refuse(
            f"the input 'data' is {value.describe()}: which extents are 1 is known only when the "
            "model runs; give it axes"
        )
    dims = call.dims(array.rank, axes)
    for dim in dims:
        if dim in value.sizes:
            array = array.cut(dim, 0, 1)
    return _bind(rule(_with(call, data=array)), _without(value.sizes, dims, keep=False))


def _flatten(call: Call, rule: Rule) -> Any:
    del rule
    value = selection.read(call, "input")
    axis = int(call["axis"])
    if not -value.array.rank <= axis <= value.array.rank:
        call.refuse(f"axis is {axis}; the tensor has {value.array.rank} dimensions")
    extents = extents_of(value)
    axis = axis + value.array.rank if axis < 0 else axis
    return _view(call, value, [multiply(extents[:axis]), multiply(extents[axis:])])


def _reshape(call: Call, rule: Rule) -> Any:
    del rule
    value = selection.read(call, "data")
    extents, target = extents_of(value), _read_extents(call, "shape") or []
    if not call["allowzero"]:
        if any(each == 0 and n >= len(extents) for n, each in enumerate(target)):
            call.refuse("the shape has a 0 for a dimension that the tensor has not")
        target = [extents[n] if each == 0 else each for n, each in enumerate(target)]
    if target.count(-1) > 1:
        call.refuse("the shape has several extents of -1")
    found = _view(call, value, target)
    if value.one is not None and isinstance(found, Bounded):
        return replace(found, one=value.one)
    return found


def _view(call: Call, value: Bounded, target: Sequence[Extent]) -> Array | Bounded:
    """The elements that count in another shape, of which an extent may be -1."""
    source = extents_of(value)
    first = 0
    while first < min(len(source), len(target)) and are_same(source[first], target[first]):
        first += 1
    last = 0
    while last < min(len(source), len(target)) - first and are_same(
        source[-1 - last], target[-1 - last]
    ):
        last += 1
    ends = len(source) - last, len(target) - last
    before, after = source[first : ends[0]], [*target[first : ends[1]]]
    lead = next((n for n, each in enumerate(before) if each != 1), 0)
    if all(isinstance(each, int) for n, each in enumerate(before) if n != lead):
        shape = value.array.shape
        whole = value.array.reshape(
            (*shape[:first], math.prod(shape[first : ends[0]]), *shape[ends[0] :])
        )
        found = _split_first(call, whole, first, multiply(before), after)
        if found is not None:
            array, size = found
            moved = len(target) - len(source)
            sizes = {
                dim if dim < first else dim + moved: each
                for dim, each in value.sizes.items()
                if not first <= dim < ends[0]
            }
            return make(array, {**sizes, **{first + n: each for n, each in size.items()}})
    flat, total = flatten(value)
    if first or last or value.array.rank != 1:
        found = _split_first(call, flat, 0, total, target)
        if found is not None:
            return make(*found)
    return _place_elements(call, flat, total, target)


def _split_first(
    call: Call, array: Array, dim: int, total: Extent, target: Sequence[Extent]
) -> tuple[Array, dict[int, Size]] | None:
    """A dimension as several, of which all but the first of other extents than 1 are known.

    With the sizes of those; None for others.
    """
    lead = next((n for n, each in enumerate(target) if each != 1), None)
    rest = target[0 if lead is None else lead + 1 :]
    if any(not isinstance(each, int) or each < 0 for each in rest):
        return _split_known(array, dim, total, target)
    width = math.prod(cast("Sequence[int]", rest))
    extent: Extent = 1 if lead is None else target[lead]
    if not width:
        return None
    most, sizes = array.shape[dim] // width, dict[int, Size]()
    if extent == -1:
        extent = _divide(total, width)
    if isinstance(extent, int):
        if isinstance(total, int) and total != extent * width:
            call.refuse(f"the {total} elements do not fit the shape {[*map(most_of, target)]}")
        most = extent
    else:
        assert lead is not None, "an extent of 1 is known"
        most = min(most, extent.most)
        sizes[lead] = extent
    parts = [*(1 for _ in range(lead or 0)), most, *rest] if lead is not None else [1] * len(target)
    found = resize(array, dim, most * width)
    shape = (*found.shape[:dim], *map(most_of, parts), *found.shape[dim + 1 :])
    return found.reshape(shape), sizes


def _split_known(
    array: Array, dim: int, total: Extent, target: Sequence[Extent]
) -> tuple[Array, dict[int, Size]] | None:
    """A dimension whose extent is known as several that are known, too, but for one of -1."""
    if not isinstance(total, int) or not all(isinstance(each, int) for each in target):
        return None
    extents = cast("Sequence[int]", target)
    rest = math.prod(each for each in extents if each != -1)
    if not rest or total % rest:
        return None
    shape = [total // rest if each == -1 else each for each in extents]
    if math.prod(shape) != total:
        return None
    return array.reshape((*array.shape[:dim], *shape, *array.shape[dim + 1 :])), {}


def _divide(total: Extent, width: int) -> Extent:
    if isinstance(total, int):
        return total // width
    if width == 1:
        return total
    return Size(total.count / width, total.most // width, total.least // width)


def _place_elements(
    call: Call, flat: Array, total: Extent, target: Sequence[Extent]
) -> Array | Bounded:
    """Elements in a shape of which several extents are open, or one after the first."""
    open_ = [n for n, each in enumerate(target) if isinstance(each, int) and each == -1]
    extents = [*target]
    for n in open_:
        others = multiply([each for m, each in enumerate(target) if m != n])
        count = count_of(total) / count_of(others).maximum(1)
        extents[n] = Size(count, most_of(total) // max(least_of(others), 1))
    shape = [most_of(each) for each in extents]
    call.check_size(shape, flat.dtype)
    if 0 in shape or not flat.shape[0]:
        return make(array_of(np.zeros(shape, np.int8), flat.dtype), _open(extents))
    place = array_of(np.zeros((1,) * len(shape), np.int64))
    step = array_of(np.array(1, np.int64))
    for dim in reversed(range(len(shape))):
        own = [n if each == dim else 1 for each, n in enumerate(shape)]
        place = place + array_of(np.arange(shape[dim]).reshape(own)) * step
        step = step * count_of(extents[dim])
    found = indexing.take(flat, 0, place.broadcast(shape).limit(0, flat.shape[0] - 1))
    return make(found, _open(extents))


def _open(extents: Sequence[Extent]) -> dict[int, Size]:
    return {dim: each for dim, each in enumerate(extents) if not isinstance(each, int)}


def _expand(call: Call, rule: Rule) -> Any:
    del rule
    value, target = selection.read(call, "input"), _read_extents(call, "shape") or []
    shape = [most_of(each) for each in target]
    call.check_size(shape, value.array.dtype)
    like = Bounded(array_of(np.broadcast_to(np.int8(0), shape)), _open(target))
    (array, other), sizes = align([value, like])
    found = array.broadcast(broadcast_shape(array.shape, other.shape))
    is_one = not value.sizes and math.prod(value.array.shape) == 1
    return make(found, sizes, one=value.array.reshape(()) if is_one else value.one)


def _constant_of_shape(call: Call, rule: Rule) -> Any:
    extents = _read_extents(call, "input") or []
    known = Tensor(array_of(np.array([most_of(each) for each in extents], np.int64)), "INT64")
    found = _bind(rule(_with(call, input=known)), _open(extents))
    return (
        replace(found, one=found.array.fill(_value_of(call), ()))
        if isinstance(found, Bounded)
        else found
    )


def _value_of(call: Call) -> float:
    value = call["value"]
    return 0 if value is None else value.array.value.reshape(-1)[0].item()


def _range(call: Call, rule: Rule) -> Any:
    del rule
    start, limit = (_read_extents(call, name) for name in ("start", "limit"))
    step = int(call.number("delta"))
    if start is None or limit is None or not step:
        call.refuse("start and limit have to be given, and delta is another number than 0")
    dtype = call.tensor("start").array.dtype
    first, last = start[0], limit[0]
    if step < 0:
        first, last = last, first
    width = abs(step)

    def number(distance: int) -> int:
        return max(0, -(-distance // width))

    count = ((count_of(last) - count_of(first) + (width - 1)) / width).maximum(0)
    most = number(most_of(last) - least_of(first))
    size = Size(count, most, number(least_of(last) - most_of(first)))
    call.check_size((most,), dtype)
    found = array_of(np.arange(most, dtype=np.int64) * step) + count_of(start[0])
    return make(found.cast(dtype), {0: size})


def _tile(call: Call, rule: Rule) -> Any:
    del rule
    value, counts = selection.read(call, "input"), _read_extents(call, "repeats") or []
    array, extents = value.array, extents_of(value)
    if len(counts) != array.rank:
        call.refuse(f"repeats has {len(counts)} numbers; the tensor has {array.rank} dimensions")
    sizes = dict(value.sizes)
    for dim, (extent, count) in enumerate(zip(extents, counts, strict=True)):
        if count == 1:
            continue
        whole = multiply([extent, count])
        shape = [most_of(whole) if each == dim else n for each, n in enumerate(array.shape)]
        call.check_size(shape, array.dtype)
        if not array.shape[dim]:
            continue
        place = array_of(np.arange(most_of(whole)))
        place = place.remainder(count_of(extent).maximum(1))
        array = indexing.take(array, dim, place)
        sizes.pop(dim, None)
        sizes.update({dim: whole} if isinstance(whole, Size) else {})
    return make(array, sizes)


# -- parts -----------------------------------------------------------------------------------------


def _concat(call: Call, rule: Rule) -> Any:
    del rule
    parts = [bounded(cast("Tensor", value)) for _, value in _values(call)]
    return join_parts(call, parts, call.dim(parts[0].array.rank, default=1))


def _concat_sequence(call: Call, rule: Rule) -> Any:
    del rule
    parts = [bounded(cast("Tensor", value)) for _, value in _values(call)]
    rank = parts[0].array.rank
    dim = call.dim(rank + bool(call["new_axis"]))
    if call["new_axis"]:
        for n, each in enumerate(parts):
            sizes = {own + (own >= dim): size for own, size in each.sizes.items()}
            parts[n] = Bounded(each.array.unsqueeze(dim), sizes, each.type)
    found = join_parts(call, parts, dim)
    bound = bounded_of(found, parts[0].type)
    return replace(bound, type=parts[0].type) if bound.sizes else Tensor(bound.array, bound.type)


def join_parts(call: Call, parts: Sequence[Bounded], dim: int) -> Array | Bounded:
    """Values one after the other along a dimension."""
    if len({each.array.rank for each in parts}) > 1:
        call.refuse("the tensors have different numbers of dimensions")
    arrays = [each.array for each in parts]
    sizes: dict[int, Size] = {}
    for other in range(arrays[0].rank):
        if other == dim:
            continue
        held = [each.sizes[other] for each in parts if other in each.sizes]
        known = {each.shape[other] for n, each in enumerate(arrays) if other not in parts[n].sizes}
        if len(known) > 1:
            call.refuse(f"the tensors differ in other dimensions than {dim}")
        extent = min([*known, *(size.most for size in held)])
        if held and not known:
            sizes[other] = held[0]
        arrays = [resize(each, other, extent) for each in arrays]
    extents = [each.sizes.get(dim, each.array.shape[dim]) for each in parts]
    whole = concatenate(arrays, dim)
    pairs = [(n, each) for n, each in zip(extents, arrays, strict=True) if each.shape[dim]]
    if not any(isinstance(n, Size) for n, _ in pairs[:-1]):
        if not pairs or isinstance(pairs[-1][0], int):
            return make(whole, sizes)
        last = pairs[-1][0]
        first = whole.shape[dim] - last.most
        size = Size(last.count + first, last.most + first, last.least + first) if first else last
        return make(whole, {**sizes, dim: size})
    masks = [
        valid_along(n, each.shape[dim]) if isinstance(n, Size) else array_of(np.ones(n, np.bool_))
        for n, each in pairs
    ]
    found, size = compact(whole, dim, _join_truth(masks))
    return make(found, {**sizes, dim: replace(size, least=sum(map(least_of, extents)))})


def _join_truth(masks: Sequence[Array]) -> Array:
    return concatenate([each.cast("i32") for each in masks], 0).ne(0)


def window(value: Bounded, dim: int, begin: Extent, size: Extent) -> Array | Bounded:
    """So many elements along a dimension, from a place on."""
    array, most = value.array, min(most_of(size), value.array.shape[dim])
    if isinstance(begin, int):
        found = resize(array.cut(dim, min(begin, array.shape[dim]), array.shape[dim]), dim, most)
    else:
        place = (array_of(np.arange(most)) + begin.count).limit(0, max(array.shape[dim] - 1, 0))
        found = indexing.take(array, dim, place) if most else array.cut(dim, 0, 0)
    sizes = {each: known for each, known in value.sizes.items() if each != dim}
    return make(found, sizes if isinstance(size, int) else {**sizes, dim: size})


def _split(call: Call, rule: Rule) -> Any:
    value = selection.read(call, "input")
    dim = call.dim(value.array.rank, default=0)
    sizes = _read_extents(call, "split")
    if dim not in value.sizes and (sizes is None or all(isinstance(n, int) for n in sizes)):
        inner = _with(call, input=value.array)
        return _bind(rule(inner), value.sizes)
    extent = extents_of(value)[dim]
    if sizes is None:
        parts = call["num_outputs"] or len(call.outputs)
        count = count_of(extent)
        share = (count + (parts - 1)) / parts if call.version >= 18 else count / parts
        most = -(-most_of(extent) // parts)
        sizes = [Size((count - share * n).maximum(0).minimum(share), most) for n in range(parts)]
    begin: Extent = 0
    found: list[Any] = []
    for size in sizes:
        found.append(window(value, dim, begin, size))
        ends = begin, size
        begin = (
            begin + size
            if isinstance(begin, int) and isinstance(size, int)
            else Size(count_of(begin) + count_of(size), sum(map(most_of, ends)))
        )
    return tuple(found)


def _slice(call: Call, rule: Rule) -> Any:
    del rule
    value = selection.read(call, "data")
    starts, ends = (_read_extents(call, name) or [] for name in ("starts", "ends"))
    axes = call.integers("axes")
    dims = call.dims(value.array.rank, tuple(range(len(starts))) if axes is None else axes)
    steps = call.integers("steps") or (1,) * len(starts)
    if not len(starts) == len(ends) == len(dims) == len(steps) or 0 in steps:
        call.refuse("starts, ends, axes and steps have to be as many, and steps other than 0")
    for dim, start, end, step in zip(dims, starts, ends, steps, strict=True):
        value = bounded_of(_cut(value, dim, start, end, step), value.type)
    return value if value.sizes else value.array


def bounded_of(found: Array | Bounded, type_: str) -> Bounded:
    """What a function here gives, as a value of which dimensions may be open."""
    return found if isinstance(found, Bounded) else Bounded(found, {}, type_)


def _cut(value: Bounded, dim: int, start: Extent, end: Extent, step: int) -> Array | Bounded:
    """Every step-th element from one place to another, as Python counts them."""
    array, extent = value.array, extents_of(value)[dim]
    sizes = {each: size for each, size in value.sizes.items() if each != dim}
    if isinstance(extent, int) and isinstance(start, int) and isinstance(end, int):
        places = range(*slice(start, end, step).indices(extent))
        found = indexing.take(array, dim, array_of(np.array(places, np.int64)))
        return make(found if places else array.cut(dim, 0, 0), sizes)
    count = count_of(extent)
    low, high = (0, count) if step > 0 else (-1, count - 1)

    def clamp(place: Extent) -> Array:
        """A place as Python's slices have it."""
        if isinstance(place, int) and (place >= 0 or place < -most_of(extent)):
            if place == 0 and step > 0:
                return array_of(np.array(0, np.int64))
            found = array_of(np.array(max(place, low), np.int64))
        else:
            found = count_of(place)
            found = (found < 0).where(found + count, found)
        return found.maximum(low).minimum(high)

    begin, stop = clamp(start), clamp(end)
    distance = stop - begin if step > 0 else begin - stop
    width = abs(step)
    number = ((distance + (width - 1)) / width).maximum(0)
    room, first = array.shape[dim], 0
    if isinstance(start, int) and start >= 0 and step > 0:
        first = min(start, room)
        last = min(most_of(end), room) if least_of(end) >= 0 else room
        found = array.cut(dim, first, max(last, first), step)
        return make(
            found, {**sizes, dim: _size_of_cut(number, found.shape[dim], extent, start, end, step)}
        )
    most = -(-room // width)
    place = (array_of(np.arange(most) * step) + begin).limit(0, max(room - 1, 0))
    found = indexing.take(array, dim, place) if most else array
    return make(found, {**sizes, dim: Size(number, most)})


def _size_of_cut(
    number: Array, most: int, extent: Extent, start: Extent, end: Extent, step: int
) -> Size:
    if start == 0 and step == 1 and isinstance(extent, Size) and isinstance(end, int):
        if end >= extent.most:
            return extent
    if start == 0 and step == 1 and isinstance(end, Size) and end.least >= 0:
        if end.most <= least_of(extent):
            return end
    return Size(number, most)


def _pad(call: Call, rule: Rule) -> Any:
    value = selection.read(call, "data")
    array = value.array
    pads, axes = _read_extents(call, "pads") or [], call.integers("axes")
    dims = call.dims(array.rank, tuple(range(array.rank)) if axes is None else axes)
    if len(pads) != 2 * len(dims):
        call.refuse(f"pads has {len(pads)} numbers; it has to have {2 * len(dims)}")
    margins = [(pads[n], pads[n + len(dims)]) for n in range(len(dims))]
    is_open = [
        dim in value.sizes or not all(isinstance(each, int) for each in pair)
        for dim, pair in zip(dims, margins, strict=True)
    ]
    known = [0 if is_open[n % len(dims)] else most_of(each) for n, each in enumerate(pads)]
    inner = _with(call, data=array)
    if call.has("pads"):
        inner = _with(inner, pads=Tensor(array_of(np.array(known, np.int64)), "INT64"))
    else:
        inner = replace(inner, attributes={**call.attributes, "pads": known})
    found: Array = rule(inner)
    sizes, extents = dict(value.sizes), extents_of(value)
    for dim, pair, opens in zip(dims, margins, is_open, strict=True):
        if not opens or all(isinstance(each, int) and each == 0 for each in pair):
            continue
        if call["mode"] not in (None, "constant") or min(map(least_of, pair)) < 0:
            call.refuse(
                "dimensions whose sizes are known only when the model runs are padded with one "
                "number alone, and not with fewer elements than they have"
            )
        low, high = pair
        whole = [low, extents[dim], high]
        most = sum(map(most_of, whole))
        place = array_of(np.arange(most)) - count_of(low)
        is_inside = (place >= 0) & (place < count_of(extents[dim]))
        shape = [most if each == dim else 1 for each in range(found.rank)]
        number = call.optional("constant_value")
        fill_ = array_of(np.array(call["value"] or 0.0)) if number is None else number
        if found.shape[dim]:
            taken = indexing.take(found, dim, place.limit(0, found.shape[dim] - 1))
            found = choose(is_inside.reshape(shape), taken, fill_.reshape(()).cast(found.dtype))
        total = count_of(low) + count_of(extents[dim]) + count_of(high)
        sizes[dim] = Size(total, most, sum(map(least_of, whole)))
    return make(found, sizes)


# -- places ----------------------------------------------------------------------------------------


def _count_from_start(index: Array, value: Bounded, dim: int) -> Array:
    """Indices into a dimension counted from its start, and moved into what there may be."""
    extent = value.sizes.get(dim, value.array.shape[dim])
    index = index.cast("i64")
    index = (index < 0).where(index + count_of(extent), index)
    return index.limit(0, max(value.array.shape[dim] - 1, 0))


def _gather(call: Call, rule: Rule) -> Any:
    del rule
    value, index = selection.read(call, "data"), selection.read(call, "indices")
    dim = call.dim(value.array.rank, default=0)
    rank = index.array.rank
    sizes = {each: size for each, size in value.sizes.items() if each < dim}
    sizes |= {dim + each: size for each, size in index.sizes.items()}
    sizes |= {each + rank - 1: size for each, size in value.sizes.items() if each > dim}
    array = value.array if value.array.shape[dim] else resize(value.array, dim, 1)
    places = _count_from_start(fill(index, 0), replace(value, array=array), dim)
    return make(indexing.take(array, dim, places), sizes)


def _gather_elements(call: Call, rule: Rule) -> Any:
    del rule
    value, index = selection.read(call, "data"), selection.read(call, "indices")
    dim = call.dim(value.array.rank, default=0)
    array = value.array
    for each, extent in enumerate(index.array.shape):
        if each != dim:
            array = resize(array, each, extent)
    places = _count_from_start(fill(index, 0), value, dim)
    return make(array.gather(dim, places), index.sizes)


def _gather_nd(call: Call, rule: Rule) -> Any:
    value, index = selection.read(call, "data"), selection.read(call, "indices")
    batch, last = int(call["batch_dims"] or 0), index.array.rank - 1
    width = index.array.shape[-1]
    if last in index.sizes:
        call.refuse_bounded("indices", index)
    if batch:
        for name, each in (("data", value), ("indices", index)):
            if any(dim < batch for dim in each.sizes):
                call.refuse_bounded(name, each)
    places = fill(index, 0).cast("i64")
    columns = [
        _count_from_start(places.cut(last, n, n + 1), value, batch + n) for n in range(width)
    ]
    inner = _with(call, data=value.array, indices=concatenate(columns, last))
    sizes = dict(index.sizes)
    sizes |= {
        dim - batch - width + last: size
        for dim, size in value.sizes.items()
        if dim >= batch + width
    }
    return _bind(rule(inner), sizes)


def _scatter_nd(call: Call, rule: Rule) -> Any:
    value, index = selection.read(call, "data"), selection.read(call, "indices")
    source, x = selection.read(call, "updates"), value.array
    is_plain = call["reduction"] in (None, "none")
    if index.places is not None and index.places[1] and is_plain and not value.sizes:
        mask = index.places[0]
        if mask.shape == x.shape and source.array.rank == 1:
            if source.one is not None:
                return choose(mask, source.one.cast(x.dtype).broadcast(x.shape), x)
            if not source.array.shape[0]:
                return x
            if source.array.dtype != "i1":
                return indexing.put_masked(x, mask, source.array)
    last, width = index.array.rank - 1, index.array.shape[-1]
    if last in index.sizes or not width:
        call.refuse_bounded("indices", index)
    places = fill(index, 0).cast("i64")
    columns = [_count_from_start(places.cut(last, n, n + 1), value, n) for n in range(width)]
    valid = valid_in(index)
    if valid is not None:
        columns[0] = valid.where(columns[0], x.shape[0])
    array = source.array
    shape = (*index.array.shape[:-1], *x.shape[width:])
    if array.rank != len(shape):
        call.refuse(f"updates has {array.rank} dimensions; it has to have {len(shape)}")
    for dim, extent in enumerate(shape):
        array = resize(array, dim, extent)
    given: Mapping[str, Array] = {"indices": concatenate(columns, last), "updates": array}
    return _write(call, rule, value, given, None if valid is None else 0)


def _scatter_elements(call: Call, rule: Rule) -> Any:
    value, index = selection.read(call, "data"), selection.read(call, "indices")
    x, array = value.array, selection.read(call, "updates").array
    dim = call.dim(x.rank, default=0)
    places = _count_from_start(fill(index, 0), value, dim)
    valid = valid_in(index)
    if valid is not None:
        places = valid.where(places, x.shape[dim])
    for each in range(x.rank):
        if each != dim:
            places = resize(places, each, min(places.shape[each], x.shape[each]))
        array = resize(array, each, places.shape[each])
    given: Mapping[str, Array] = {"indices": places, "updates": array}
    return _write(call, rule, value, given, None if valid is None else dim)


def _write(
    call: Call, rule: Rule, value: Bounded, given: Mapping[str, Array], dim: int | None
) -> Any:
    """What is written, if along a dimension some goes after the end, where it is cut off."""
    x = value.array
    if dim is None:
        return make(rule(_with(call, data=x, **given)), value.sizes)
    written = rule(_with(call, data=resize(x, dim, x.shape[dim] + 1), **given))
    return make(written.cut(dim, 0, x.shape[dim]), value.sizes)


def _one_hot(call: Call, rule: Rule) -> Any:
    value = selection.read(call, "indices")
    rank = value.array.rank
    dim = call.dims(rank + 1, (call["axis"],), "axis")[0]
    sizes = {each + (each >= dim): size for each, size in value.sizes.items()}
    return _bind(rule(_with(call, indices=fill(value, 0))), sizes)


# -- all operators ---------------------------------------------------------------------------------


def _zero(dtype: str) -> float:
    del dtype
    return 0


def _one(dtype: str) -> float:
    del dtype
    return 1


def _lowest(dtype: str) -> float:
    return edge(dtype, highest=False)


def _highest(dtype: str) -> float:
    return edge(dtype, highest=True)


_OWN = {
    *selection.RULES,
    *control.RULES,
    *(set(sequences.RULES) - {"ConcatFromSequence", "SplitToSequence"}),
}
"""Operators whose own rules take what is bounded."""

_BATCHES = (
    *("AveragePool", "Conv", "ConvInteger", "ConvTranspose", "DepthToSpace", "GlobalAveragePool"),
    *("GlobalLpPool", "GlobalMaxPool", "GridSample", "LRN", "LpPool", "MaxPool", "QLinearConv"),
    *("Resize", "RoiAlign", "SpaceToDepth", "Upsample"),
    *("Binarizer", "LinearClassifier", "LinearRegressor", "Normalizer", "SVMClassifier"),
    *("SVMRegressor", "Scaler", "TreeEnsemble", "TreeEnsembleClassifier"),
    *("TreeEnsembleRegressor", "ZipMap", "FeatureVectorizer", "ArrayFeatureExtractor", "Imputer"),
)
"""Operators of each item of a batch."""

_HANDLERS: Mapping[str, Handler] = {
    **dict.fromkeys(elementwise.RULES, _elementwise),
    **dict.fromkeys(("DequantizeLinear", "LabelEncoder", "QuantizeLinear", "Trilu"), _keep),
    **dict.fromkeys(_BATCHES, _batched),
    **dict.fromkeys(
        (
            *("BatchNormalization", "GroupNormalization", "InstanceNormalization"),
            *("LayerNormalization", "RMSNormalization"),
        ),
        _normalize,
    ),
    **dict.fromkeys(("Hardmax", "LogSoftmax", "Softmax"), _filled(_lowest)),
    **dict.fromkeys(("CumSum", "LpNormalization"), _filled(_zero)),
    "CumProd": _filled(_one),
    **dict.fromkeys(
        (
            *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceMean", "ReduceSum"),
            "ReduceSumSquare",
        ),
        _reduced(_zero),
    ),
    **dict.fromkeys(("ReduceLogSumExp", "ReduceMax"), _reduced(_lowest)),
    "ReduceMin": _reduced(_highest),
    "ReduceProd": _reduced(_one),
    **dict.fromkeys(("ArgMax", "ArgMin"), _place_of_extreme),
    "Concat": _concat,
    "ConcatFromSequence": _concat_sequence,
    "ConstantOfShape": _constant_of_shape,
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "Gemm": _gemm,
    "Identity": _identity,
    "MatMul": _multiply,
    "OneHot": _one_hot,
    "Pad": _pad,
    "Range": _range,
    "Reshape": _reshape,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "Shape": _shape,
    "Size": _size,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "TopK": _top_k,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
"""What becomes of bounded tensors, by the names of operators."""
