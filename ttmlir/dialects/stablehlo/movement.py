"""Operations of StableHLO that move elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import ComplexType, DenseArrayBase, TensorType, i64
from xdsl.ir import Attribute, Operation, TypedAttribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from ttmlir.dialects.definition.ods import (
    Signature,
    ValueGroup,
    classes_in,
    properties,
    refuse,
    text,
    values,
)
from ttmlir.dialects.definition.syntax import expect, parse_signed
from ttmlir.dialects.quant import uniform_of
from ttmlir.dialects.stablehlo.constraints import (
    ANY,
    ANY_AXIS,
    ANY_ELEMENTS,
    DIMENSION,
    DIMENSIONS,
    DYNAMIC,
    STATIC_OR_BOUNDED,
    check_inferred,
    element_of,
    elements_agree,
    extents_agree,
    of_rank,
    shape_of,
    shape_text,
)
from ttmlir.dialects.stablehlo.form import (
    FUNCTIONAL,
    OPERANDS,
    SAME,
    Form,
    Integer,
    IntegerList,
    Setting,
    integer,
    integers,
)
from ttmlir.dialects.stablehlo.operation import PURE, FormOp, StableHLOOp

# --- Movement -------------------------------------------------------------------------------------
# What operations that make and rearrange tensors require, in StableHLO's words.


def _join(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _same_elements(op: Operation, words: str = "the same element type") -> None:
    """Compare the element types of the operands and of the results."""
    types = [*op.operand_types, *(result.type for result in op.results)]
    if not all(elements_agree(element_of(type), element_of(types[0])) for type in types):
        refuse(f"requires {words} for all operands and results")


def _like(type: Attribute, shape: Sequence[int]) -> TensorType[Attribute]:
    return TensorType(element_of(type), shape)


def constant(op: Operation) -> None:
    """The result has the type of the value; that of a quantized one is its storage type."""
    type = op.results[0].type
    if (uniform := uniform_of(element_of(type))) is not None:
        value = cast("TypedAttribute", op.properties["value"]).get_type()
        if (shape_of(value), element_of(value)) != (shape_of(type), uniform.storage):
            refuse(f"requires a value of {text(uniform.storage)} and of the shape of its result")
        return
    check_inferred(op, cast("TypedAttribute", op.properties["value"]).get_type())


def iota(op: Operation) -> None:
    """The dimension is one of the result's."""
    rank = len(shape_of(op.results[0].type))
    if not rank:
        refuse("does not support scalars.")
    if integer(op, "iota_dimension") >= rank:
        refuse("iota dimension cannot go beyond the output rank.")


def broadcast_in_dim(op: Operation) -> None:
    """Each dimension of the operand has a place in the result, and its extent or 1."""
    _same_elements(op, words="compatible element types")
    operand, result = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    dims = integers(op, "broadcast_dimensions")
    if len(dims) != len(operand):
        refuse(
            f"broadcast_dimensions size ({len(dims)}) does not match operand rank ({len(operand)})"
        )
    if len(set(dims)) != len(dims):
        refuse("broadcast_dimensions should not have duplicates")
    for index, dim in enumerate(dims):
        if not 0 <= dim < len(result):
            refuse(
                f"broadcast_dimensions contains invalid value {dim} for result with rank "
                f"{len(result)}"
            )
        extent = operand[index]
        if extent not in (1, result[dim], DYNAMIC) and result[dim] != DYNAMIC:
            refuse(
                f"size of operand dimension {index} ({extent}) is not equal to 1 or size of result "
                f"dimension {dim} ({result[dim]})"
            )


def broadcast(op: Operation) -> None:
    """The result has the new extents in front."""
    type = op.operands[0].type
    check_inferred(op, _like(type, (*integers(op, "broadcast_sizes"), *shape_of(type))))


def reshape(op: Operation) -> None:
    """The result has as many elements."""
    _same_elements(op, words="compatible element types")
    operand, result = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    if DYNAMIC in (*operand, *result):
        return
    if math.prod(operand) != math.prod(result):
        refuse(
            f"number of output elements ({math.prod(result)}) doesn't match expected number of "
            f"elements ({math.prod(operand)})"
        )


def transpose(op: Operation) -> None:
    """The permutation names each dimension once."""
    type = op.operands[0].type
    shape, order = shape_of(type), integers(op, "permutation")
    if len(order) != len(shape):
        refuse(
            f"TransposeOp operand rank {len(shape)} does not match permutation size {len(order)}"
        )
    if sorted(order) != list(range(len(shape))):
        refuse(
            f"attribute permutation must be a permutation of [{_join(range(len(shape)))}] but "
            f"got {_join(order)}"
        )
    check_inferred(op, _like(type, [shape[dim] for dim in order]))


