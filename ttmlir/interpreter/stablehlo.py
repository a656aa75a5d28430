"""What the operations of StableHLO and CHLO compute, with NumPy.

Elementwise operations are computed by the definitions of the operation table, those that move
elements or normalize by the array functions of the conversion to ttir. What has regions, computed
places or windows is written after the specification, apart from the conversion, which it can so be
compared with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    ComplexType,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue

from ttmlir import optable
from ttmlir.arrays import array as arrays
from ttmlir.arrays.carriers import array_of, on_numbers
from ttmlir.composites import bessel, complex_numbers, special
from ttmlir.composites.bits import next_after
from ttmlir.composites.random_numbers import draw_between, draw_philox, draw_threefry
from ttmlir.composites.special import Poles
from ttmlir.composites.windows import iterate_taps, take_tap
from ttmlir.dialects.stablehlo.attrs import (
    EnumAttr,
    GatherDimensionNumbersAttr,
    ScatterDimensionNumbersAttr,
)
from ttmlir.dialects.stablehlo.form import integer, integers
from ttmlir.errors import ArgumentError
from ttmlir.interpreter.arrays import array_for, by_arrays
from ttmlir.interpreter.execution import (
    Execution,
    Function,
    constant_array,
    host_dtype,
    runtime_element,
    store_elements,
)
from ttmlir.interpreter.kernels import call_target, can_call
from ttmlir.interpreter.structure import run_if, run_while
from ttmlir.mlir.reporting import OpError
from ttmlir.optable.library import round_to_bits
from ttmlir.optable.op_definition import OpDefinition
from ttmlir.passes.stablehlo.complex.stablehlo_expand_complex import transform
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_elementwise import FUNCTIONS as ON_ELEMENTS
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_movement import FUNCTIONS as MOVEMENTS
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_movement import pad_with_gaps
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_reduction import FUNCTIONS as NORMALIZATIONS
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_window import (
    PRODUCTS,
    axes_of,
    convolution_parameters,
    margins_of,
)
from ttmlir.passes.stablehlo.specification.bits import multiply_high, number_of_draw
from ttmlir.program import TARGET
from ttmlir.runtime.tensor import Array, cast_rounding, convert

Reference = Callable[..., Any]

_NAMED = optable.named_in("stablehlo", "chlo")
_ON_TRUTH = optable.named_on_truth("stablehlo")


def element_type(op: Operation, *, result: bool = True) -> Attribute:
    """The element type of an operation's first result, or of its first operand."""
    type = op.results[0].type if result else op.operands[0].type
    return cast("TensorType[Attribute]", type).element_type


