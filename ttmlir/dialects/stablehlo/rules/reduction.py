"""What folds and the like require, in StableHLO's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import AnyFloat, ComplexType, TensorType, i1, i32
from xdsl.ir import Attribute, Operation, Region

from ttmlir.dialects.definition.ods import refuse, text
from ttmlir.dialects.stablehlo.rules.constraints import width_of
from ttmlir.dialects.stablehlo.rules.contraction import window_extents
from ttmlir.dialects.stablehlo.rules.control import returned
from ttmlir.dialects.stablehlo.rules.shapes import (
    DYNAMIC,
    check_compatible,
    check_inferred,
    check_shapes_agree,
    element_of,
    extents_agree,
    shape_of,
)
from ttmlir.dialects.stablehlo.text.form import integer, integers

_TRUTH = TensorType(i1, ())


def _like(type: Attribute, shape: Sequence[int]) -> TensorType[Attribute]:
    return TensorType(element_of(type), shape)


def check_fold(op: Operation, region: Region, inits: Sequence[Attribute]) -> None:
    """The function folds pairs of values of the types of the initial values."""
    count = len(inits)
    arguments, results = len(region.block.args), returned(region)
    parameters = [argument.type for argument in region.block.args]
    if arguments != 2 * count:
        refuse(
            f"Reduction-region must take {2 * count} parameters, but takes {arguments} parameter(s)"
        )
    if len(results) != count:
        refuse(
            f"The reduction-region expected to return {count} value(s), but returned {len(results)}"
        )
    for index, (result, init) in enumerate(zip(results, inits, strict=True)):
        for place in (index, count + index):
            if not _agree(parameters[place], result):
                refuse(
                    f"The type of reduction-region's parameter at index {place} is different than "
                    f"the corresponding result type: '{text(parameters[place])}' vs "
                    f"'{text(result)}'"
                )
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


def _agree(a: Attribute, b: Attribute) -> bool:
    """True for tensors of one shape and one element type; StableHLO ignores precision here."""
    if a.name != TensorType.name or b.name != TensorType.name:
        return False
    return _are_alike(element_of(a), element_of(b)) and extents_agree(shape_of(a), shape_of(b))


def _are_alike(a: Attribute, b: Attribute) -> bool:
    are_floats = isinstance(a, AnyFloat) and isinstance(b, AnyFloat)
    return a == b or are_floats or (a.name == b.name == ComplexType.name)


def check_promotable(region: Region, elements: Sequence[Attribute]) -> None:
    """What a function returns can hold values of these types."""
    for index, (result, element) in enumerate(zip(returned(region), elements, strict=True)):
        widths = width_of(element_of(result)), width_of(element)
        # A width of 0 is none of an integer.
        fits = widths[0] >= widths[1] if all(widths) else _are_alike(element_of(result), element)
        if not fits:
            refuse(
                f"The element-type of reduction-region's result type at index {index} is expected "
                f"to be promotable from the op's corresponding init-value element-type: "
                f"'{text(result)}' vs '{text(TensorType(element, ()))}'"
            )


def pairs(op: Operation) -> int:
    """The number of inputs of an operation that has something else for each of them."""
    count = len(op.operands) // 2
    if not count:
        refuse(f"expected 2 or more operands, but found {len(op.operands)}")
    return count


def reduce(op: Operation) -> None:
    """The dimensions are different ones of the inputs', which have one shape."""
    count = pairs(op)
    inputs, inits = op.operand_types[:count], op.operand_types[count:]
    shape, dims = shape_of(inputs[0]), integers(op, "dimensions")
    if not all(extents_agree(shape, shape_of(type)) for type in inputs):
        refuse("expects all inputs to have compatible shapes.")
    for place, dim in enumerate(dims):
        if not 0 <= dim < len(shape):
            refuse(f"Out-of-bounds dimension {dim}, expected to be in range [0, {len(shape)})")
        if dim in dims[:place]:
            refuse(f"Duplicate reduction dimension: {dim}")
    check_fold(op, op.regions[0], inits)
    kept = [size for dim, size in enumerate(shape) if dim not in dims]
    check_inferred(op, *(_like(type, kept) for type in inputs))


def reduce_window(op: Operation) -> None:
    """The window has as many dimensions as the inputs."""
    count = pairs(op)
    inputs, inits = op.operand_types[:count], op.operand_types[count:]
    window, shape = integers(op, "window_dimensions"), shape_of(inputs[0])
    if len(window) != len(shape):
        refuse(
            f"expects window-dimensions size == input rank, but got window-dimensions size: "
            f"{len(window)} and input: '{text(inputs[0])}' with rank = {len(shape)}."
        )
    names = {"stride": "window_strides", "lhs": "base_dilations", "rhs": "window_dilations"}
    extents = window_extents(op, shape, window, names)
    check_fold(op, op.regions[0], inits)
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
    check_fold(op, op.regions[1], [init])
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
    results = returned(op.regions[0])
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
    check_shapes_agree([*op.operand_types, op.results[0].type])
    element = _check_map(op)
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
    check_inferred(op, TensorType(element, shape_of(type)))


def _check_map(op: Operation) -> Attribute:
    """The function takes an element of each operand; the type of the element that it returns."""
    parameters = [argument.type for argument in op.regions[0].block.args]
    if len(parameters) != len(op.operands):
        refuse(
            f"expects number of operands to match the arity of map computation, but got: "
            f"{len(op.operands)} and {len(parameters)}"
        )
    for index, (parameter, operand) in enumerate(zip(parameters, op.operand_types, strict=True)):
        if not _is_scalar(parameter):
            refuse(
                f"computation arguments must be 0-rank tensor, but got: arg #{index} of type "
                f"'{text(parameter)}'"
            )
        if element_of(parameter) != element_of(operand):
            refuse(
                f"element type of operands and computation arguments must match, but got: "
                f"'{text(element_of(operand))}' and '{text(element_of(parameter))}'"
            )
    results = returned(op.regions[0])
    if len(results) != 1:
        refuse(f"computation must return single output, but got: {len(results)}")
    if not _is_scalar(results[0]):
        refuse(f"computation must return 0-rank tensor, but got: '{text(results[0])}'")
    return element_of(results[0])


def _is_scalar(type: Attribute) -> bool:
    return isinstance(type, TensorType) and not type.shape.data


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