def reverse(op: Operation) -> None:
    """The dimensions are different ones of the operand's."""
    rank, dims = len(shape_of(op.operands[0].type)), integers(op, "dimensions")
    if len(set(dims)) != len(dims):
        refuse(f"dimensions should be unique. Got: {_join(dims)}")
    for dim in dims:
        if dim < 0:
            refuse(f"all dimensions should be non-negative. Got dimension: {dim}.")
        if dim >= rank:
            refuse(f"all dimensions should be between [0, {rank}). Got dimension: {dim}.")
    check_inferred(op, op.operands[0].type)


def concatenate(op: Operation) -> None:
    """The operands differ in the extent of the dimension only."""
    shapes = [shape_of(type) for type in op.operand_types]
    if not shapes:
        refuse("expected 1 or more operands, but found 0")
    first, dim = shapes[0], integer(op, "dimension")
    for index, shape in enumerate(shapes[1:], 1):
        if len(shape) != len(first):
            refuse(f"operands (0) and ({index}) do not match rank")
    if dim >= len(first):
        refuse(f"dimension {dim} is out-of-bounds for input rank {len(first)}")
    for index, shape in enumerate(shapes[1:], 1):
        for place, (a, b) in enumerate(zip(first, shape, strict=True)):
            if place != dim and a != b and DYNAMIC not in (a, b):
                refuse(
                    f"shapes of operand (0) and ({index}) are not compatible at non-concat index "
                    f"{place}: ({_join(first)}) != ({_join(shape)})"
                )
    _same_elements(op)
    extents = [shape[dim] for shape in shapes]
    total = DYNAMIC if DYNAMIC in extents else sum(extents)
    check_inferred(op, _like(op.operands[0].type, (*first[:dim], total, *first[dim + 1 :])))


def pad(op: Operation) -> None:
    """The amounts are given for each dimension."""
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    low, high, interior = (integers(op, name) for name in names)
    if not len(low) == len(high) == len(interior):
        refuse(f"failed to verify that all of {{{', '.join(names)}}} have same size")
    _same_elements(op)
    type = op.operands[0].type
    shape = shape_of(type)
    if len(low) != len(shape):
        refuse(f"edge_padding length ({len(low)}) must match operand rank ({len(shape)})")
    for gap in interior:
        if gap < 0:
            refuse(f"Interior padding cannot be negative: {gap}")
    extents = [
        DYNAMIC if size == DYNAMIC else a + b + size + max(size - 1, 0) * gap
        for size, a, b, gap in zip(shape, low, high, interior, strict=True)
    ]
    for dim, extent in enumerate(extents):
        if extent < 0 and extent != DYNAMIC:
            refuse(f"Padding result in negative size for dimension {dim}")
    check_inferred(op, _like(type, extents))


