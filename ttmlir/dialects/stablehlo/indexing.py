"""Operations of StableHLO that read and write elements by computed numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import (
    Property,
    Signature,
    ValueGroup,
    classes_in,
    properties,
    refuse,
    values,
)
from ttmlir.dialects.stablehlo import movement as movement_rules
from ttmlir.dialects.stablehlo.attrs import GatherDimensionNumbersAttr, ScatterDimensionNumbersAttr
from ttmlir.dialects.stablehlo.constraints import (
    ANY,
    ANY_INTEGER,
    DIMENSIONS,
    DYNAMIC,
    INDEX,
    INTEGER,
    Shape,
    check_inferred,
    element_of,
    enum,
    extents_agree,
    of_rank,
    ranked,
    shape_of,
)
from ttmlir.dialects.stablehlo.form import (
    FUNCTIONAL,
    OPERANDS,
    Form,
    IntegerList,
    Setting,
    integers,
)
from ttmlir.dialects.stablehlo.operation import PURE, FormOp, StableHLOOp
from ttmlir.dialects.stablehlo.reduction import INPUTS, RESULTS, check_fold, check_promotable, pairs

# --- Indexing -------------------------------------------------------------------------------------
# What gathers and scatters require, in StableHLO's words.


def gather(op: Operation) -> None:
    """Each dimension of the operand has its place."""
    numbers = cast("GatherDimensionNumbersAttr", op.properties["dimension_numbers"])
    shape, indices = (shape_of(type) for type in op.operand_types[:2])
    sizes, vector_dim = integers(op, "slice_sizes"), numbers.index_vector_dim
    collapsed, batching = numbers.collapsed_slice_dims, numbers.operand_batching_dims
    if len(numbers.offset_dims) + len(collapsed) + len(batching) != len(shape):
        refuse(
            f"offset_dims size ({len(numbers.offset_dims)}) plus collapse_slice_dims size "
            f"({len(collapsed)}) plus operand_batching_dims size ({len(batching)}) is not equal to "
            f"operand rank ({len(shape)})"
        )
    _check_index_vector(vector_dim, indices, "start_indices")
    depth = _depth(indices, vector_dim)
    if len(numbers.start_index_map) != depth and depth != DYNAMIC:
        refuse(
            f"start_index_map size ({len(numbers.start_index_map)}) is not equal to size of index "
            f"dimension ({vector_dim}) of start_indices ({depth})"
        )
    _check_order("offset_dims", numbers.offset_dims)
    _check_batching(
        ("operand", shape, batching),
        ("start_indices", indices, numbers.start_indices_batching_dims),
        vector_dim,
    )
    _check_dims("start_index_map", numbers.start_index_map, "operand_batching_dims", batching)
    _check_range("start_index_map", numbers.start_index_map, len(shape))
    if len(sizes) != len(shape):
        refuse(f"slice_sizes size ({len(sizes)}) not equal to operand rank ({len(shape)})")
    for dim, (size, extent) in enumerate(zip(sizes, shape, strict=True)):
        if size < 0 or (extent != DYNAMIC and size > extent):
            refuse(
                f"slice size ({size}) is out of bounds for operand dimension ({extent}) at index "
                f"{dim}"
            )
    _check_dims("collapsed_slice_dims", collapsed, "operand_batching_dims", batching)
    _check_order("collapsed_slice_dims", collapsed)
    _check_range("collapsed_slice_dims", collapsed, len(shape))
    for name, dims in (("collapsed_slice_dims", collapsed), ("operand_batching_dims", batching)):
        for dim in dims:
            if sizes[dim] > 1:
                refuse(
                    f"Expects that for each dim in {name}, slice_sizes[dim] should be <= 1, but "
                    f"got {sizes[dim]}"
                )
    batches = [size for dim, size in enumerate(indices) if dim != vector_dim]
    offsets = [size for dim, size in enumerate(sizes) if dim not in (*collapsed, *batching)]
    rank = len(batches) + len(offsets)
    _check_range("offset_dims", numbers.offset_dims, rank, "implied-result-rank")
    result = [
        offsets.pop(0) if dim in numbers.offset_dims else batches.pop(0) for dim in range(rank)
    ]
    check_inferred(op, TensorType(element_of(op.operands[0].type), result))


def scatter(op: Operation) -> None:
    """Each dimension of the inputs has its place."""
    count = pairs(op)
    inputs, indices = op.operand_types[:count], shape_of(op.operand_types[count])
    update_types = op.operand_types[count + 1 :]
    shape, updates = shape_of(inputs[0]), shape_of(update_types[0])
    numbers = cast("ScatterDimensionNumbersAttr", op.properties["scatter_dimension_numbers"])
    rank = len(shape)
    inserted, batching = numbers.inserted_window_dims, numbers.input_batching_dims
    window, mapped = numbers.update_window_dims, numbers.scatter_dims_to_operand_dims
    if not all(extents_agree(shape, shape_of(type)) for type in inputs):
        refuse("Not all inputs have compatible shapes.")
    if not all(extents_agree(updates, shape_of(type)) for type in update_types):
        refuse("Not all updates have compatible shapes.")
    if len(window) + len(inserted) + len(batching) != rank:
        refuse(
            f"Expects rank-of operand to match size-of('update_window_dims') + "
            f"size-of('inserted_window_dims') + size-of('input_batching_dims') i.e. "
            f"{len(window) + len(inserted) + len(batching)} but got {rank}."
        )
    _check_index_vector(numbers.index_vector_dim, indices, "scatter_indices")
    _check_dims("inserted_window_dims", inserted, "input_batching_dims", batching)
    _check_order("inserted_window_dims", inserted)
    _check_range("inserted_window_dims", inserted, rank)
    _check_batching(
        ("input", shape, batching),
        ("scatter_indices", indices, numbers.scatter_indices_batching_dims),
        numbers.index_vector_dim,
    )
    _check_dims("scatter_dims_to_operand_dims", mapped, "input_batching_dims", batching)
    _check_range("scatter_dims_to_operand_dims", mapped, rank)
    depth = _depth(indices, numbers.index_vector_dim)
    if len(mapped) != depth and depth != DYNAMIC:
        refuse(
            f"Scatter op has {len(mapped)} elements in scatter_dims_to_operand_dims and the bound "
            f"of dimension index_vector_dim={numbers.index_vector_dim} of scatter_indices is "
            f"{depth}. These two numbers must be equal."
        )
    _check_order("update_window_dims", window)
    _check_range("update_window_dims", window, len(updates), "rank-of('updates')")
    batches = [size for dim, size in enumerate(indices) if dim != numbers.index_vector_dim]
    if len(batches) + len(window) != len(updates):
        refuse(
            f"expects updates tensor must be of rank {len(batches) + len(window)} ( == rank-of"
            f"('scatter_indices') - 1 + size-of('update_window_dims'), where 'scatter_indices' is "
            f"expanded by a trailing 1 dimension if 'index_vector_dim' == rank-of"
            f"('scatter_indices')), but got {len(updates)}."
        )
    kept = [size for dim, size in enumerate(shape) if dim not in (*inserted, *batching)]
    _check_bounds(updates, window, kept, batches)
    check_fold(op, op.regions[0], [TensorType(element_of(type), ()) for type in inputs])
    check_promotable(op.regions[0], [element_of(type) for type in update_types])
    check_inferred(op, *inputs)


def _check_bounds(
    updates: Shape, window: Sequence[int], kept: Sequence[int], batches: Sequence[int]
) -> None:
    """Windows fit in the input, and there is one for each vector of indices."""
    for dim, extent in zip(window, kept, strict=True):
        if DYNAMIC not in (extent, updates[dim]) and updates[dim] > extent:
            refuse(
                "expects bounds of the window dimensions of updates to not exceed the bounds of "
                f"the corresponding dimensions of operand. For dimension {dim}, updates bound is "
                f"{updates[dim]}, operand bound is {extent}."
            )
    places = (dim for dim in range(len(updates)) if dim not in window)
    for dim, extent in zip(places, batches, strict=True):
        if DYNAMIC not in (extent, updates[dim]) and updates[dim] != extent:
            refuse(
                "expects bounds of the scatter dimensions of updates to be same as the bounds of "
                f"the corresponding dimensions of scatter indices. For scatter dimension {dim}, "
                f"updates bound is {updates[dim]} , scatter_indices bound is {extent}."
            )


def _depth(indices: Shape, vector_dim: int) -> int:
    """How many numbers an index has."""
    return indices[vector_dim] if vector_dim < len(indices) else 1


Side = tuple[str, Shape, Sequence[int]]
"""What has batches: its name, its extents, and the dimensions that are batches."""


def _check_batching(source: Side, indices: Side, vector_dim: int) -> None:
    """Batches of a tensor and of its indices come in pairs of equal extents."""
    first, second = (f"{side[0]}_batching_dims" for side in (source, indices))
    _check_order(first, source[2])
    _check_range(first, source[2], len(source[1]))
    _check_unique(second, indices[2])
    # The vector of indices has a dimension, even where that is left out.
    rank = max(len(indices[1]), vector_dim + 1)
    _check_range(second, indices[2], rank, f"rank-of('{indices[0]}')")
    if vector_dim in indices[2]:
        refuse(f"expects {second} not to include index_vector_dim {vector_dim}")
    if len(source[2]) != len(indices[2]):
        refuse(f"{first} and {second} should have the same size")
    for place, (a, b) in enumerate(zip(source[2], indices[2], strict=True)):
        sizes = (source[1][a], indices[1][b])
        if sizes[0] != sizes[1] and DYNAMIC not in sizes:
            refuse(
                f"{first}[{place}] and {second}[{place}] must have compatible sizes, but got "
                f"{sizes[0]} and {sizes[1]}"
            )


def _check_index_vector(dim: int, indices: Sequence[int], name: str) -> None:
    if not 0 <= dim <= len(indices):
        refuse(
            f"Expects index_vector_dim to be in range [0, rank-of('{name}')] i.e. [0, "
            f"{len(indices)}]. got: {dim}."
        )


def _check_dims(name: str, dims: Sequence[int], other_name: str, others: Sequence[int]) -> None:
    """No dimension is named twice."""
    _check_unique(name, dims)
    for dim in dims:
        if dim in others:
            refuse(f"has duplicated dimension from {name} and {other_name}: {dim}")


def _check_unique(name: str, dims: Sequence[int]) -> None:
    if len(set(dims)) != len(dims):
        refuse(f"Expects {name} to not repeat, got: [{', '.join(map(str, dims))}].")


def _check_order(name: str, dims: Sequence[int]) -> None:
    _check_unique(name, dims)
    if list(dims) != sorted(dims):
        refuse(f"Expects {name} to be sorted, got: [{', '.join(map(str, dims))}].")


def _check_range(
    name: str, dims: Sequence[int], rank: int, bound: str = "rank-of('operand')"
) -> None:
    for dim in dims:
        if not 0 <= dim < rank:
            refuse(
                f"Expects each element of {name} to be in range [0, {bound}) i.e. [0, {rank}). "
                f"got: {dim}."
            )


# --- Indexing -------------------------------------------------------------------------------------

_START = ValueGroup("start_indices", of_rank(0, INTEGER), variadic=True)


class DynamicSliceOp(FormOp):
    """A part of given size that begins at indices which are operands."""

    name = "stablehlo.dynamic_slice"
    RULE: ClassVar = staticmethod(movement_rules.dynamic_slice)
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("operand", ANY), _START), values(result=ANY), properties(slice_sizes=DIMENSIONS)
    )
    FORM: ClassVar = Form((OPERANDS, Setting("sizes", IntegerList("slice_sizes"))), FUNCTIONAL)
    traits = PURE


class GatherOp(StableHLOOp):
    """Slices of the operand that begin at indices."""

    name = "stablehlo.gather"
    RULE: ClassVar = staticmethod(gather)
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY, start_indices=ranked(INTEGER)),
        values(result=ANY),
        (
            Property("dimension_numbers", enum("stablehlo.gather")),
            Property("slice_sizes", DIMENSIONS),
            Property("indices_are_sorted", ods.BOOL, optional=True),
        ),
    )
    traits = PURE


class DynamicGatherOp(StableHLOOp):
    """Slices whose size is an operand."""

    name = "stablehlo.dynamic_gather"
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY, start_indices=ranked(INTEGER), slice_sizes=ranked(INTEGER)),
        values(result=ANY),
        (
            Property("dimension_numbers", enum("stablehlo.gather")),
            Property("indices_are_sorted", ods.BOOL, optional=True),
        ),
    )
    traits = PURE


class ScatterOp(StableHLOOp):
    """The inputs with elements at indices combined with updates by a function."""

    name = "stablehlo.scatter"
    RULE: ClassVar = staticmethod(scatter)
    SIGNATURE: ClassVar = Signature(
        (
            INPUTS,
            ValueGroup("scatter_indices", ranked(ANY_INTEGER, INDEX)),
            ValueGroup("updates", ANY, variadic=True),
        ),
        (RESULTS,),
        (
            Property("scatter_dimension_numbers", enum("stablehlo.scatter")),
            Property("indices_are_sorted", ods.BOOL, optional=True),
            Property("unique_indices", ods.BOOL, optional=True),
        ),
        regions=1,
        same_sizes=True,
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("update_computation",)
    traits = PURE


class TorchIndexSelectOp(StableHLOOp):
    """Slices along a dimension, by number."""

    name = "stablehlo.torch_index_select"
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY, index=ANY),
        values(result=ANY),
        properties(dim=ods.I64, batch_dims=ods.I64),
    )
    traits = PURE


class DynamicUpdateSliceOp(FormOp):
    """The operand with a part replaced that begins at indices which are operands."""

    name = "stablehlo.dynamic_update_slice"
    RULE: ClassVar = staticmethod(movement_rules.dynamic_update_slice)
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("operand", ANY), ValueGroup("update", ANY), _START), values(result=ANY)
    )
    FORM: ClassVar = Form((OPERANDS,), FUNCTIONAL)
    traits = PURE


INDEXING = classes_in(globals(), Operation)
"""The operations of this module."""
