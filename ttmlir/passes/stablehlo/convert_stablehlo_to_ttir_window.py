"""Rules of StableHLO's operations on windows, for `convert-stablehlo-to-ttir`.

Convolutions and poolings become the general forms of ttir, whatever their attributes. Bodies of
`reduce_window` that are no single operation are written out, once for each element of the window.
The gradient of a maximum over windows becomes, for each element of the window, a choice among what
is left of the gradient, and a sum of what was chosen.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerType, TensorType, UnitAttr, f32, i32
from xdsl.ir import Attribute, Data, Operation, Region, SSAValue

from ttmlir.arrays.array import Array
from ttmlir.composites.windows import iterate_taps, scatter_to_extremes, take_tap
from ttmlir.dialects.stablehlo.form import integer, integers
from ttmlir.dialects.ttcore import ReduceTypeAttr
from ttmlir.ir.builder import Builder, TTIRCarrier, array_in
from ttmlir.ir.constants import identity_of, logic_of, splat_number
from ttmlir.ir.late_movement import permute_late, reshape_late
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import (
    check_static_shapes,
    element_type,
    tensor_like,
    value_shape,
)
from ttmlir.ir.ttnn_types import location_of
from ttmlir.layout.enums import ReduceType
from ttmlir.optable import definition
from ttmlir.optable.op_definition import OpDefinition, Shape
from ttmlir.optable.window import DimensionNumbers, Dimensions, WindowAxis, method_of
from ttmlir.passes.core.ttir_conversion import (
    ArrayFunction,
    ConversionRule,
    computes,
    create_result,
    result_dtype,
)
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_movement import spread_out
from ttmlir.passes.stablehlo.stablehlo_bodies import apply, can_be_applied, combiners, operations_of

if TYPE_CHECKING:
    from xdsl.dialects.builtin import (
        DenseArrayBase,
        DenseIntOrFPElementsAttr,
    )

    from ttmlir.dialects.stablehlo.attrs import ConvDimensionNumbersAttr, DotDimensionNumbersAttr


Margins = tuple[tuple[int, int], ...]


def _integers_or(op: Operation, name: str, default: Sequence[int]) -> Shape:
    """The numbers of an attribute, or a default if it is absent."""
    return integers(op, name) if name in op.properties else tuple(default)


def margins_of(op: Operation, count: int) -> Margins:
    """The padding of each dimension: below and above."""
    attr = op.properties.get("padding")
    if attr is None:
        return ((0, 0),) * count
    numbers = cast("Sequence[int]", cast("DenseIntOrFPElementsAttr", attr).get_values())
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))


def axes_of(op: Operation, extents: Sequence[int]) -> list[WindowAxis]:
    """What a window does along each dimension of a tensor with its padding."""
    ones = (1,) * len(extents)
    names = ("window_dimensions", "window_strides", "window_dilations")
    numbers = zip(extents, *(_integers_or(op, name, ones) for name in names), strict=True)
    return [WindowAxis(extent=n, kernel=k, stride=s, dilation=d) for n, k, s, d in numbers]


def convolution_parameters(op: Operation) -> dict[str, Any]:
    """The parameters of the convolution of ttir that means the same."""
    attr = cast("ConvDimensionNumbersAttr", op.properties["dimension_numbers"])
    numbers = DimensionNumbers(
        Dimensions(
            attr.input_batch_dimension,
            attr.input_feature_dimension,
            attr.input_spatial_dimensions,
        ),
        Dimensions(
            attr.kernel_input_feature_dimension,
            attr.kernel_output_feature_dimension,
            attr.kernel_spatial_dimensions,
        ),
        Dimensions(
            attr.output_batch_dimension,
            attr.output_feature_dimension,
            attr.output_spatial_dimensions,
        ),
    )
    count = len(attr.input_spatial_dimensions)
    ones = (1,) * count
    return {
        "dimension_numbers": str(numbers),
        "window_strides": _integers_or(op, "window_strides", ones),
        "padding": tuple(itertools.chain(*margins_of(op, count))),
        "input_dilation": _integers_or(op, "lhs_dilation", ones),
        "weight_dilation": _integers_or(op, "rhs_dilation", ones),
        "window_reversal": _flags(op, "window_reversal", count),
        "feature_group_count": integer(op, "feature_group_count"),
        "batch_group_count": integer(op, "batch_group_count"),
    }


def _convolution(op: Operation, image: Array, kernel: Array) -> Array:
    return create_result(op, "convolution", image, kernel, **convolution_parameters(op))


def _flags(op: Operation, name: str, count: int) -> tuple[bool, ...]:
    attr = op.properties.get(name)
    if attr is None:
        return (False,) * count
    return tuple(map(bool, cast("DenseArrayBase[IntegerType]", attr).iter_values()))


_SUPPORTED = "supported are add, maximum, minimum and multiply, and on i1 also and and or"


def _reduce_window(op: Operation) -> None:
    check_static_shapes(op)
    count = len(op.results)
    combining = [
        logic_of(each, element_type(value))
        for each, value in zip(combiners(op.regions[0]) or (), op.operands, strict=False)
    ]
    if not combining or None in map(method_of, combining):
        replace(op, *_written_out(op))
        return
    pairs = zip(combining, op.operands[:count], op.operands[count:], strict=True)
    replace(op, *(_pool(op, *pair, op.results[n]) for n, pair in enumerate(pairs)))


def _pool(
    op: Operation, combining: OpDefinition, value: SSAValue, init: SSAValue, result: SSAValue
) -> SSAValue:
    builder = Builder.before(op)
    method, neutral = method_of(combining), identity_of(combining, element_type(value))
    assert method is not None, "the caller has asked for a method"
    assert neutral is not None, "what combines a window has an identity"
    is_neutral = splat_number(init) == neutral
    if not is_neutral and combining.mnemonic in ("add", "multiply"):
        refuse_to_legalize(
            op,
            f"it starts from another number than {neutral:g}, which would count once for each "
            f"element of the padding; start from {neutral:g} and combine afterwards",
        )
    rank = len(value_shape(value))
    ones = (1,) * rank
    pooled = builder.create(
        "pooling",
        [value],
        result.type,
        pooling_method=method,
        window_dimensions=integers(op, "window_dimensions"),
        window_strides=_integers_or(op, "window_strides", ones),
        base_dilations=_integers_or(op, "base_dilations", ones),
        window_dilations=_integers_or(op, "window_dilations", ones),
        padding=tuple(itertools.chain(*margins_of(op, rank))),
    )
    return pooled if is_neutral else builder.create(combining.mnemonic, [pooled, init], result.type)


_LONGEST = 64
"""Largest number of elements of a window for which a body is written out.

