"""What folds, gathers, scatters and the like require, in StableHLO's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import TensorType, i1, i32
from xdsl.ir import Attribute, Operation, Region

from ttmlir.dialects.definition.ods import refuse, text
from ttmlir.dialects.stablehlo.attrs import (
    GatherDimensionNumbersAttr,
    ScatterDimensionNumbersAttr,
)
from ttmlir.dialects.stablehlo.rules.contraction import window_extents
from ttmlir.dialects.stablehlo.rules.shapes import (
    DYNAMIC,
    check_compatible,
    check_inferred,
    element_of,
    extents_agree,
    shape_of,
)
from ttmlir.dialects.stablehlo.text.form import integer, integers

_TRUTH = TensorType(i1, ())


def _like(type: Attribute, shape: Sequence[int]) -> TensorType[Attribute]:
    return TensorType(element_of(type), shape)


def _returned(region: Region) -> list[Attribute]:
    last = region.block.last_op
    return [] if last is None else list(last.operand_types)


def _check_fold(op: Operation, region: Region, inits: Sequence[Attribute]) -> None:
    """The function folds pairs of values of the types of the initial values."""
    count = len(inits)
    arguments, results = len(region.block.args), _returned(region)
    if arguments != 2 * count:
        refuse(
            f"Reduction-region must take {2 * count} parameters, but takes {arguments} parameter(s)"
        )
    if len(results) != count:
        refuse(
            f"The reduction-region expected to return {count} value(s), but returned {len(results)}"
        )
    for index, (result, init) in enumerate(zip(results, inits, strict=True)):
        if result.name != TensorType.name or not extents_agree(shape_of(result), shape_of(init)):
            refuse(
                f"The shape of reduction-region's result type at index {index} differs from the "
                f"op's corresponding init-value type: '{text(result)}' vs '{text(init)}'"
            )
        if element_of(result) != element_of(init):
            refuse(
                f"The element-type of reduction-region's result type at index {index} is expected "
                f"to be promotable from the op's corresponding init-value element-type: "
                f"'{text(result)}' vs '{text(init)}'"
            )


def _pairs(op: Operation) -> int:
    """The number of inputs of an operation that has something else for each of them."""
    count = len(op.operands) // 2
    if not count:
        refuse(f"expected 2 or more operands, but found {len(op.operands)}")
    return count


def reduce(op: Operation) -> None:
    """The dimensions are different ones of the inputs', which have one shape."""
    count = _pairs(op)
    inputs, inits = op.operand_types[:count], op.operand_types[count:]
    shape, dims = shape_of(inputs[0]), integers(op, "dimensions")
    if not all(extents_agree(shape, shape_of(type)) for type in inputs):
        refuse("expects all inputs to have compatible shapes.")
    for place, dim in enumerate(dims):
        if not 0 <= dim < len(shape):
            refuse(f"Out-of-bounds dimension {dim}, expected to be in range [0, {len(shape)})")
        if dim in dims[:place]:
            refuse(f"Duplicate reduction dimension: {dim}")
    _check_fold(op, op.regions[0], inits)
    kept = [size for dim, size in enumerate(shape) if dim not in dims]
    check_inferred(op, *(_like(type, kept) for type in inputs))


def reduce_window(op: Operation) -> None:
    """The window has as many dimensions as the inputs."""
    count = _pairs(op)
    inputs, inits = op.operand_types[:count], op.operand_types[count:]
    window, shape = integers(op, "window_dimensions"), shape_of(inputs[0])
    if len(window) != len(shape):
        refuse(
            f"expects window-dimensions size == input rank, but got window-dimensions size: "
            f"{len(window)} and input: '{text(inputs[0])}' with rank = {len(shape)}."
        )
    names = {"stride": "window_strides", "lhs": "base_dilations", "rhs": "window_dilations"}
    extents = window_extents(op, shape, window, names)
    _check_fold(op, op.regions[0], inits)
    check_inferred(op, *(_like(type, extents) for type in inputs))


