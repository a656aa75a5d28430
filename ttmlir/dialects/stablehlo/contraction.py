"""Operations of StableHLO that sum products, and those of linear algebra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    IntegerAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import Property, Signature, properties, refuse, text, values
from ttmlir.dialects.stablehlo.attrs import (
    ConvDimensionNumbersAttr,
    DotDimensionNumbersAttr,
    EnumAttr,
    FftTypeAttr,
)
from ttmlir.dialects.stablehlo.constraints import (
    ANY,
    ANY_AXIS,
    COMPLEX,
    DIMENSIONS,
    DYNAMIC,
    FLOAT,
    QUANTIZED,
    Shape,
    check_inferred,
    element_of,
    enum,
    enum_array,
    extents_agree,
    leave_inferred,
    ranked,
    shape_of,
    shape_text,
)
from ttmlir.dialects.stablehlo.form import (
    FUNCTIONAL,
    OPERANDS,
    SAME,
    Algorithm,
    DimensionPairs,
    Flag,
    Form,
    IntegerList,
    Member,
    Precisions,
    Setting,
    Text,
    integer,
    integers,
)
from ttmlir.dialects.stablehlo.operation import PURE, FormOp, StableHLOOp

# --- Contraction ----------------------------------------------------------------------------------
# What contractions, convolutions and linear algebra require, in StableHLO's words.


def _check_shape(op: Operation, shape: Sequence[int]) -> None:
    result = op.results[0].type
    if leave_inferred(TensorType(element_of(result), shape)):
        return
    if not extents_agree(tuple(shape), shape_of(result)):
        refuse(
            f"inferred shape '{shape_text(shape)}' is incompatible with return type of operation "
            f"'{text(result)}'"
        )


def _check_side(side: str, rank: int, batching: Sequence[int], contracting: Sequence[int]) -> None:
    seen: set[int] = set()
    for dim in (*batching, *contracting):
        if dim in seen:
            refuse(
                f"has duplicated dimension from {side}_batching_dimensions and "
                f"{side}_contracting_dimensions: {dim}"
            )
        seen.add(dim)
    for kind, dims in (("batching", batching), ("contracting", contracting)):
        for dim in dims:
            if not 0 <= dim < rank:
                refuse(f"{side}_{kind}_dimensions value: {dim} is out of range: [0, {rank})")


def dot_general(op: Operation) -> None:
    """Dimensions come in pairs of equal extents; the result has batches, then what is left."""
    numbers = cast("DotDimensionNumbersAttr", op.properties["dot_dimension_numbers"])
    lhs, rhs = map(shape_of, op.operand_types)
    batching = (numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions)
    contracting = (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions)
    for kind, (a, b) in (("batching", batching), ("contracting", contracting)):
        if len(a) != len(b):
            refuse(f"lhs and rhs should have the same number of {kind} dimensions")
    _check_side("lhs", len(lhs), batching[0], contracting[0])
    _check_side("rhs", len(rhs), batching[1], contracting[1])
    for kind, (a, b) in (("batching", batching), ("contracting", contracting)):
        for x, y in zip(a, b, strict=True):
            if lhs[x] != rhs[y] and DYNAMIC not in (lhs[x], rhs[y]):
                refuse(f"{kind} dimension sizes must match for lhs/rhs")
    shape = [lhs[dim] for dim in batching[0]]
    for side, sizes in enumerate((lhs, rhs)):
        taken = (*batching[side], *contracting[side])
        shape += [size for dim, size in enumerate(sizes) if dim not in taken]
    _check_shape(op, shape)


def dot(op: Operation) -> None:
    """Vectors and matrices."""
    lhs, rhs = map(shape_of, op.operand_types)
    if not (1 <= len(lhs) <= 2 and 1 <= len(rhs) <= 2):
        refuse("expected both lhs/rhs ranks to be either 1 or 2")
    if lhs[-1] != rhs[0] and DYNAMIC not in (lhs[-1], rhs[0]):
        # The words are StableHLO's, wherever the extents differ.
        refuse("expected both lhs/rhs ranks to be either 1 or 2")
    _check_shape(op, (*lhs[:-1], *rhs[1:]))


def window_extents(
    op: Operation, sizes: Sequence[int], window: Sequence[int], names: dict[str, str]
) -> list[int]:
    """How many windows fit in each dimension; refuses windows that make no sense.

    `names` are the properties that hold strides and dilations, by `stride`, `lhs` and `rhs`.
    """
    count = len(window)
    strides = _positive(op, names["stride"], "window-strides", "stride", count)
    base = _positive(op, names["lhs"], "base-dilation factors", "base dilation factor", count)
    dilations = _positive(
        op, names["rhs"], "window-dilation factors", "window dilation factor", count
    )
    padding = _padding(op, count)
    extents: list[int] = []
    for dim, taps in enumerate(window):
        if taps != DYNAMIC and taps <= 0:
            refuse(
                f"expects window to have positive value for {dim}-th window dimension, but got "
                f"{taps}."
            )
        if DYNAMIC in (taps, sizes[dim]):
            extents.append(DYNAMIC)
            continue
        size = max(0, (sizes[dim] - 1) * base[dim] + 1 if sizes[dim] else 0) + sum(padding[dim])
        reach = (taps - 1) * dilations[dim] + 1
        extents.append(0 if size < reach else (size - reach) // strides[dim] + 1)
    return extents


def _positive(op: Operation, name: str, plural: str, singular: str, count: int) -> Sequence[int]:
    numbers = integers(op, name)
    if not numbers:
        return (1,) * count
    if len(numbers) != count:
        refuse(
            f"expects {plural} to have same dimension-size as size of window dimensions ({count}), "
            f"but got: {len(numbers)}."
        )
    for dim, number in enumerate(numbers):
        if number <= 0:
            refuse(
                f"expects window to have positive {singular} for {dim}-th window dimension, but "
                f"got {number}."
            )
    return numbers


def _padding(op: Operation, count: int) -> list[tuple[int, int]]:
    attr = op.properties.get("padding")
    if attr is None:
        return [(0, 0)] * count
    elements = cast("DenseIntOrFPElementsAttr", attr)
    shape = cast("TensorType[Attribute]", elements.get_type()).get_shape()
    if len(shape) != 2 or shape[1] != 2:
        refuse(
            f"expects the padding-attribute to be 2-dimensional Nx2, but got {shape_text(shape)}"
        )
    if shape[0] != count:
        refuse(
            "expects padding-entries to have same dimension-size as size of window dimensions "
            f"({count}), but got: {shape[0]}."
        )
    numbers = [int(cast("int", value)) for value in elements.get_values()]
    if len(numbers) == 1:
        numbers *= 2 * count
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def convolution(op: Operation) -> None:
    """Features, groups and extents fit."""
    numbers = cast("ConvDimensionNumbersAttr", op.properties["dimension_numbers"])
    lhs, rhs = map(shape_of, op.operand_types)
    if len(lhs) != len(rhs):
        refuse(
            "expects convolution arguments to have same number of dimensions. Got: "
            f"'{text(op.operands[0].type)}' and '{text(op.operands[1].type)}'."
        )
    spatial = numbers.input_spatial_dimensions
    places = (*spatial, numbers.input_batch_dimension, numbers.input_feature_dimension)
    if max(places) >= len(lhs):
        refuse(
            f"expects input, kernel, and output dimension-numbers to be in-range [0, {len(lhs)})."
        )
    features, groups = lhs[numbers.input_feature_dimension], integer(op, "feature_group_count")
    batch, batch_groups = lhs[numbers.input_batch_dimension], integer(op, "batch_group_count")
    inner = rhs[numbers.kernel_input_feature_dimension]
    outer = rhs[numbers.kernel_output_feature_dimension]
    _check_groups((features, groups), (batch, batch_groups), inner, outer)
    if len(places) != len(lhs):
        refuse(
            f"expects {len(places)} dimensions in dim_numbers as in the operands, which have "
            f"{len(lhs)}"
        )
    window = [rhs[dim] for dim in numbers.kernel_spatial_dimensions]
    names = {"stride": "window_strides", "lhs": "lhs_dilation", "rhs": "rhs_dilation"}
    extents = window_extents(op, [lhs[dim] for dim in spatial], window, names)
    shape = [DYNAMIC] * len(lhs)
    shape[numbers.output_batch_dimension] = DYNAMIC if batch == DYNAMIC else batch // batch_groups
    shape[numbers.output_feature_dimension] = outer
    for dim, extent in zip(numbers.output_spatial_dimensions, extents, strict=True):
        shape[dim] = extent
    _check_shape(op, shape)


def _check_groups(
    features: tuple[int, int], batch: tuple[int, int], inner: int, outer: int
) -> None:
    if features[1] > 1 and batch[1] > 1:
        refuse(
            "expects batch_group_count and feature_group_count not to be both greater than 1. Got "
            f"{batch[1]} and {features[1]} resp."
        )
    if batch[0] != DYNAMIC and batch[0] % batch[1]:
        refuse(
            f"expects input batch dimension ({batch[0]}) to be divisible by batch_group_count. Got "
            f"batch_group_count = {batch[1]}."
        )
    if features[0] != DYNAMIC and features[0] % features[1]:
        refuse(
            f"expects input feature dimension ({features[0]}) to be a multiple of "
            f"feature_group_count. Got feature_group_count = {features[1]}."
        )
    if DYNAMIC not in (features[0], inner) and features[0] // features[1] != inner:
        refuse(
            f"expects input feature dimension ({features[0]}) / feature_group_count = kernel input "
            f"feature dimension ({inner}). Got feature_group_count = {features[1]}."
        )
    for count, name in ((features[1], "feature_group_count"), (batch[1], "batch_group_count")):
        if outer != DYNAMIC and outer % count:
            refuse(
                f"expects output feature dimension ({outer}) to be a multiple of {name}. Got "
                f"{name} = {count}."
            )


def fft(op: Operation) -> None:
    """The transform fits the element type, its lengths the last extents."""
    kind = cast("EnumAttr", op.properties["fft_type"]).data
    type, lengths = op.operands[0].type, integers(op, "fft_length")
    element, shape, rank = element_of(type), shape_of(type), len(lengths)
    if not 1 <= rank <= 3:
        refuse(f"rank must be between 1 and 3, but got {rank}.")
    if kind == "RFFT" and element.name not in (Float32Type.name, Float64Type.name):
        refuse(f"RFFT requires f32 or f64 input type, but is given '{text(element)}'.")
    if kind != "RFFT" and element.name != ComplexType.name:
        refuse(f"FFT/IFFT/IRFFT take a complex tensor as input, but is given '{text(type)}'.")
    if len(shape) < rank:
        refuse(
            f"operand rank must not be less than fft rank of {rank} for operand of type "
            f"'{text(type)}'."
        )
    extent = _transformed_extent(kind, shape[-rank:], shape, lengths)
    made: Attribute = element
    if kind == "RFFT":
        made = ComplexType[AnyFloat](cast("AnyFloat", element))
    elif kind == "IRFFT":
        made = cast("ComplexType[AnyFloat]", element).element_type
    check_inferred(op, TensorType[Attribute](made, (*shape[:-1], extent)))


def _transformed_extent(
    kind: str, inner: Sequence[int], shape: Shape, lengths: Sequence[int]
) -> int:
    """The last extent of the result; `inner` are the extents that are transformed."""
    got, wanted = (", ".join(map(str, numbers)) for numbers in (shape, lengths))
    last = lengths[-1]
    # Half of the numbers are the conjugates of the other half; division is C's.
    half = 0 if last == 0 and inner[-1] == 0 else int(last / 2) + 1
    if kind in ("FFT", "IFFT"):
        return shape[-1]
    if kind == "RFFT":
        if not extents_agree(tuple(inner), tuple(lengths)):
            refuse(
                "RFFT requires innermost dimensions to be compatible with fft_length. Got: "
                f"{got} but wanted {wanted}."
            )
        return half
    for extent, length in zip(inner[:-1], lengths[:-1], strict=True):
        if extent not in (length, DYNAMIC):
            refuse(
                "IRFFT requires non-final dimensions to be compatible with fft_length. Got: "
                f"{got} but wanted {wanted}, and {extent} != {length}."
            )
    if inner[-1] not in (half, DYNAMIC):
        refuse(
            "IRFFT requires innermost dimension to be compatible with fft_length[-1]/2+1. Got: "
            f"{inner[-1]} but fft_length is {last}."
        )
    return last


def triangular_solve(op: Operation) -> None:
    """One side of `b` has the extent of the square `a`; what is in front agrees."""
    a, b = op.operand_types
    if len({element_of(type) for type in (a, b, op.results[0].type)}) > 1:
        refuse("requires compatible element types for all operands and results")
    shape, other = shape_of(a), shape_of(b)
    both = f"'{text(a)}' and '{text(b)}'"
    if len(shape) < 2:
        refuse(f"operand 'a' must have rank >= 2, but got '{text(a)}'")
    if len(shape) != len(other):
        refuse(f"operands must have equal rank, but got {both}")
    if not extents_agree(shape[-2:-1], shape[-1:]):
        refuse(f"two minor dimensions of operand 'a' must be compatible, but got '{text(a)}'")
    side = -2 if cast("IntegerAttr", op.properties["left_side"]).value.data else -1
    if not extents_agree(shape[-2:-1], (other[side],)):
        refuse(f"shared dimension of operands 'a' and 'b' must be compatible, but got {both}")
    if not extents_agree(shape[:-2], other[:-2]):
        refuse(f"batch dimensions of the operands must be compatible, but got {both}")
    if cast("EnumAttr", op.properties["transpose_a"]).data == "TRANSPOSE_INVALID":
        refuse("Invalid transpose option value for triangular solve")
    check_inferred(op, b)


def cholesky(op: Operation) -> None:
    """The last two extents are equal."""
    shape: Shape = shape_of(op.operands[0].type)
    if len(shape) < 2:
        refuse(f"argument 'a' must have rank >= 2, got shape {', '.join(map(str, shape))}.")
    if shape[-1] != shape[-2] and DYNAMIC not in shape[-2:]:
        listed = ", ".join(map(str, shape))
        refuse(f"minor dimensions of 'a' must have equal size, got shape {listed}.")
    check_inferred(op, op.operands[0].type)


# --- Contraction ----------------------------------------------------------------------------------

PRECISION = Property("precision_config", enum_array("stablehlo.precision"), optional=True)
_PRECISION_ITEM = Setting("precision", Precisions("precision_config"), is_optional=True)
_ANALYTIC = ranked(FLOAT, COMPLEX)


class DotGeneralOp(FormOp):
    """Sums over contracting dimensions of products, for each pair of batches."""

    name = "stablehlo.dot_general"
    RULE: ClassVar = staticmethod(dot_general)
    SIGNATURE: ClassVar = Signature(
        values(lhs=ANY, rhs=ANY_AXIS),
        values(result=ANY_AXIS),
        (
            Property("dot_dimension_numbers", enum("stablehlo.dot")),
            PRECISION,
            Property("algorithm", enum("stablehlo.dot_algorithm"), optional=True),
        ),
    )
    FORM: ClassVar = Form(
        (
            OPERANDS,
            DimensionPairs("batching", is_optional=True),
            DimensionPairs("contracting", is_optional=False),
            _PRECISION_ITEM,
            Setting("algorithm", Algorithm("algorithm"), is_optional=True),
        ),
        FUNCTIONAL,
    )
    traits = PURE


class DotOp(FormOp):
    """The product of vectors or matrices."""

    name = "stablehlo.dot"
    RULE: ClassVar = staticmethod(dot)
    SIGNATURE: ClassVar = Signature(
        values(lhs=ANY, rhs=ANY_AXIS), values(result=ANY_AXIS), (PRECISION,)
    )
    FORM: ClassVar = Form((OPERANDS, _PRECISION_ITEM), FUNCTIONAL)
    traits = PURE


class EinsumOp(FormOp):
    """Einstein's sum of products of two tensors."""

    name = "stablehlo.einsum"
    SIGNATURE: ClassVar = Signature(
        values(lhs=ANY, rhs=ANY), values(result=ANY), properties(einsum_config=ods.STRING)
    )
    FORM: ClassVar = Form((OPERANDS, Setting("config", Text("einsum_config"))), FUNCTIONAL)
    traits = PURE