def slice(op: Operation) -> None:
    """The ranges lie in the operand."""
    type = op.operands[0].type
    shape = shape_of(type)
    names = ("start_indices", "limit_indices", "strides")
    lists = [integers(op, name) for name in names]
    if len({len(numbers) for numbers in lists}) > 1:
        refuse(f"failed to verify that all of {{{', '.join(names)}}} have same size")
    if len(lists[0]) != len(shape):
        refuse(
            f"the number of elements in start_indices ({len(lists[0])}) does not match the rank of "
            f"the operand ({len(shape)})"
        )
    extents: list[int] = []
    for dim, (start, limit, stride) in enumerate(zip(*lists, strict=True)):
        if start < 0:
            refuse(f"negative start index {start} in dimension {dim}")
        if shape[dim] != DYNAMIC and limit > shape[dim]:
            refuse(
                f"limit index {limit} is larger than dimension size {shape[dim]} in dimension {dim}"
            )
        if start > limit:
            refuse(f"start index {start} is larger than limit index {limit} in dimension {dim}")
        if stride <= 0:
            refuse(f"stride must be positive but got {stride} in dimension {dim}")
        extents.append(-((start - limit) // stride))
    check_inferred(op, _like(type, extents))


def dynamic_slice(op: Operation) -> None:
    """The part fits in the operand."""
    type, *starts = op.operand_types
    shape, sizes = shape_of(type), integers(op, "slice_sizes")
    if len(sizes) != len(starts):
        refuse(
            f"has mismatched number of slice sizes ({len(sizes)}) and number of start indices "
            f"({len(starts)})"
        )
    if len(starts) != len(shape):
        refuse(
            f"has mismatched number of start indices ({len(starts)}) and the rank of operand "
            f"({len(shape)})"
        )
    for dim, (size, extent) in enumerate(zip(sizes, shape, strict=True)):
        if size < 0:
            refuse(f"has negative size index to dynamic slice: {size}")
        if extent not in (DYNAMIC,) and size > extent:
            refuse(
                f"has slice size {size} greater than dimension size {extent} in dimension {dim} of "
                "operand"
            )
    check_inferred(op, _like(type, sizes))


def dynamic_update_slice(op: Operation) -> None:
    """The update fits in the operand."""
    operand, update, *starts = op.operand_types
    shape, part = shape_of(operand), shape_of(update)
    if len(part) != len(shape):
        refuse(f"update rank does not match operand rank: {len(part)} vs {len(shape)}.")
    if len(starts) != len(shape):
        refuse(
            f"expects number of start_indices to match operand rank: {len(starts)} vs {len(shape)}."
        )
    for dim, (size, extent) in enumerate(zip(part, shape, strict=True)):
        if DYNAMIC not in (size, extent) and size > extent:
            refuse(
                f"expects size at dimension {dim} of update to be in range [0, {extent}]. Got: "
                f"{size}."
            )
    if not elements_agree(element_of(operand), element_of(update)):
        refuse("requires the same element type for operand and update")
    check_inferred(op, operand)


def get_dimension_size(op: Operation) -> None:
    """The dimension is one of the operand's."""
    rank, dim = len(shape_of(op.operands[0].type)), integer(op, "dimension")
    if dim >= rank:
        refuse(f"requires dimension attribute in range [0, {rank}); found ({dim})")


def bitcast_convert(op: Operation) -> None:
    """As many bits in the same order: types of other widths have a last dimension more."""
    types = (op.operands[0].type, op.results[0].type)
    widths = [_width(element_of(type)) for type in types]
    shapes = [shape_of(type) for type in types]
    if len({isinstance(element_of(type), ComplexType) for type in types}) > 1:
        refuse(
            f"cannot convert between real and complex types, but got: '{text(types[0])}' and "
            f"'{text(types[1])}'"
        )
    if 0 in widths:
        return
    if widths[0] == widths[1]:
        longer, shorter = shapes
    else:
        small, large = sorted(range(2), key=widths.__getitem__)
        longer, shorter = shapes[small], shapes[large]
        if len(longer) != len(shorter) + 1:
            refuse(
                f"rank of smaller element type ({len(longer)}) should be 1 more than rank of "
                f"larger element type ({len(shorter)}), but {len(longer)} != {len(shorter)} + 1."
            )
        if longer[-1] not in (DYNAMIC, widths[large] // widths[small]):
            refuse(
                f"requires compatible bit widths. Got: '{text(types[0])}' and '{text(types[1])}', "
                f"but {widths[small]} * {longer[-1]} != {widths[large]}."
            )
        longer = longer[:-1]
    if not extents_agree(longer, shorter):
        refuse(
            "operand and result shapes must match except for the innermost dimension of the shape "
            f"with the smaller element type. Got: '{text(types[0])}' and '{text(types[1])}'."
        )


def _width(element: Attribute) -> int:
    """Bits of an element; 0 if it is not known."""
    if isinstance(element, ComplexType):
        return 2 * _width(cast("ComplexType", element).element_type)
    return int(getattr(element, "bitwidth", 0))


def clamp(op: Operation) -> None:
    """The bounds are scalars or have the operand's shape."""
    types = op.operand_types
    if not all(elements_agree(element_of(type), element_of(types[1])) for type in types):
        refuse("requires compatible element types for all operands and results")
    shape = shape_of(types[1])
    for name, type in (("min", types[0]), ("max", types[2])):
        bound = shape_of(type)
        if bound and not extents_agree(bound, shape):
            refuse(
                f"{name} shape {shape_text(bound)} is not scalar and is not compatible to operand "
                f"shape {shape_text(shape)}"
            )
    check_inferred(op, types[1])


# --- Movement -------------------------------------------------------------------------------------


class BroadcastInDimOp(FormOp):
    """Dimension i of the operand becomes dimension `broadcast_dimensions[i]`; others repeat."""

    name = "stablehlo.broadcast_in_dim"
    RULE: ClassVar = staticmethod(broadcast_in_dim)
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY_AXIS),
        values(result=STATIC_OR_BOUNDED),
        properties(broadcast_dimensions=DIMENSIONS),
    )
    FORM: ClassVar = Form(
        (OPERANDS, Setting("dims", IntegerList("broadcast_dimensions"))), FUNCTIONAL
    )
    traits = PURE


class BroadcastOp(FormOp):
    """New dimensions in front, along which the operand repeats."""

    name = "stablehlo.broadcast"
    RULE: ClassVar = staticmethod(broadcast)
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY), values(result=ANY_AXIS), properties(broadcast_sizes=DIMENSIONS)
    )
    FORM: ClassVar = Form((OPERANDS, Setting("sizes", IntegerList("broadcast_sizes"))), FUNCTIONAL)
    traits = PURE