def elementwise(reference: Reference) -> Function:
    """A function of the operands' arrays as that of an operation."""

    def run(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        return (reference(*operands),)

    return run


def _by_definition(definition: OpDefinition, truth: OpDefinition | None) -> Function:
    of_complex = complex_numbers.FUNCTIONS.get(definition.mnemonic)

    def run(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        kind = operands[0].dtype.kind
        if kind == "c" and of_complex is not None:
            found = of_complex(*map(_parts, operands))
            return (found.value if isinstance(found, arrays.Array) else _joined(found),)
        is_truth = truth is not None and kind == "b"
        return ((truth if truth is not None and is_truth else definition).reference(np, *operands),)

    return run


def _parts(operand: Any) -> complex_numbers.Complex:
    """Complex numbers whose parts are computed in f64."""
    return complex_numbers.Complex(array_of(operand.real, "f64"), array_of(operand.imag, "f64"))


def _joined(found: complex_numbers.Complex) -> Array:
    return _complex(found.real.value, found.imag.value)


def _convert(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    type = element_type(op)
    is_complex = operands[0].dtype.kind == "c" and type.name != ComplexType.name
    value: Array = operands[0].real if is_complex else operands[0]
    target = runtime_element(type)
    if target is None:
        return (value,)
    converted = convert(value, target.compute)
    rounding = cast_rounding(target)
    return (converted if rounding is None else rounding(converted),)


def _bitcast(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    (value,) = operands
    source = _storage(element_type(op, result=False))
    target = _storage(element_type(op))
    data = np.ascontiguousarray(value.astype(source))
    shape = cast("TensorType[Attribute]", op.results[0].type).get_shape()
    return (np.frombuffer(data.tobytes(), target).reshape(shape),)


def _storage(type: Attribute) -> np.dtype[Any]:
    """The type that has the bits of an element type."""
    dtype = host_dtype(type)
    if dtype is None or dtype.kind == "b":
        raise ArgumentError(f"the bits of '{type}' cannot be looked at")
    return dtype


def _reduce_precision(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    """Round to nearest even at the mantissa, overflow to infinity, underflow to zero."""
    exponent_bits, mantissa_bits = integer(op, "exponent_bits"), integer(op, "mantissa_bits")
    return (
        round_to_bits(np, operands[0], exponent_bits=exponent_bits, mantissa_bits=mantissa_bits),
    )


def _constant(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (constant_array(op, op.properties["value"]),)


def _constant_like(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    number = cast("IntegerAttr | FloatAttr", op.properties["value"]).value.data
    return (np.full(operands[0].shape, number, operands[0].dtype),)


def _iota(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    shape = result_shape(op)
    dim = integer(op, "iota_dimension")
    numbers = counted(shape[dim]).reshape([-1, *(1 for _ in shape[dim + 1 :])])
    return (np.broadcast_to(numbers, shape),)


def _complex(real: Array, imaginary: Array) -> Array:
    """Both parts as they are; a sum with a product of 1j would make NaN of infinities."""
    found = np.empty(np.shape(real), np.result_type(real, imaginary, np.complex64))
    found.real, found.imag = real, imaginary
    return found


def _draw(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    shape = cast("TensorType[Attribute]", op.results[0].type).get_shape()
    first, second = (array_of(np.broadcast_to(each, shape)) for each in operands[:2])
    is_normal = cast("EnumAttr", op.properties["rng_distribution"]).data == "NORMAL"
    found = draw_between(number_of_draw(op), first, second, is_normal=is_normal)
    return (found.value,)


def _generate_bits(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    """Numbers of 64 bits are pairs of words, those of fewer bits than 32 their lower ones."""
    state = np.ascontiguousarray(operands[0]).astype(np.uint64)
    words = array_of(state.view(np.uint32).reshape(-1, 2))
    target = _storage(cast("TensorType[Attribute]", op.results[1].type).element_type)
    shape = cast("TensorType[Attribute]", op.results[1].type).get_shape()
    in_pairs = target.itemsize == 8
    wide = (*shape, 2) if in_pairs else shape
    if cast("EnumAttr", op.properties["rng_algorithm"]).data == "THREE_FRY":
        drawn, counter = draw_threefry(words, wide, in_pairs=in_pairs)
    else:
        drawn, counter = draw_philox(words, wide)
    new = np.concatenate([words.value[:1], counter.value]).view(np.uint64).reshape(-1)
    whole = np.dtype(f"u{min(target.itemsize, 4)}")
    bits = np.ascontiguousarray(drawn.value.astype(whole))
    return new.astype(operands[0].dtype), np.frombuffer(bits.tobytes(), target).reshape(shape)


def _next_after(op: Operation, x: arrays.Array, y: arrays.Array) -> arrays.Array:
    return next_after(x, y)


_OWN: dict[str, Function] = {
    "chlo.bessel_i1e": elementwise(on_numbers(bessel.i1e)),
    "chlo.conj": elementwise(np.conj),
    "chlo.constant": _constant,
    "chlo.constant_like": _constant_like,
    "chlo.digamma": elementwise(on_numbers(partial(special.digamma, poles=Poles.BOTH_SIDES))),
    "chlo.polygamma": elementwise(on_numbers(partial(special.polygamma, poles=Poles.BOTH_SIDES))),
    "chlo.zeta": elementwise(on_numbers(partial(special.zeta, poles=Poles.BOTH_SIDES))),
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.complex": elementwise(_complex),
    "stablehlo.constant": _constant,
    "stablehlo.convert": _convert,
    "stablehlo.imag": elementwise(np.imag),
    "stablehlo.iota": _iota,
    "stablehlo.real": elementwise(np.real),
    "stablehlo.reduce_precision": _reduce_precision,
    "stablehlo.rng": _draw,
    "stablehlo.rng_bit_generator": _generate_bits,
    "stablehlo.select": elementwise(np.where),
}

ELEMENTWISE: dict[str, Function] = {
    **{name: by_arrays(function) for name, function in ON_ELEMENTS.items()},
    **{
        name: _by_definition(definition, _ON_TRUTH.get(name)) for name, definition in _NAMED.items()
    },
    "chlo.mulhi": by_arrays(multiply_high),
    "chlo.next_after": by_arrays(_next_after),
    **_OWN,
}
"""Operations of this module by name; arrays of any one shape may be given to those that compute."""


# -- movement ----------------------------------------------------------------------------------


def result_shape(op: Operation, number: int = 0) -> tuple[int, ...]:
    """The extents of a result."""
    return cast("TensorType[Attribute]", op.results[number].type).get_shape()


def _get_dimension_size(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    return (np.int32(operands[0].shape[integer(op, "dimension")]),)


def counted(extent: int) -> Array:
    """0, 1, 2 ..."""
    return cast("Any", np).arange(extent)


def without(count: int, *left_out: Sequence[int]) -> list[int]:
    """The dimensions below `count` that are in none of the lists."""
    return [i for i in range(count) if not any(i in dimensions for dimensions in left_out)]


# -- reductions and sorting --------------------------------------------------------------------
# The function works on single elements. Where it is made of elementwise operations, it is computed
# for many elements at a time: its operations do not ask for shapes.


Arrays = Sequence[Array]


def apply_region(execution: Execution, region: Region, arguments: Arrays) -> list[Array]:
    """What a region of elementwise operations makes of arrays, element by element."""
    block = region.block
    values: dict[SSAValue, Any] = dict(zip(block.args, arguments, strict=True))
    last = block.last_op
    assert last is not None, "the verifier asks for a terminator"
    for op in block.ops:
        if op is last:
            break
        operands = [execution.value(v) if v not in values else values[v] for v in op.operands]
        function = ELEMENTWISE.get(op.name)
        if function is None:
            raise OpError(
                op,
                "cannot be interpreted in a function of elements; elementwise operations can be",
            )
        (result,) = function(execution, op, operands)
        values[op.results[0]] = store_elements(op, result, element_type(op))
    results = [values[v] if v in values else execution.value(v) for v in last.operands]
    shape = np.broadcast_shapes(*(argument.shape for argument in arguments))
    return [np.broadcast_to(result, shape) for result in results]


_UFUNCS: dict[str, np.ufunc] = {
    "stablehlo.add": np.add,
    "stablehlo.multiply": np.multiply,
    "stablehlo.maximum": np.maximum,
    "stablehlo.minimum": np.minimum,
    "stablehlo.and": np.bitwise_and,
    "stablehlo.or": np.bitwise_or,
    "stablehlo.xor": np.bitwise_xor,
}


def single_ufunc(region: Region) -> np.ufunc | None:
    """NumPy's function of a region that is one commutative operation of its two arguments."""
    ops = list(region.block.ops)
    if len(ops) != 2 or len(region.block.args) != 2:
        return None
    folded, last = ops
    if set(folded.operands) != set(region.block.args):
        return None
    return _UFUNCS.get(folded.name) if list(last.operands) == list(folded.results) else None


_EXTREMES: dict[np.ufunc, tuple[str, str]] = {
    np.maximum: ("max", "maximum"),
    np.minimum: ("min", "minimum"),
}
"""Rows that tell 0 from -0, which NumPy's functions do not, of many numbers and of two."""


def _fold_all(ufunc: np.ufunc, array: Array, dimensions: Sequence[int]) -> Array:
    """Fold an array along dimensions by a function of NumPy."""
    if ufunc not in _EXTREMES or not array.size:
        return ufunc.reduce(array, axis=tuple(dimensions))
    definition = optable.definition(_EXTREMES[ufunc][0])
    return np.asarray(definition.reference(np, array, keep_dim=False, dim_arg=tuple(dimensions)))


def _fold_two(ufunc: np.ufunc, x: Array, y: Array) -> Array:
    """Apply a function of NumPy to two arrays."""
    if ufunc not in _EXTREMES:
        return ufunc(x, y)
    return np.asarray(optable.definition(_EXTREMES[ufunc][1]).reference(np, x, y))


def _reduce(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    count = len(operands) // 2
    inputs, starts = operands[:count], operands[count:]
    dimensions = integers(op, "dimensions")
    ufunc = single_ufunc(op.regions[0])
    if ufunc is not None:
        total = _fold_all(ufunc, inputs[0], dimensions)
        return (_fold_two(ufunc, total.astype(inputs[0].dtype), starts[0]),)
    kept = without(inputs[0].ndim, dimensions)
    order = (*dimensions, *kept)
    shape = [inputs[0].shape[dim] for dim in kept]
    columns = [array.transpose(order).reshape(-1, *shape) for array in inputs]
    totals: list[Array] = [np.broadcast_to(start, shape) for start in starts]
    for row in range(len(columns[0])):
        arguments = [*totals, *(column[row] for column in columns)]
        totals = apply_region(execution, op.regions[0], arguments)
    return totals


def combine(
    execution: Execution, region: Region, results: list[Array], places: Array, updates: Arrays
) -> None:
    """Combine flat results with updates at places, one after the other where places repeat."""
    ufunc = single_ufunc(region)
    if ufunc is not None:
        ufunc.at(results[0], places, updates[0])
        return
    # The n-th updates of all places go together: so none meets another of the same place.
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    is_first = np.ones(len(ordered), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    firsts = np.flatnonzero(is_first)
    repetition = counted(len(ordered)) - firsts[np.cumsum(is_first) - 1]
    for number in range(int(repetition.max(initial=-1)) + 1):
        now = order[repetition == number]
        where = places[now]
        arguments = [*(result[where] for result in results), *(u[now] for u in updates)]
        for result, value in zip(results, apply_region(execution, region, arguments), strict=True):
            result[where] = value


def _map(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return apply_region(execution, op.regions[0], operands)


def _sort(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    dimension = integer(op, "dimension") if "dimension" in op.properties else -1
    if operands[0].ndim == 0:
        return operands
    columns = [np.moveaxis(array, dimension, 0) for array in operands]
    order = _sorted_order(execution, op.regions[0], columns)
    return [np.moveaxis(np.take_along_axis(column, order, 0), 0, dimension) for column in columns]


def _sorted_order(execution: Execution, region: Region, columns: Arrays) -> Array:
    """Places of the elements in order, along the first dimension; equal ones keep their order.

    Batcher's merge exchange: each step compares many pairs of places at once.
    """
    length = len(columns[0])
    rest = columns[0].shape[1:]
    order = np.broadcast_to(counted(length).reshape(-1, *(1,) * len(rest)), (length, *rest))
    order = order.copy()
    for firsts, distance in _exchanges(length):
        seconds = firsts + distance
        a, b = order[firsts], order[seconds]
        left = [np.take_along_axis(column, a, 0) for column in columns]
        right = [np.take_along_axis(column, b, 0) for column in columns]
        (comes_after,) = _less(execution, region, right, left)
        (comes_before,) = _less(execution, region, left, right)
        swap = comes_after | (~comes_before & (b < a))
        order[firsts] = np.where(swap, b, a)
        order[seconds] = np.where(swap, a, b)
    return order


def _less(execution: Execution, region: Region, a: Arrays, b: Arrays) -> list[Array]:
    pairs = [array for pair in zip(a, b, strict=True) for array in pair]
    return apply_region(execution, region, pairs)


def _exchanges(length: int) -> list[tuple[Array, int]]:
    """First places of the pairs, and their distance, of each step (Knuth 5.2.2, algorithm M)."""
    steps: list[tuple[Array, int]] = []
    if length < 2:
        return steps
    top = 1 << ((length - 1).bit_length() - 1)
    p = top
    while p:
        q, r, d = top, 0, p
        while True:
            places = counted(length - d)
            steps.append((places[(places & p) == r], d))
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1
    return steps


def _top_k(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    parameters = {"k": integer(op, "k"), "dim": -1, "largest": True, "sorted": True}
    return optable.definition("topk").reference(np, *operands, **parameters)


# -- indexing ----------------------------------------------------------------------------------


def _window_at(array: Array, starts: Sequence[Any], sizes: Sequence[int]) -> tuple[slice, ...]:
    """The part of given size that begins at indices, which are moved so that it fits."""
    begins = [
        min(max(int(start), 0), extent - size)
        for start, extent, size in zip(starts, array.shape, sizes, strict=True)
    ]
    return tuple(slice(begin, begin + size) for begin, size in zip(begins, sizes, strict=True))


def _dynamic_slice(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    array, *starts = operands
    return (array[_window_at(array, starts, integers(op, "slice_sizes"))],)


def _dynamic_update_slice(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    array, update, *starts = operands
    result = array.copy()
    result[_window_at(array, starts, update.shape)] = update
    return (result,)


def _places_of(
    indices: Array,
    vector_dim: int,
    shape: Sequence[int],
    rank: int,
    mapped: Sequence[int],
    batching: tuple[Sequence[int], Sequence[int]],
    windows: Mapping[int, int],
    limits: Sequence[int] | None = None,
) -> list[Array]:
    """Where elements of slices or updates are along each of `rank` dimensions, which broadcast.

    `shape` is that of all slices; `windows` are the dimensions of it that run over a dimension of
    the operand each, all others belong to the indices. With `limits`, starts are moved within them.
    """
    if vector_dim == indices.ndim:
        indices = indices[..., None]
    vectors = np.moveaxis(indices, vector_dim, -1).astype(np.int64)
    batch_dims = without(len(shape), list(windows.values()))

    def along(dims: Sequence[int], value: Array) -> Array:
        """An array whose dimensions are some of the whole shape."""
        places = [1] * len(shape)
        for dim, extent in zip(dims, value.shape, strict=True):
            places[dim] = extent
        return value.reshape(places)

    place: list[Array] = [np.zeros((), np.int64)] * rank
    for position, dim in enumerate(mapped):
        start: Array = vectors[..., position]
        place[dim] = along(batch_dims, start if limits is None else start.clip(0, limits[dim]))
    for dim, source in zip(*batching, strict=True):
        own = batch_dims[source - (source > vector_dim)]
        place[dim] = along([own], counted(shape[own]))
    for dim, own in windows.items():
        place[dim] = place[dim] + along([own], counted(shape[own]))
    return place


def _gather(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    array, indices, *_ = operands
    numbers = cast("GatherDimensionNumbersAttr", op.properties["dimension_numbers"])
    window_dims = without(array.ndim, numbers.collapsed_slice_dims, numbers.operand_batching_dims)
    shape = result_shape(op)
    place = _places_of(
        indices,
        numbers.index_vector_dim,
        shape,
        array.ndim,
        numbers.start_index_map,
        (numbers.operand_batching_dims, numbers.start_indices_batching_dims),
        dict(zip(window_dims, numbers.offset_dims, strict=True)),
        np.subtract(array.shape, integers(op, "slice_sizes")).tolist(),
    )
    return (np.broadcast_to(array[tuple(place)] if place else array, shape),)


def _scatter(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    count = len(operands) // 2
    inputs, indices, updates = operands[:count], operands[count], operands[count + 1 :]
    numbers = cast("ScatterDimensionNumbersAttr", op.properties["scatter_dimension_numbers"])
    shape, target = updates[0].shape, inputs[0].shape
    window_dims = without(len(target), numbers.inserted_window_dims, numbers.input_batching_dims)
    place = _places_of(
        indices,
        numbers.index_vector_dim,
        shape,
        len(target),
        numbers.scatter_dims_to_operand_dims,
        (numbers.input_batching_dims, numbers.scatter_indices_batching_dims),
        dict(zip(window_dims, numbers.update_window_dims, strict=True)),
    )
    whole = [np.broadcast_to(part, shape).reshape(-1) for part in place]
    is_inside = np.ones(math.prod(shape), bool)
    for part, extent in zip(whole, target, strict=True):
        is_inside &= (part >= 0) & (part < extent)
    flat_places = np.zeros(int(is_inside.sum()), np.int64)
    if target:
        inside = tuple(part[is_inside] for part in whole)
        flat_places = np.ravel_multi_index(inside, target)
    results = [array.copy().reshape(-1) for array in inputs]
    flat_updates = [update.reshape(-1)[is_inside] for update in updates]
    combine(execution, op.regions[0], results, flat_places, flat_updates)
    return [result.reshape(target) for result in results]


# -- contraction -------------------------------------------------------------------------------


_LINALG: Any = np.linalg


def summable(array: Array) -> Array:
    """Truth values as numbers; integers as wide as they wrap around."""
    return array.astype(np.int64) if array.dtype.kind in "biu" else array


def _einsum(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (np.einsum(cast("StringAttr", op.properties["einsum_config"]).data, *operands),)


def _cholesky(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    lower = "lower" in op.properties and bool(integer(op, "lower"))
    (matrix,) = operands
    transposed = np.conj(np.swapaxes(matrix, -1, -2))
    half = np.tril(matrix) if lower else np.tril(transposed)
    diagonal = half * np.eye(matrix.shape[-1], dtype=matrix.dtype)
    factor = _LINALG.cholesky(half + np.conj(np.swapaxes(half, -1, -2)) - diagonal)
    return (factor if lower else np.conj(np.swapaxes(factor, -1, -2)),)


def _triangular_solve(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    matrix, target = operands
    left, lower, unit = (
        bool(integer(op, name)) for name in ("left_side", "lower", "unit_diagonal")
    )
    matrix = np.tril(matrix) if lower else np.triu(matrix)
    if unit:
        diagonal = np.eye(matrix.shape[-1], dtype=matrix.dtype)
        matrix = matrix * (1 - diagonal) + diagonal
    transposed = cast("EnumAttr", op.properties["transpose_a"]).data
    if transposed in ("TRANSPOSE", "ADJOINT"):
        matrix = np.swapaxes(matrix, -1, -2)
    if transposed == "ADJOINT":
        matrix = np.conj(matrix)
    if left:
        return (_LINALG.solve(matrix, target),)
    solved = _LINALG.solve(np.swapaxes(matrix, -1, -2), np.swapaxes(target, -1, -2))
    return (np.swapaxes(solved, -1, -2),)


def _fft(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    [operand] = operands
    is_complex = operand.dtype.kind == "c"
    found = transform(op, _parts(operand) if is_complex else array_of(operand, "f64"))
    return (found.value if isinstance(found, arrays.Array) else _joined(found),)


# -- windows -----------------------------------------------------------------------------------


def _ones(op: Operation, name: str, count: int) -> tuple[int, ...]:
    return integers(op, name) or (1,) * count


def _reduce_window(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    count = len(operands) // 2
    starts, shape = operands[count:], result_shape(op)
    totals: list[Array] = [np.broadcast_to(start, shape) for start in starts]
    if 0 in shape:
        return totals
    gaps = [factor - 1 for factor in _ones(op, "base_dilations", len(shape))]
    margins = margins_of(op, len(shape))
    inputs = [
        pad_with_gaps(array_for(value, array), margins, gaps, start[()])
        for value, array, start in zip(op.operands[:count], operands[:count], starts, strict=True)
    ]
    axes = axes_of(op, inputs[0].shape)
    ufunc = single_ufunc(op.regions[0])
    for tap in iterate_taps(axes):
        elements: list[Array] = [take_tap(each, tap, axes).value for each in inputs]
        if ufunc is not None:
            totals = [_fold_two(ufunc, totals[0], elements[0])]
        else:
            totals = apply_region(execution, op.regions[0], [*totals, *elements])
    return totals


def _select_and_scatter(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    array, source, start = operands
    places = array_of(counted(array.size).reshape(array.shape))
    places = places.pad(margins_of(op, array.ndim), -1)
    axes = axes_of(op, places.shape)
    flat = array.reshape(-1)
    chosen = np.full(source.shape, -1)
    for tap in iterate_taps(axes) if source.size else ():
        candidate: Array = take_tap(places, tap, axes).value
        (keeps,) = apply_region(execution, op.regions[0], [flat[chosen], flat[candidate]])
        chosen = np.where((candidate >= 0) & ((chosen < 0) | ~keeps), candidate, chosen)
    result: Array = np.broadcast_to(start, array.shape).copy().reshape(-1)
    taken = chosen.reshape(-1)
    hit = taken >= 0
    combine(execution, op.regions[1], [result], taken[hit], [source.reshape(-1)[hit]])
    return (result.reshape(array.shape),)


def _convolution(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    shape = result_shape(op)
    image, kernel = map(summable, operands)
    if 0 in (*shape, *kernel.shape, *image.shape):
        return (np.zeros(shape, image.dtype),)
    parameters = convolution_parameters(op)
    return (optable.definition("convolution").reference(np, image, kernel, **parameters),)


# -- control -----------------------------------------------------------------------------------


def _case(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    index, count = int(operands[0]), len(op.regions)
    return execution.run_region(op.regions[index if 0 <= index < count else count - 1], ())


def _same(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return operands


def _tuple(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (tuple(operands),)


def _get_tuple_element(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    return (operands[0][integer(op, "index")],)


def _token(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (None,)


def _composite(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    function = cast("SymbolRefAttr", op.properties["decomposition"]).root_reference.data
    return execution.call(function, operands, caller=op)


_PLACEMENT = (
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "annotate_device_placement",
)


def _custom_call(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    name = cast("StringAttr", op.properties["call_target_name"]).data
    if can_call(name):
        return call_target(op, name, operands)
    if name in _PLACEMENT:
        return operands
    raise OpError(
        op,
        f"calls '{name}', which only the framework's own runtime has; ttmlir.register_custom_call("
        f"'{name}', numpy=...) says what it computes; without that, calls of '{TARGET}' and those "
        f"that say where tensors lie ({', '.join(_PLACEMENT)}) can be interpreted",
    )


FUNCTIONS: dict[str, Function] = {
    **ELEMENTWISE,
    **{
        name: by_arrays(function)
        for name, function in {**MOVEMENTS, **NORMALIZATIONS, **PRODUCTS}.items()
    },
    "stablehlo.get_dimension_size": _get_dimension_size,
    "chlo.top_k": _top_k,
    "stablehlo.map": _map,
    "stablehlo.reduce": _reduce,
    "stablehlo.sort": _sort,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.gather": _gather,
    "stablehlo.scatter": _scatter,
    "stablehlo.cholesky": _cholesky,
    "stablehlo.einsum": _einsum,
    "stablehlo.fft": _fft,
    "stablehlo.triangular_solve": _triangular_solve,
    "stablehlo.unary_einsum": _einsum,
    "stablehlo.convolution": _convolution,
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.select_and_scatter": _select_and_scatter,
    "stablehlo.after_all": _token,
    "stablehlo.case": _case,
    "stablehlo.composite": _composite,
    "stablehlo.create_token": _token,
    "stablehlo.custom_call": _custom_call,
    "stablehlo.get_tuple_element": _get_tuple_element,
    "stablehlo.if": run_if,
    "stablehlo.optimization_barrier": _same,
    "stablehlo.tuple": _tuple,
    "stablehlo.while": run_while,
    "sdy.reshard": _same,
    "sdy.sharding_constraint": _same,
}
"""Operations of StableHLO, CHLO and sdy by name."""
