"""Rules of `ttir-fuse-layers` for norms: of layers, and of batches after convolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import TensorType, f32

from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.ttir.value_rewriting import (
    adapted,
    either_way,
    inputs_of,
    made_by,
    number_known,
    parameters_of,
    reduced_dims,
    repeated_row,
    under,
    under_float_cast,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule

# --- Layers ---------------------------------------------------------------------------------------


def _layer_norm(op: Operation, builder: Builder) -> SSAValue | None:
    """(x - mean) * rsqrt(mean of squares + epsilon) * weight + bias, along the last dimension."""
    value, shape = op.results[0], value_shape(op.results[0])
    for scaled, bias in _with_row(value, "add", shape):
        for normalized, weight in _with_row(scaled, "multiply", shape):
            found = _normalized(normalized)
            if found is None:
                continue
            source, epsilon = found
            # Numbers may have been wider between.
            for given in (source, under_float_cast(source)):
                if element_type(given) == element_type(value) and value_shape(given) == shape:
                    [result] = builder.create_grouped(
                        "layer_norm",
                        (given, weight, bias),
                        (value.type,),
                        normalized_shape=shape[-1:],
                        epsilon=epsilon,
                    )
                    return result
    return None


def _with_row(
    value: SSAValue, mnemonic: str, shape: Sequence[int]
) -> Iterator[tuple[SSAValue, SSAValue]]:
    """What is combined with a number for each column, and those numbers."""
    op = made_by(under_float_cast(value), mnemonic)
    for other, row in () if op is None else either_way(op):
        numbers = repeated_row(row, shape)
        if numbers is not None and other.has_one_use():
            yield other, numbers


def _normalized(value: SSAValue) -> tuple[SSAValue, float] | None:
    """What is centered and divided by its deviation, and what is added to the variance."""
    product = made_by(under_float_cast(value), "multiply")
    for centered, root in () if product is None else either_way(product):
        inverse = made_by(under(root, "broadcast"), "rsqrt")
        total = None if inverse is None else made_by(inverse.operands[0], "add")
        difference = made_by(centered, "subtract")
        if total is None or difference is None:
            continue
        source, mean = inputs_of(difference)
        if not _is_mean(mean, source):
            continue
        for variance, added in either_way(total):
            epsilon = number_known(added)
            squared = made_by(variance, "mean")
            if epsilon is None or squared is None or not _reduces_rows(squared):
                continue
            if _square_root(squared.operands[0]) is centered:
                return source, float(epsilon)
    return None


def _is_mean(value: SSAValue, source: SSAValue) -> bool:
    mean = made_by(under(value, "broadcast"), "mean")
    return mean is not None and mean.operands[0] is source and _reduces_rows(mean)


def _reduces_rows(op: Operation) -> bool:
    """Whether there is one number for each row, beside it: others go with the columns."""
    shape = value_shape(op.operands[0])
    return reduced_dims(op) == [len(shape) - 1] and value_shape(op.results[0]) == (*shape[:-1], 1)


def _square_root(value: SSAValue) -> SSAValue | None:
    """What is multiplied with itself."""
    op = made_by(value, "multiply", "square", "pow")
    if op is None:
        return None
    base = op.operands[0]
    if op.name == "ttir.square":
        return base
    is_square = number_known(op.operands[1]) == 2 if op.name == "ttir.pow" else False
    return base if is_square or base is op.operands[1] else None


# --- Batches --------------------------------------------------------------------------------------


def _batch_norm(op: Operation, builder: Builder) -> SSAValue | None:
    """A convolution whose weights and bias normalize: its channels are those of the norm."""
    normalized, *vectors = inputs_of(op)
    moved = made_by(normalized, "permute")
    value = normalized if moved is None else inputs_of(moved)[0]
    convolution = made_by(value, "conv2d")
    if convolution is None or not (value.has_one_use() and normalized.has_one_use()):
        return None
    said, parameters = parameters_of(op), parameters_of(convolution)
    order = range(len(value_shape(value))) if moved is None else parameters_of(moved)["permutation"]
    channels = int(parameters["channel_dim"])
    image, weight, *bias = inputs_of(convolution)
    if list(order)[int(said["dimension"])] != channels:
        return None
    count = value_shape(value)[channels]
    scale, offset, mean, variance = (
        _wide(builder, builder.reshape(each, (count,))) for each in vectors
    )
    epsilon = builder.create_splat(float(said["epsilon"]), scale.type)
    total = _combine(builder, "add", variance, epsilon)
    factor = _combine(builder, "multiply", scale, builder.create("rsqrt", (total,), total.type))
    if bias:
        own = _wide(builder, builder.reshape(bias[0], (count,)))
        mean = _combine(builder, "subtract", mean, own)
    shift = _combine(builder, "subtract", offset, _combine(builder, "multiply", mean, factor))
    wide = _wide(builder, weight)
    along = builder.reshape(factor, (count, *(1,) * (len(value_shape(weight)) - 1)))
    scaled = builder.create("multiply", (wide, along), wide.type)
    shape = [1] * len(value_shape(value))
    shape[channels] = count
    element = element_type(weight)
    operands = (
        *(image, _narrow(builder, scaled, element)),
        _narrow(builder, builder.reshape(shift, shape), element),
    )
    found = builder.create("conv2d", operands, value.type, **_as_given(parameters))
    return found if moved is None else builder.permute(found, order)


def _as_given(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}


def _combine(builder: Builder, mnemonic: str, first: SSAValue, second: SSAValue) -> SSAValue:
    return builder.create(mnemonic, (first, second), first.type)


def _wide(builder: Builder, value: SSAValue) -> SSAValue:
    """In 32 bits: what is computed once is rounded once."""
    return _narrow(builder, value, f32)


def _narrow(builder: Builder, value: SSAValue, element: Attribute) -> SSAValue:
    if element_type(value) == element:
        return value
    shape = value_shape(value)
    return builder.create("typecast", (value,), cast("Any", TensorType(element, shape)))


RULES: Mapping[str, Sequence[Rule]] = adapted(
    {
        "add": [_layer_norm],
        "typecast": [_layer_norm],
        "batch_norm_inference": [_batch_norm],
    }
)
"""Rules by the name of the operation."""