class UnaryEinsumOp(FormOp):
    """Einstein's sum over one tensor."""

    name = "stablehlo.unary_einsum"
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY), values(result=ANY), properties(einsum_config=ods.STRING)
    )
    FORM: ClassVar = Form((OPERANDS, Setting("config", Text("einsum_config"))), FUNCTIONAL)
    traits = PURE


class CholeskyOp(FormOp):
    """The triangular factor of a positive definite matrix."""

    name = "stablehlo.cholesky"
    RULE: ClassVar = staticmethod(cholesky)
    SIGNATURE: ClassVar = Signature(
        values(a=ranked(FLOAT, COMPLEX, QUANTIZED)),
        values(result=ranked(FLOAT, COMPLEX, QUANTIZED)),
        (Property("lower", ods.BOOL, optional=True),),
    )
    FORM: ClassVar = Form((OPERANDS, Setting("lower", Flag("lower"), is_optional=True)), SAME)
    traits = PURE


class TriangularSolveOp(StableHLOOp):
    """The solution of a linear system with a triangular matrix."""

    name = "stablehlo.triangular_solve"
    RULE: ClassVar = staticmethod(triangular_solve)
    SIGNATURE: ClassVar = Signature(
        values(a=_ANALYTIC, b=_ANALYTIC),
        values(result=_ANALYTIC),
        properties(
            left_side=ods.BOOL,
            lower=ods.BOOL,
            unit_diagonal=ods.BOOL,
            transpose_a=enum("stablehlo.transpose"),
        ),
    )
    traits = PURE


class FftOp(FormOp):
    """Fourier transform over the last dimensions."""

    name = "stablehlo.fft"
    RULE: ClassVar = staticmethod(fft)
    SIGNATURE: ClassVar = Signature(
        values(operand=_ANALYTIC),
        values(result=_ANALYTIC),
        properties(fft_type=enum("stablehlo.fft_type"), fft_length=DIMENSIONS),
    )
    FORM: ClassVar = Form(
        (
            OPERANDS,
            Setting("type", Member("fft_type", FftTypeAttr)),
            Setting("length", IntegerList("fft_length")),
        ),
        FUNCTIONAL,
    )
    traits = PURE


CONTRACTION = (CholeskyOp, DotGeneralOp, DotOp, EinsumOp, FftOp, TriangularSolveOp, UnaryEinsumOp)
"""The operations of this module."""