class ReshapeOp(FormOp):
    """The same elements in the same order, in another shape."""

    name = "stablehlo.reshape"
    RULE: ClassVar = staticmethod(reshape)
    SIGNATURE: ClassVar = Signature(values(operand=ANY_AXIS), values(result=STATIC_OR_BOUNDED))
    FORM: ClassVar = Form((OPERANDS,), SAME)
    traits = PURE


class TransposeOp(FormOp):
    """Dimension i of the result is dimension `permutation[i]` of the operand."""

    name = "stablehlo.transpose"
    RULE: ClassVar = staticmethod(transpose)
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY_AXIS), values(result=ANY_AXIS), properties(permutation=DIMENSIONS)
    )
    FORM: ClassVar = Form((OPERANDS, Setting("dims", IntegerList("permutation"))), FUNCTIONAL)
    traits = PURE


class ReverseOp(FormOp):
    """The elements in the opposite order along some dimensions."""

    name = "stablehlo.reverse"
    RULE: ClassVar = staticmethod(reverse)
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY), values(result=ANY), properties(dimensions=DIMENSIONS)
    )
    FORM: ClassVar = Form((OPERANDS, Setting("dims", IntegerList("dimensions"))), SAME)
    traits = PURE


class ConcatenateOp(FormOp):
    """The operands one after the other along a dimension."""

    name = "stablehlo.concatenate"
    RULE: ClassVar = staticmethod(concatenate)
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("inputs", ANY, variadic=True),),
        values(result=ANY),
        properties(dimension=DIMENSION),
    )
    FORM: ClassVar = Form((OPERANDS, Setting("dim", Integer("dimension"))), FUNCTIONAL)
    traits = PURE


class PadOp(FormOp):
    """The operand with a value around and between its elements; negative amounts cut off."""

    name = "stablehlo.pad"
    RULE: ClassVar = staticmethod(pad)
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY, padding_value=of_rank(0, *ANY_ELEMENTS)),
        values(result=ANY),
        properties(
            edge_padding_low=DIMENSIONS, edge_padding_high=DIMENSIONS, interior_padding=DIMENSIONS
        ),
    )
    FORM: ClassVar = Form(
        (
            OPERANDS,
            Setting("low", IntegerList("edge_padding_low")),
            Setting("high", IntegerList("edge_padding_high")),
            Setting("interior", IntegerList("interior_padding")),
        ),
        FUNCTIONAL,
    )
    traits = PURE


class SliceOp(StableHLOOp):
    """Every `strides[i]`-th element from a start to a limit: `slice %0 [0:2, 1:9:4]`."""

    name = "stablehlo.slice"
    RULE: ClassVar = staticmethod(slice)
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY),
        values(result=ANY),
        properties(start_indices=DIMENSIONS, limit_indices=DIMENSIONS, strides=DIMENSIONS),
    )
    SPELLED: ClassVar[tuple[str, ...]] = ("start_indices", "limit_indices", "strides")
    traits = PURE

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read operand, ranges and types."""
        operand = parser.parse_unresolved_operand()
        ranges: list[tuple[int, int, int]] = []
        expect(parser, "[")
        while parser.parse_optional_punctuation("]") is None:
            if ranges:
                expect(parser, ",")
            start = parse_signed(parser)
            expect(parser, ":")
            limit = parse_signed(parser)
            stride = 1 if parser.parse_optional_punctuation(":") is None else parse_signed(parser)
            ranges.append((start, limit, stride))
        spelled: dict[str, Attribute] = {
            name: DenseArrayBase.from_list(i64, [item[index] for item in ranges])
            for index, name in enumerate(cls.SPELLED)
        }
        return cls.parse_rest(parser, spelled, [operand])

    def print(self, printer: Printer) -> None:
        """Write operand, ranges and types."""
        ranges = zip(*(integers(self, name) for name in self.SPELLED), strict=True)
        texts = [
            f"{start}:{limit}" + (f":{stride}" if stride != 1 else "")
            for start, limit, stride in ranges
        ]
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        printer.print_string(f" [{', '.join(texts)}]")
        self.print_rest(printer)


MOVEMENT = classes_in(globals(), Operation)
"""The operations of this module."""