Windows of all elements up to each one have no limit.
"""


def _written_out(op: Operation) -> list[SSAValue]:
    """The body once for each element of the window, on what it meets at all positions."""
    builder = Builder.before(op)
    body = op.regions[0]
    values, inits = op.operands[: len(op.results)], op.operands[len(op.results) :]
    shape = value_shape(values[0])
    ones = (1,) * len(shape)
    window = integers(op, "window_dimensions")
    starts = [splat_number(init) for init in inits]
    known = can_be_applied(body)
    is_long = math.prod(window) > _LONGEST
    cumulated = _cumulates_along(op) if is_long else None
    if not known or None in starts or (is_long and cumulated is None):
        names = ", ".join(operations_of(body)) or "no operation"
        refuse_to_legalize(
            op,
            f"its body computes {names}; {_SUPPORTED}, and, from constants and for windows of up "
            f"to {_LONGEST} elements, any body of elementwise operations",
        )
    if cumulated is not None:
        return _cumulated(op, builder, *cumulated, cast("list[float]", starts))
    wide: list[Array] = []
    for value, fill in zip(values, cast("list[float]", starts), strict=True):
        x = array_in(builder, value)
        for dim, step in enumerate(_integers_or(op, "base_dilations", ones)):
            x = x.dilate(dim, step, fill)
        wide.append(x.pad(margins_of(op, len(shape)), fill))
    axes = axes_of(op, wide[0].shape)
    results = list(inits)
    for tap in iterate_taps(axes):
        elements = [take_tap(x, tap, axes).value for x in wide]
        results = apply(op, body, [*results, *elements])
    if any(a.type != b.type for a, b in zip(results, op.results, strict=True)):
        refuse_to_legalize(op, "its body does not use the elements of the window")
    return results


def _cumulated(
    op: Operation, builder: Builder, dim: int, is_reversed: bool, starts: Sequence[float]
) -> list[SSAValue]:
    """The body on results of so many elements, which makes those of twice as many."""
    results = [*op.operands[: len(starts)]]
    shape = value_shape(results[0])
    count = 1
    while count < shape[dim]:
        margins = [(0, 0)] * len(shape)
        margins[dim] = (-count, count) if is_reversed else (count, -count)
        moved = [
            array_in(builder, value).pad(margins, start).value
            for value, start in zip(results, starts, strict=True)
        ]
        pair = (results, moved) if is_reversed else (moved, results)
        results = apply(op, op.regions[0], [each for values in pair for each in values])
        count *= 2
    return results


_SELECTIONS = {
    "GE": ("maximum", False),
    "GT": ("maximum", True),
    "LE": ("minimum", False),
    "LT": ("minimum", True),
}
"""For the comparison of `select`: what it selects, and whether the last of equal elements."""


def _select_and_scatter(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shapes(op)
    operand, source, init = op.operands
    select, scatter = op.regions
    selection = _selection(select)
    combining = combiners(scatter)
    element = element_type(operand)
    neutral = None if combining is None else identity_of(combining[0], element)
    if selection is None or combining is None or neutral is None:
        bodies = (", ".join(operations_of(body)) or "no operation" for body in op.regions)
        refuse_to_legalize(
            op,
            "select computes {} and scatter computes {}; supported are a comparison of the two "
            "elements by GE, GT, LE or LT, and a sum, product or extreme".format(*bodies),
        )
    extreme, takes_last = selection
    shape = value_shape(operand)
    if 0 in value_shape(source):
        replace(op, builder.broadcast(init, shape))
        return
    margins = margins_of(op, len(shape))
    axes = axes_of(op, [low + n + high for n, (low, high) in zip(shape, margins, strict=True)])
    fill = identity_of(definition(extreme), element)
    assert fill is not None, "extremes have an identity"
    carrier = TTIRCarrier(builder)
    result = scatter_to_extremes(
        array_in(carrier, operand),
        array_in(carrier, source),
        axes,
        margins,
        extreme=extreme,
        takes_last=takes_last,
        fill=fill,
        combiner=combining[0].mnemonic,
        neutral=neutral,
    )
    if splat_number(init) != neutral:
        result = result.apply(combining[0].mnemonic, array_in(carrier, init))
    replace(op, result.value)


def _selection(body: Region) -> tuple[str, bool] | None:
    """What a body that compares its two arguments selects; None for any other body."""
    block = body.block
    compare, *rest = block.ops
    if compare.name != "stablehlo.compare" or len(rest) != 1:
        return None
    if tuple(compare.operands) != tuple(block.args) or rest[0].operands[0].owner is not compare:
        return None
    direction = cast("Data[str]", compare.properties["comparison_direction"]).data
    return _SELECTIONS.get(direction)


# -- products ----------------------------------------------------------------------------------
# Plain products of two matrices are `ttir.matmul`, all others `ttir.dot_general`.


def _dot_general(op: Operation, lhs: Array, rhs: Array) -> Array:
    numbers = cast("DotDimensionNumbersAttr", op.properties["dot_dimension_numbers"])
    return _product(
        op,
        lhs,
        rhs,
        batch_dims_lhs=numbers.lhs_batching_dimensions,
        contract_dims_lhs=numbers.lhs_contracting_dimensions,
        batch_dims_rhs=numbers.rhs_batching_dimensions,
        contract_dims_rhs=numbers.rhs_contracting_dimensions,
    )


def _dot(op: Operation, lhs: Array, rhs: Array) -> Array:
    """The older form: the last dimension of lhs meets the first of rhs."""
    contracted = {"contract_dims_lhs": (lhs.rank - 1,), "contract_dims_rhs": (0,)}
    return _product(op, lhs, rhs, batch_dims_lhs=(), batch_dims_rhs=(), **contracted)


def _product(op: Operation, *operands: Array, **dims: Shape) -> Array:
    dtype = result_dtype(op)
    # Products of 16-bit numbers are computed in 32 bits without a cast.
    is_exact = "f" in dtype and dtype != "f64"
    factors = [x if is_exact and x.is_real else x.cast(dtype) for x in operands]
    contracted = dims["contract_dims_lhs"], dims["contract_dims_rhs"]
    ranks = [x.rank for x in factors]
    if ranks == [2, 2] and not dims["batch_dims_lhs"] and contracted == ((1,), (0,)):
        return create_result(op, "matmul", *factors)
    return create_result(op, "dot_general", *factors, **dims)


PRODUCTS: dict[str, ArrayFunction] = {
    "stablehlo.dot": _dot,
    "stablehlo.dot_general": _dot_general,
}
"""Functions by the full name of the operation."""
RULES: dict[str, ConversionRule] = {
    "stablehlo.convolution": computes(_convolution),
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.select_and_scatter": _select_and_scatter,
    **{name: computes(function) for name, function in PRODUCTS.items()},
}
"""Rules by the full name of the operation."""


# -- 2026 --------------------------------------------------------------------------------------


def _late_dot_general(op: Operation) -> None:
    numbers = cast("DotDimensionNumbersAttr", op.properties["dot_dimension_numbers"])
    dims = {
        "batch_dims_lhs": numbers.lhs_batching_dimensions,
        "contract_dims_lhs": numbers.lhs_contracting_dimensions,
        "batch_dims_rhs": numbers.rhs_batching_dimensions,
        "contract_dims_rhs": numbers.rhs_contracting_dimensions,
    }
    _late_product(op, dims)


def _late_product(op: Operation, dims: dict[str, Shape]) -> None:
    builder = Builder.before(op)
    found = builder.create("dot_general", op.operands, op.results[0].type, **dims)
    if _is_exact(op):
        cast("Operation", found.owner).attributes["ttcore.fp32_exact"] = UnitAttr()
    replace(op, found)


def _is_exact(op: Operation) -> bool:
    """True where the highest precision is asked for."""
    asked = op.properties.get("precision_config")
    if not isinstance(asked, ArrayAttr):
        return False
    each = cast("ArrayAttr[Data[str]]", asked).data
    return any(precision.data == "HIGHEST" for precision in each)


_IMAGE_DIMS = ("batch_dim", "height_dim", "width_dim", "channel_dim")


def _late_convolution(op: Operation, *, exact: bool = False) -> None:
    """Images of one dimension, of two, and those whose elements are spread.

    Those of integers, and of volumes in groups, keep the form of 2024 if they are to be `exact`:
    there integers are not computed as floats, and groups have weights that ttnn can prepare.
    """
    attr = cast("ConvDimensionNumbersAttr", op.properties["dimension_numbers"])
    count = len(attr.input_spatial_dimensions)
    in_groups = count == 3 and integer(op, "feature_group_count") > 1
    is_kept = exact and (in_groups or isinstance(element_type(op.results[0]), IntegerType))
    if is_kept or not _is_plain(op, count):
        RULES["stablehlo.convolution"](op)
    elif count == 1:
        _late_conv1d(op)
    elif count == 3 and integer(op, "batch_group_count") == 1:
        _late_conv3d(op)
    elif count == 2:
        builder = Builder.before(op)
        element = element_type(op.results[0])
        is_integer = isinstance(element, IntegerType)
        image, kernel = (builder.cast(x, f32) if is_integer else x for x in op.operands)
        shape = value_shape(op.results[0])
        type_ = TensorType(f32, shape) if is_integer else op.results[0].type
        replace(op, builder.cast(_late_groups(op, builder, image, kernel, type_), element))
    else:
        RULES["stablehlo.convolution"](op)


def _is_plain(op: Operation, count: int) -> bool:
    """True for what convolutions of 1, 2 and 3 dimensions can say."""
    ones = (1,) * count
    spread, strides, dilation = (
        _integers_or(op, name, ones) for name in ("lhs_dilation", "window_strides", "rhs_dilation")
    )
    margins = margins_of(op, count)
    if any(_flags(op, "window_reversal", count)):
        return False
    if spread == ones:
        has_groups = count == 1 and integer(op, "batch_group_count") > 1
        return not has_groups and min(itertools.chain(*margins), default=0) >= 0
    # A transposed convolution has no strides of its own, and pads what a window reaches less.
    attr = cast("ConvDimensionNumbersAttr", op.properties["dimension_numbers"])
    kernel = value_shape(op.operands[1])
    reach = [
        (kernel[d] - 1) * n for d, n in zip(attr.kernel_spatial_dimensions, dilation, strict=True)
    ]
    fits = all(max(each) <= most for each, most in zip(margins, reach, strict=True))
    return count == 2 and strides == ones and integer(op, "feature_group_count") == 1 and fits


def _late_conv3d(op: Operation) -> None:
    attr = cast("ConvDimensionNumbersAttr", op.properties["dimension_numbers"])
    margins, ones = margins_of(op, 3), (1, 1, 1)
    wanted = (
        attr.output_batch_dimension,
        *attr.output_spatial_dimensions,
        attr.output_feature_dimension,
    )
    given = (
        attr.input_batch_dimension,
        *attr.input_spatial_dimensions,
        attr.input_feature_dimension,
    )
    if given != wanted or any(low != high for low, high in margins):
        RULES["stablehlo.convolution"](op)
        return
    builder = Builder.before(op)
    image, kernel = op.operands
    outputs, inputs = attr.kernel_output_feature_dimension, attr.kernel_input_feature_dimension
    weight = permute_late(builder, kernel, (outputs, inputs, *attr.kernel_spatial_dimensions))
    names = ("batch_dim", "depth_dim", "height_dim", "width_dim", "channel_dim")
    parameters: dict[str, Any] = {
        **dict(zip(names, wanted, strict=True)),
        "stride": _integers_or(op, "window_strides", ones),
        "padding": tuple(low for low, _ in margins),
        "dilation": _integers_or(op, "rhs_dilation", ones),
        "groups": integer(op, "feature_group_count"),
    }
    replace(op, builder.create("conv3d", [image, weight], op.results[0].type, **parameters))


def _late_groups(
    op: Operation, builder: Builder, image: SSAValue, kernel: SSAValue, type_: Attribute
) -> SSAValue:
    """Groups of a batch, each with its own kernels, one after the other."""
    groups = integer(op, "batch_group_count")
    if groups == 1:
        return _late_conv2d(op, builder, image, kernel, type_)
    attr = cast("ConvDimensionNumbersAttr", op.properties["dimension_numbers"])
    dim = attr.output_feature_dimension
    pairs: list[tuple[SSAValue, SSAValue]] = []
    for number in range(groups):
        parts = (
            _part(builder, image, attr.input_batch_dimension, number, groups),
            _part(builder, kernel, attr.kernel_output_feature_dimension, number, groups),
        )
        pairs.append(parts)
    shape = [*value_shape(op.results[0])]
    shape[dim] //= groups
    part = tensor_like(image, shape)
    found = [_late_conv2d(op, builder, *pair, part) for pair in pairs]
    return builder.create("concat", found, type_, dim=dim)


def _part(builder: Builder, value: SSAValue, dim: int, number: int, count: int) -> SSAValue:
    """One of equal parts along a dimension."""
    shape = [*value_shape(value)]
    length = shape[dim] // count
    begins, ends = [0] * len(shape), [*shape]
    begins[dim], ends[dim] = number * length, (number + 1) * length
    shape[dim] = length
    bounds = {"begins": tuple(begins), "ends": tuple(ends), "step": (1,) * len(shape)}
    return builder.create("slice", [value], tensor_like(value, shape), **bounds)


def _late_conv2d(
    op: Operation, builder: Builder, image: SSAValue, kernel: SSAValue, type_: Attribute
) -> SSAValue:
    attr = cast("ConvDimensionNumbersAttr", op.properties["dimension_numbers"])
    given = (
        attr.input_batch_dimension,
        *attr.input_spatial_dimensions,
        attr.input_feature_dimension,
    )
    wanted = (
        attr.output_batch_dimension,
        *attr.output_spatial_dimensions,
        attr.output_feature_dimension,
    )
    if given != wanted:
        image = permute_late(builder, image, [given[wanted.index(dim)] for dim in range(4)])
    dims = dict(zip(_IMAGE_DIMS, wanted, strict=True))
    spatial = attr.kernel_spatial_dimensions
    outputs, inputs = attr.kernel_output_feature_dimension, attr.kernel_input_feature_dimension
    ones = (1, 1)
    strides, spread, dilation = (
        _integers_or(op, name, ones) for name in ("window_strides", "lhs_dilation", "rhs_dilation")
    )
    (top, bottom), (left, right) = margins_of(op, 2)
    parameters: dict[str, Any] = {
        **dims,
        "dilation": dilation,
        "groups": integer(op, "feature_group_count"),
    }
    if spread == ones:
        weight = permute_late(builder, kernel, (outputs, inputs, *spatial))
        parameters |= {"stride": strides, "padding": (top, left, bottom, right)}
        return builder.create("conv2d", [image, weight], type_, **parameters)
    turned = builder.create("reverse", [kernel], kernel.type, dimensions=spatial)
    weight = permute_late(builder, turned, (inputs, outputs, *spatial))
    reach = [(value_shape(kernel)[d] - 1) * n for d, n in zip(spatial, dilation, strict=True)]
    parameters |= {
        "stride": spread,
        "padding": (reach[0] - top, reach[1] - left, reach[0] - bottom, reach[1] - right),
        "output_padding": (0, 0),
    }
    return builder.create("conv_transpose2d", [image, weight], type_, **parameters)


def _late_conv1d(op: Operation) -> None:
    """The tensors get a second dimension until their own are in order."""
    attr = cast("ConvDimensionNumbersAttr", op.properties["dimension_numbers"])
    builder = Builder.before(op)
    image, kernel = (reshape_late(builder, x, (*value_shape(x), 1)) for x in op.operands)
    (length,), (taps,) = attr.input_spatial_dimensions, attr.kernel_spatial_dimensions
    order = (attr.input_batch_dimension, length, attr.input_feature_dimension, 3)
    image = permute_late(builder, image, order)
    image = reshape_late(builder, image, value_shape(image)[:3])
    outputs, inputs = attr.kernel_output_feature_dimension, attr.kernel_input_feature_dimension
    kernel = permute_late(builder, kernel, (outputs, inputs, taps, 3))
    kernel = reshape_late(builder, kernel, value_shape(kernel)[:3])
    (margin,) = margins_of(op, 1)
    parameters: dict[str, Any] = {
        "stride": _integers_or(op, "window_strides", (1,))[0],
        "padding": margin,
        "dilation": _integers_or(op, "rhs_dilation", (1,))[0],
        "groups": integer(op, "feature_group_count"),
    }
    (place,) = attr.output_spatial_dimensions
    wanted = (attr.output_batch_dimension, place, attr.output_feature_dimension)
    shape = value_shape(op.results[0])
    type_ = tensor_like(op.results[0], [shape[dim] for dim in wanted])
    found = builder.create("conv1d", [image, kernel], type_, **parameters)
    found = reshape_late(builder, found, (*value_shape(found), 1))
    found = permute_late(builder, found, (*(wanted.index(dim) for dim in range(3)), 3))
    replace(op, reshape_late(builder, found, shape))


_REDUCE_TYPES = {"maximum": ReduceType.MAX, "minimum": ReduceType.MIN}


def _late_reduce_window(op: Operation, *, exact: bool = False) -> None:
    """What is summed up to each element, and pooling of images; `exact` adds integers as such."""
    combining = combiners(op.regions[0])
    name = combining[0].mnemonic if combining is not None and len(op.results) == 1 else ""
    neutral = None
    if combining is not None and name:
        neutral = identity_of(combining[0], element_type(op.operands[0]))
        if splat_number(op.operands[1]) != neutral:
            _reduce_window(op)
            return
    dim = _cumulates_along(op)
    builder = Builder.before(op)
    value, type_ = op.operands[0], op.results[0].type
    if dim is not None and len(op.results) == 1:
        along, is_reversed = dim
        if name in ("add", "multiply"):
            mnemonic = {"add": "cumsum", "multiply": "cumprod"}[name]
            replace(op, _cumulate(builder, mnemonic, value, along, is_reversed, exact=exact))
            return
        kind = _REDUCE_TYPES.get(name, ReduceType.LOGSUMEXP if _adds_logarithms(op) else None)
        if kind is not None:
            parameters = {"dim": along, "reduction": ReduceTypeAttr(kind), "reverse": is_reversed}
            replace(op, builder.create("cumulative", [value], type_, **parameters))
            return
    is_integer = isinstance(element_type(value), IntegerType)
    if exact and is_integer and name == "add":
        _reduce_window(op)
        return
    if name in ("add", "maximum", "minimum") and neutral is not None and _is_image_window(op):
        replace(op, _late_pool(op, builder, name, neutral))
        return
    _reduce_window(op)


def _cumulate(
    builder: Builder, mnemonic: str, value: SSAValue, dim: int, is_reversed: bool, *, exact: bool
) -> SSAValue:
    """Sums or products up to each element, of integers as floats unless they are to be exact."""
    element = element_type(value)
    if is_reversed:
        value = builder.create("reverse", [value], value.type, dimensions=(dim,))
    is_cast = isinstance(element, IntegerType) and not exact
    number = builder.cast(value, f32) if is_cast else value
    found = builder.create(mnemonic, [number], number.type, dim=dim)
    value = builder.cast(found, element_type(value))
    if is_reversed:
        value = builder.create("reverse", [value], value.type, dimensions=(dim,))
    return value


def _adds_logarithms(op: Operation) -> bool:
    return [*operations_of(op.regions[0])].count("stablehlo.log_plus_one") == 1


def _cumulates_along(op: Operation) -> tuple[int, bool] | None:
    """The dimension along which a window holds all elements up to its own, or from it on."""
    shape = value_shape(op.operands[0])
    window = integers(op, "window_dimensions")
    long = [dim for dim, extent in enumerate(window) if extent > 1]
    ones = (1,) * len(shape)
    names = ("window_strides", "base_dilations", "window_dilations")
    if len(long) != 1 or any(_integers_or(op, name, ones) != ones for name in names):
        return None
    (dim,) = long
    extent = shape[dim]
    margins = margins_of(op, len(shape))
    if window[dim] != extent or any(m != (0, 0) for n, m in enumerate(margins) if n != dim):
        return None
    if margins[dim] in ((extent - 1, 0), (0, extent - 1)):
        return dim, margins[dim][0] == 0 and extent > 1
    return None


def _is_image_window(op: Operation) -> bool:
    """True for windows that move along height and width of an image, and along nothing else."""
    rank = len(value_shape(op.operands[0]))
    window, ones = integers(op, "window_dimensions"), (1,) * rank
    used = [dim for dim, extent in enumerate(window) if extent > 1]
    if rank > 4 or len(used) > 2:
        return False
    _, moved = _as_image(used, rank)
    strides, margins = _integers_or(op, "window_strides", ones), margins_of(op, rank)
    stays = all(
        (window[dim], strides[dim], *margins[dim]) == (1, 1, 0, 0)
        for dim in range(rank)
        if dim not in moved
    )
    return stays and min(itertools.chain(*margins), default=0) >= 0


def _late_pool(op: Operation, builder: Builder, name: str, neutral: float) -> SSAValue:
    value = op.operands[0]
    rank = len(value_shape(value))
    ones = (1,) * rank
    window = integers(op, "window_dimensions")
    strides, base, dilation = (
        _integers_or(op, each, ones)
        for each in ("window_strides", "base_dilations", "window_dilations")
    )
    margins = margins_of(op, rank)
    if base != ones:
        shape = value_shape(value)
        spread = [(n - 1) * step + 1 for n, step in zip(shape, base, strict=True)]
        value = spread_out(builder, value, spread, (0,) * rank, base, neutral)
    used = [dim for dim, extent in enumerate(window) if extent > 1]
    image, dims = _as_image(used, rank)
    shape = value_shape(value)
    if rank < 4:
        value = reshape_late(builder, value, [1 if d is None else shape[d] for d in image])
        order = [0, 1, 2, 3]
    else:
        order = [cast("int", d) for d in image]
        if order != [0, 1, 2, 3]:
            value = permute_late(builder, value, order)
    (top, bottom), (left, right) = ((0, 0) if d is None else margins[d] for d in dims)
    parameters: dict[str, Any] = {
        "kernel": tuple(1 if d is None else window[d] for d in dims),
        "stride": tuple(1 if d is None else strides[d] for d in dims),
        "dilation": tuple(1 if d is None else dilation[d] for d in dims),
        "padding": (top, left, bottom, right),
    }
    result = value_shape(op.results[0])
    type_ = tensor_like(value, [1 if d is None else result[d] for d in image])
    if name == "add":
        found = _late_sum_pool(builder, value, type_, parameters)
    else:
        if name == "minimum":
            value = builder.create("neg", [value], value.type)
        found = builder.create("max_pool2d", [value], type_, **parameters)
        if name == "minimum":
            found = builder.create("neg", [found], found.type)
    if rank < 4:
        return reshape_late(builder, found, result)
    if order != [0, 1, 2, 3]:
        return permute_late(builder, found, [order.index(n) for n in range(4)])
    return found


def _late_sum_pool(
    builder: Builder, value: SSAValue, type_: Attribute, parameters: dict[str, Any]
) -> SSAValue:
    """The mean with a divisor of 1; without one, times the number of elements."""
    is_wide = element_type(value) == f32
    divisor = {"divisor_override": int(is_wide)}
    found = builder.create("avg_pool2d", [value], type_, **parameters, **divisor)
    if is_wide:
        return found
    height, width = parameters["kernel"]
    count = builder.create_splat(float(height * width), type_)
    return builder.create("multiply", [found, count], type_)


def _as_image(used: Sequence[int], rank: int) -> tuple[list[int | None], list[int | None]]:
    """The dimensions that are batch, height, width, channels, and height and width of those."""
    if rank == 4:
        rest = [dim for dim in range(4) if dim not in used]
        spatial = [*used]
        while len(spatial) < 2:
            spatial = sorted([*spatial, rest.pop(1 if len(rest) > 1 else 0)])
        return [rest[0], *spatial, rest[1]], [*spatial]
    if rank == 3:
        return [0, 1, 2, None], [1, 2]
    if rank == 2:
        return [None, 0, 1, None], [0, 1]
    return [None, 0, None, None], [0, None]


def _late_dot(op: Operation) -> None:
    """The older form: the last dimension of lhs meets the first of rhs."""
    dims = {
        "batch_dims_lhs": (),
        "contract_dims_lhs": (len(value_shape(op.operands[0])) - 1,),
        "batch_dims_rhs": (),
        "contract_dims_rhs": (0,),
    }
    _late_product(op, dims)


def _late_select_and_scatter(op: Operation) -> None:
    """Numbers are written to where the extremes of an image were."""
    operand, source, init = op.operands
    selection, shape = _selection(op.regions[0]), value_shape(operand)
    combining = combiners(op.regions[1])
    window = integers(op, "window_dimensions")
    strides = _integers_or(op, "window_strides", (1,) * len(shape))
    margins = margins_of(op, len(shape))
    is_image = len(shape) == 4 and all(
        (window[dim], strides[dim], *margins[dim]) == (1, 1, 0, 0) for dim in (0, 3)
    )
    # Two windows may have the same extreme, whose numbers are added; the library writes one.
    is_apart = all(step >= extent for step, extent in zip(strides, window, strict=True))
    is_sum = combining is not None and combining[0].mnemonic == "add" and splat_number(init) == 0
    if selection is None or selection[1] or not (is_image and is_apart and is_sum):
        _select_and_scatter(op)
        return
    builder = Builder.before(op)
    _, (top, bottom), (left, right), _ = margins
    background = builder.create("full", (), operand.type, shape=shape, fill_value=0.0)
    if selection[0] == "minimum":
        operand = builder.create("neg", [operand], operand.type)
    taken = value_shape(source)
    types = (source.type, TensorType(i32, taken))
    outputs = [builder.create_empty(type_) for type_ in types]
    parameters: dict[str, Any] = {
        "kernel": window[1:3],
        "stride": strides[1:3],
        "dilation": (1, 1),
        "padding": (top, left, bottom, right),
        "ceil_mode": False,
    }
    found = builder.create_several(
        "max_pool2d_with_indices", [operand, *outputs], types, **parameters
    )
    flat = (taken[0], taken[1] * taken[2], 1, taken[3])
    places = reshape_late(builder, found[1], flat)
    builder.location = location_of(source)
    values = reshape_late(builder, source, flat)
    builder.location = op.location
    rows = reshape_late(builder, background, (shape[0], shape[1] * shape[2], 1, shape[3]))
    written = builder.scatter((rows, places, values), 1)
    replace(op, reshape_late(builder, written, shape))


WIDE_RULES: dict[str, ConversionRule] = {
    "stablehlo.convolution": partial(_late_convolution, exact=True),
    "stablehlo.reduce_window": partial(_late_reduce_window, exact=True),
}
"""Rules of 2026 that lose nothing of integers."""
LATE_RULES: dict[str, ConversionRule] = {
    "stablehlo.convolution": _late_convolution,
    "stablehlo.dot": _late_dot,
    "stablehlo.reduce_window": _late_reduce_window,
    "stablehlo.select_and_scatter": _late_select_and_scatter,
    "stablehlo.dot_general": _late_dot_general,
}
"""Rules of 2026, where they differ."""