def select_and_scatter(op: Operation) -> None:
    """The source has one element for each window of the operand."""
    operand, source, init = op.operand_types
    shape = shape_of(operand)
    window = integers(op, "window_dimensions") or (1,) * len(shape)
    if len(window) != len(shape):
        refuse(
            f"expects window-dimensions size == operand rank, but got window-dimensions size: "
            f"{len(window)} and operand-type: '{text(operand)}' with rank = {len(shape)}."
        )
    names = {"stride": "window_strides", "lhs": "", "rhs": ""}
    expected = _like(operand, window_extents(op, shape, window, names))
    if not extents_agree(shape_of(source), shape_of(expected)):
        refuse(f"expects source-type to be '{text(expected)}', but got'{text(source)}'")
    _check_fold(op, op.regions[1], [init])
    check_inferred(op, operand)


def sort(op: Operation) -> None:
    """The comparison takes two elements of each input."""
    types = op.operand_types
    if not types:
        refuse("requires at least one input")
    shape = shape_of(types[0])
    if not all(extents_agree(shape, shape_of(type)) for type in types):
        refuse("requires the same shape for all operands and results")
    rank = len(shape)
    dim = integer(op, "dimension") if "dimension" in op.properties else -1
    if rank and not -rank <= dim < rank:
        refuse(f"dimension attribute value must be in range [-{rank}, {rank}), but found {dim}")
    block = op.regions[0].block
    if len(block.args) != 2 * len(types):
        refuse(f"comparator block should have {2 * len(types)} arguments")
    for index, argument in enumerate(block.args):
        expected = _like(types[index // 2], ())
        if argument.type != expected:
            refuse(
                f"comparator block argument #{index} should be of type '{text(expected)}' but got "
                f"'{text(argument.type)}'"
            )
    results = _returned(op.regions[0])
    if len(results) != 1:
        refuse(f"comparator must return single output but got: {len(results)}")
    if results[0] != _TRUTH:
        refuse(f"comparator must return tensor<i1> but got '{text(results[0])}'")
    check_inferred(op, *types)


def map(op: Operation) -> None:
    """All dimensions are named in order."""
    if not op.operands:
        refuse("expected 1 or more operands, but found 0")
    dims, type = integers(op, "dimensions"), op.operands[0].type
    if list(dims) != list(range(len(dims))):
        refuse(
            f"requires monotonically increasing dimension numbers, but got: "
            f"{', '.join(str(dim) for dim in dims)}"
        )
    if len(dims) != len(shape_of(type)):
        refuse(
            f"applied to a subset of dimensions currently not supported: operand dimensions = "
            f"{len(shape_of(type))}, requested map dimensions size = {len(dims)}"
        )
    count = len(op.regions[0].block.args)
    if count != len(op.operands):
        refuse(
            f"expects number of operands to match the arity of map computation, but got: "
            f"{len(op.operands)} and {count}"
        )


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
    depth = indices[vector_dim] if vector_dim < len(indices) else 1
    if len(numbers.start_index_map) != depth and depth != DYNAMIC:
        refuse(
            f"start_index_map size ({len(numbers.start_index_map)}) is not equal to size of index "
            f"dimension ({vector_dim}) of start_indices ({depth})"
        )
    _check_range("start_index_map", numbers.start_index_map, len(shape))
    if len(sizes) != len(shape):
        refuse(f"slice_sizes size ({len(sizes)}) not equal to operand rank ({len(shape)})")
    for dim, (size, extent) in enumerate(zip(sizes, shape, strict=True)):
        if size < 0 or (extent != DYNAMIC and size > extent):
            refuse(
                f"slice size ({size}) is out of bounds for operand dimension ({extent}) at index "
                f"{dim}"
            )
    for name, dims in (("collapsed_slice_dims", collapsed), ("operand_batching_dims", batching)):
        _check_range(name, dims, len(shape))
        for dim in dims:
            if sizes[dim] > 1:
                refuse(
                    f"Expects that for each dim in {name}, slice_sizes[dim] should be <= 1, but "
                    f"got {sizes[dim]}"
                )
    batches = [size for dim, size in enumerate(indices) if dim != vector_dim]
    offsets = [size for dim, size in enumerate(sizes) if dim not in (*collapsed, *batching)]
    rank = len(batches) + len(offsets)
    _check_range("offset_dims", numbers.offset_dims, rank)
    result = [
        offsets.pop(0) if dim in numbers.offset_dims else batches.pop(0) for dim in range(rank)
    ]
    check_inferred(op, _like(op.operands[0].type, result))


def _check_index_vector(dim: int, indices: Sequence[int], name: str) -> None:
    if not 0 <= dim <= len(indices):
        refuse(
            f"Expects index_vector_dim to be in range [0, rank-of('{name}')] i.e. [0, "
            f"{len(indices)}]. got: {dim}."
        )


def _check_range(name: str, dims: Sequence[int], rank: int) -> None:
    if len(set(dims)) != len(dims):
        refuse(f"Expects {name} to not repeat, got: [{', '.join(str(dim) for dim in dims)}].")
    for dim in dims:
        if not 0 <= dim < rank:
            refuse(
                f"Expects each element of {name} to be in range [0, rank-of('operand')) i.e. [0, "
                f"{rank}). got: {dim}."
            )


def scatter(op: Operation) -> None:
    """Each dimension of the inputs has its place."""
    count = _pairs(op)
    inputs, indices = op.operand_types[:count], shape_of(op.operand_types[count])
    updates = shape_of(op.operand_types[count + 1])
    numbers = cast("ScatterDimensionNumbersAttr", op.properties["scatter_dimension_numbers"])
    rank = len(shape_of(inputs[0]))
    inserted, batching = numbers.inserted_window_dims, numbers.input_batching_dims
    window = numbers.update_window_dims
    if len(window) + len(inserted) + len(batching) != rank:
        refuse(
            f"Expects rank-of operand to match size-of('update_window_dims') + "
            f"size-of('inserted_window_dims') + size-of('input_batching_dims') i.e. "
            f"{len(window) + len(inserted) + len(batching)} but got {rank}."
        )
    _check_index_vector(numbers.index_vector_dim, indices, "scatter_indices")
    _check_range("inserted_window_dims", inserted, rank)
    _check_range("input_batching_dims", batching, rank)
    _check_range("scatter_dims_to_operand_dims", numbers.scatter_dims_to_operand_dims, rank)
    _check_range("update_window_dims", window, len(updates))
    batches = [size for dim, size in enumerate(indices) if dim != numbers.index_vector_dim]
    if len(batches) + len(window) != len(updates):
        refuse(
            f"expects updates tensor must be of rank {len(batches) + len(window)} ( == rank-of"
            f"('scatter_indices') - 1 + size-of('update_window_dims'), where 'scatter_indices' is "
            f"expanded by a trailing 1 dimension if 'index_vector_dim' == rank-of"
            f"('scatter_indices')), but got {len(updates)}."
        )
    inits = [_like(type, ()) for type in inputs]
    _check_fold(op, op.regions[0], inits)
    check_inferred(op, *inputs)


def batch_norm(op: Operation) -> None:
    """The feature dimension is one of the operand's, with a value for each of its elements."""
    types = op.operand_types
    shape, feature = shape_of(types[0]), integer(op, "feature_index")
    if feature >= len(shape):
        refuse(
            f"expects featureIndex to be smaller than the rank of multi-dimensional operands; got "
            f"featureIndex {feature}, and rank {len(shape)}."
        )
    for type in types[1:]:
        (*_, size) = shape_of(type)
        if len(shape_of(type)) == 1 and size != shape[feature] and DYNAMIC not in (size, *shape):
            refuse(
                f"expects the size of single-dimensional operands to be compatible with feature "
                f"count, but the size of single-dimensional operands is {size} and the feature "
                f"count is {shape[feature]}."
            )
    check_compatible([types[0], op.results[0].type])


def top_k(op: Operation) -> None:
    """The last dimension has at least k elements."""
    type, k = op.operands[0].type, integer(op, "k")
    if not isinstance(type, TensorType):
        return
    shape = shape_of(cast("Attribute", type))
    if not shape:
        refuse("operand's rank must be at least 1")
    if shape[-1] != DYNAMIC and shape[-1] < k:
        refuse(f"operand's last dimension must be at least {k}")
    kept = (*shape[:-1], k)
    check_inferred(op, _like(cast("Attribute", type), kept), TensorType(i32, kept))
