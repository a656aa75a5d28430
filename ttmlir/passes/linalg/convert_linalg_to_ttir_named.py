"""What becomes of the named operations of linalg."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_numbers, splat_number
from ttmlir.ir.contractions import contract
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import (
    check_static_shape,
    element_type,
    is_tensor,
    tensor_of,
    value_shape,
)
from ttmlir.optable.linalg import CONTRACTIONS, CONVOLUTIONS, DEPTHWISE, ELEMENTWISE, POOLINGS
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.linalg.convert_linalg_to_ttir_generic import inputs_and_inits
from ttmlir.passes.linalg.scalar_values import as_tensor


def _checked(op: Operation) -> tuple[list[SSAValue], SSAValue]:
    """The inputs and the init; operations on memory or without static shapes are refused."""
    inputs, inits = inputs_and_inits(op)
    if not op.results:
        refuse_to_legalize(op, "it works on memory; supported are operations on tensors")
    for value in (*inputs, *inits):
        if is_tensor(value) or value is inits[0]:
            check_static_shape(op, value.type)
    return inputs, inits[0]


def _elementwise(mnemonic: str) -> ConversionRule:
    def rule(op: Operation) -> None:
        builder = Builder.before(op)
        inputs, init = _checked(op)
        element = element_type(init)
        if mnemonic == "where":
            replace(op, builder.create(mnemonic, inputs, init.type))
            return
        operands = [
            builder.cast(value if is_tensor(value) else as_tensor(op, value), element)
            for value in inputs
        ]
        result = builder.create(mnemonic, operands, init.type) if mnemonic else operands[0]
        replace(op, result)

    return rule


def _fill(op: Operation) -> None:
    builder = Builder.before(op)
    (value,), init = _checked(op)
    type_ = cast("TensorType[Attribute]", init.type)
    found = constant_numbers(value)
    if found is not None:
        replace(op, builder.create_numbers(found, type_))
        return
    scalar = builder.cast(as_tensor(op, value), type_.element_type)
    rank = len(type_.get_shape())
    replace(op, builder.broadcast(builder.reshape(scalar, (1,) * rank), type_.get_shape()))


def _accumulate(op: Operation, total: SSAValue, init: SSAValue, combine: str = "add") -> None:
    """Replace an operation by its sum, added to what it began with."""
    builder = Builder.before(op)
    if combine == "add" and splat_number(init) == 0:
        replace(op, total)
    else:
        replace(op, builder.create(combine, [total, init], init.type))


def _contraction(a: str, b: str, result: str) -> ConversionRule:
    def rule(op: Operation) -> None:
        builder = Builder.before(op)
        inputs, init = _checked(op)
        element = element_type(init)
        left, right = (builder.cast(value, element) for value in inputs)
        _accumulate(op, contract(builder, left, a, right, b, result), init)

    return rule


def _transpose(op: Operation) -> None:
    builder = Builder.before(op)
    (value,), _ = _checked(op)
    replace(op, builder.permute(value, _numbers(op, "permutation")))


def _broadcast(op: Operation) -> None:
    builder = Builder.before(op)
    (value,), init = _checked(op)
    added = _numbers(op, "dimensions")
    shape = value_shape(init)
    ones = [1 if dim in added else extent for dim, extent in enumerate(shape)]
    replace(op, builder.broadcast(builder.reshape(value, ones), shape))


def _softmax(op: Operation) -> None:
    builder = Builder.before(op)
    inputs, init = _checked(op)
    dim = cast("IntegerAttr", op.properties["dimension"]).value.data
    replace(op, builder.create("softmax", inputs, init.type, dimension=dim))


def _numbers(op: Operation, name: str, count: int = 0) -> tuple[int, ...]:
    """Numbers of a property or attribute; ones if it is not there."""
    attr = op.properties.get(name, op.attributes.get(name))
    if attr is None:
        return (1,) * count
    if isinstance(attr, DenseIntOrFPElementsAttr):
        values = tuple(int(value) for value in attr.get_values())
        return values * (count // len(values)) if count else values
    return tuple(cast("DenseArrayBase[IntegerType]", attr).iter_values())


def _dimension_text(image: str, weight: str) -> str:
    side = f"[{', '.join(image)}]"
    return f"{side}x[{', '.join(weight)}]->{side}"


def _reached(
    op: Operation, image: SSAValue, dims: str, window: Sequence[int], result: Sequence[int]
) -> SSAValue:
    """The part of an image that its windows reach; linalg lets the rest be any number of elements.

    A rest that is shorter than a stride is left to the operation in ttir.
    """
    builder = Builder.before(op)
    count = len(window)
    strides, dilations = (_numbers(op, name, count) for name in ("strides", "dilations"))
    ends = list(value_shape(image))
    for place, dim in enumerate(dims):
        if dim.isdigit():
            stride = strides[int(dim)]
            reach = (window[int(dim)] - 1) * dilations[int(dim)] + 1
            if (ends[place] - reach) // stride + 1 != result[place]:
                ends[place] = (result[place] - 1) * stride + reach
    return builder.slice(image, (0,) * len(ends), ends)


def _convolve(
    op: Operation,
    image: SSAValue,
    weight: SSAValue,
    type_: Attribute,
    dims: tuple[str, str],
    groups: int = 1,
) -> SSAValue:
    builder = Builder.before(op)
    count = len(dims[0]) - 2
    extents = dict(zip(dims[1], value_shape(weight), strict=True))
    window = [extents[str(dim)] for dim in range(count)]
    image = _reached(op, image, dims[0], window, cast("TensorType[Attribute]", type_).get_shape())
    return builder.create(
        "convolution",
        [image, weight],
        type_,
        dimension_numbers=_dimension_text(*dims),
        window_strides=_numbers(op, "strides", count),
        padding=(0,) * (2 * count),
        input_dilation=(1,) * count,
        weight_dilation=_numbers(op, "dilations", count),
        window_reversal=(False,) * count,
        feature_group_count=groups,
        batch_group_count=1,
    )


def _convolution(image: str, weight: str) -> ConversionRule:
    def rule(op: Operation) -> None:
        builder = Builder.before(op)
        inputs, init = _checked(op)
        operands = [builder.cast(value, element_type(init)) for value in inputs]
        result = _convolve(op, operands[0], operands[1], init.type, (image, weight))
        _accumulate(op, result, init)

    return rule


def _depthwise(image: str, weight: str) -> ConversionRule:
    def rule(op: Operation) -> None:
        builder = Builder.before(op)
        inputs, init = _checked(op)
        pixels, filters = (builder.cast(value, element_type(init)) for value in inputs)
        extents = dict(zip(weight, value_shape(filters), strict=True))
        groups = extents["c"]
        outer = groups * extents.get("m", 1)
        # Each group has one input feature: i takes the place in front of the output features.
        place = weight.index("c")
        spatial = [extents[dim] for dim in weight if dim.isdigit()]
        is_last = place > 0
        shape = [*spatial, 1, outer] if is_last else [outer, 1, *spatial]
        digits = "".join(dim for dim in weight if dim.isdigit())
        dims = digits + "io" if is_last else "oi" + digits
        filters = builder.reshape(filters, shape)
        flat = list(value_shape(init))
        if "m" in weight:
            flat = [*flat[:-2], outer]
        type_ = tensor_of(element_type(init), flat)
        result = _convolve(op, pixels, filters, type_, (image, dims), groups)
        _accumulate(op, builder.reshape(result, value_shape(init)), init)

    return rule


def _pooling(image: str, method: str) -> ConversionRule:
    def rule(op: Operation) -> None:
        builder = Builder.before(op)
        (pixels, window), init = _checked(op)
        extents = value_shape(window)
        count = len(extents)

        def over_all(numbers: Sequence[int]) -> tuple[int, ...]:
            return tuple(numbers[int(dim)] if dim.isdigit() else 1 for dim in image)

        result = builder.create(
            "pooling",
            [
                _reached(
                    op, builder.cast(pixels, element_type(init)), image, extents, value_shape(init)
                )
            ],
            init.type,
            pooling_method=method,
            window_dimensions=over_all(extents),
            window_strides=over_all(_numbers(op, "strides", count)),
            base_dilations=(1,) * len(image),
            window_dilations=over_all(_numbers(op, "dilations", count)),
            padding=(0,) * (2 * len(image)),
        )
        combine = {"sum": "add", "max": "maximum", "min": "minimum"}[method]
        _accumulate(op, result, init, combine)

    return rule


RULES: dict[str, ConversionRule] = {
    **{f"linalg.{name}": _elementwise(row) for name, row in ELEMENTWISE.items()},
    **{f"linalg.{name}": _contraction(*dims) for name, dims in CONTRACTIONS.items()},
    **{f"linalg.{name}": _convolution(*dims) for name, dims in CONVOLUTIONS.items()},
    **{f"linalg.{name}": _depthwise(*dims) for name, dims in DEPTHWISE.items()},
    **{f"linalg.{name}": _pooling(*row) for name, row in POOLINGS.items()},
    "linalg.broadcast": _broadcast,
    "linalg.fill": _fill,
    "linalg.softmax": _softmax,
    "linalg.transpose": _transpose,
}
"""What becomes of each operation."""
