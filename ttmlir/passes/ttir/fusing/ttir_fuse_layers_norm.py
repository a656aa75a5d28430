"""Rules of `ttir-fuse-layers` for norms: of layers, and of batches after convolutions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import f32

from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.general.const_eval_hoist_transform import is_computed_once
from ttmlir.passes.ttir.value_rewriting import (
    adapted,
    either_way,
    inputs_of,
    made_by,
    mnemonic_of,
    number_known,
    parameters_of,
    reduced_dims,
    repeated_row,
    under,
    under_float_cast,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

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


@dataclass(frozen=True)
class _Channels:
    """A convolution that nobody else needs, and the dimension of its channels further on."""

    convolution: Operation
    value: SSAValue
    """What is made of its result by a `permute` and casts of floats."""
    dim: int

    @classmethod
    def find(cls, value: SSAValue) -> _Channels | None:
        """The convolution that makes a value."""
        under_cast = under_float_cast(value)
        moved = made_by(under_cast, "permute")
        image = under_cast if moved is None else inputs_of(moved)[0]
        made = under_float_cast(image)
        convolution = made_by(made, "conv2d")
        between = (value, under_cast, image, made)
        if convolution is None or not all(each.has_one_use() for each in between):
            return None
        dim = int(parameters_of(convolution)["channel_dim"])
        if moved is not None:
            dim = list(parameters_of(moved)["permutation"]).index(dim)
        return cls(convolution, value, dim)

    @property
    def count(self) -> int:
        """How many channels there are."""
        return value_shape(self.value)[self.dim]

    def numbers(self, value: SSAValue) -> SSAValue | None:
        """The tensor with a number for each channel, if a value repeats one for all else."""
        inner = under(value, "broadcast")
        shape = [1] * len(value_shape(self.value))
        shape[self.dim] = self.count
        extents = value_shape(inner)
        return inner if [1] * (len(shape) - len(extents)) + [*extents] == shape else None

    def apply(self, builder: Builder, factor: SSAValue | None, shift: SSAValue | None) -> SSAValue:
        """What is made of a convolution with a factor and a shift, in f32, for each channel."""
        parameters = parameters_of(self.convolution)
        image, weight, *bias = inputs_of(self.convolution)
        element, count = element_type(weight), self.count
        if bias:
            own = _wide(builder, bias[0], (count,))
            own = own if factor is None else _combine(builder, "multiply", own, factor)
            shift = own if shift is None else _combine(builder, "add", own, shift)
        if factor is not None:
            shape = value_shape(weight)
            along = builder.reshape(factor, (count, *(1,) * (len(shape) - 1)))
            weight = _combine(builder, "multiply", _wide(builder, weight, shape), along)
        operands = [image, builder.cast(weight, element)]
        result = self.convolution.results[0]
        if shift is not None:
            along = [1] * len(value_shape(result))
            along[int(parameters["channel_dim"])] = count
            operands.append(builder.cast(builder.reshape(shift, along), element))
        given = {name: each for name, each in parameters.items() if each is not None}
        return builder.create("conv2d", operands, result.type, **given)

    def rebuild(self, builder: Builder, value: SSAValue) -> SSAValue:
        """What is made of another convolution's result as of this one's."""
        moved = made_by(under_float_cast(self.value), "permute")
        value = builder.cast(value, element_type(self.value))
        return (
            value if moved is None else builder.permute(value, parameters_of(moved)["permutation"])
        )


def _batch_norm(op: Operation, builder: Builder) -> SSAValue | None:
    """A convolution whose weights and bias normalize: its channels are those of the norm."""
    normalized, *vectors = inputs_of(op)
    found, said = _Channels.find(normalized), parameters_of(op)
    if found is None or found.dim != int(said["dimension"]):
        return None
    scale, offset, mean, variance = (_wide(builder, each, (found.count,)) for each in vectors)
    epsilon = builder.create_splat(float(said["epsilon"]), scale.type)
    total = _combine(builder, "add", variance, epsilon)
    factor = _combine(builder, "multiply", scale, builder.create("rsqrt", (total,), total.type))
    shift = _combine(builder, "subtract", offset, _combine(builder, "multiply", mean, factor))
    return found.rebuild(builder, found.apply(builder, factor, shift))


def _channel_step(op: Operation, builder: Builder) -> SSAValue | None:
    """A convolution that scales or shifts its channels itself, as a norm of batches in parts does.

    Only by numbers that are there before a call: weights are computed once.
    """
    kind, inputs = mnemonic_of(op), inputs_of(op)
    for value, other in (
        either_way(op) if kind in ("add", "multiply") else ((inputs[0], inputs[1]),)
    ):
        found = _Channels.find(value) if value.type == op.results[0].type else None
        numbers = None if found is None else found.numbers(other)
        if found is None or numbers is None:
            continue
        if not all(map(is_computed_once, (numbers, *inputs_of(found.convolution)[1:]))):
            continue
        row = _wide(builder, numbers, (found.count,))
        if kind == "div":
            row = builder.create("reciprocal", (row,), row.type)
        if kind == "subtract":
            row = builder.create("neg", (row,), row.type)
        scales = kind in ("multiply", "div")
        made = found.apply(builder, row if scales else None, None if scales else row)
        return found.rebuild(builder, made)
    return None


def _combine(builder: Builder, mnemonic: str, first: SSAValue, second: SSAValue) -> SSAValue:
    return builder.create(mnemonic, (first, second), first.type)


def _wide(builder: Builder, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """In 32 bits, those of a step before: what is computed once is rounded once."""
    source = under_float_cast(value)
    wide = source if element_type(source) == f32 else value
    return builder.reshape(builder.cast(wide, f32), shape)


RULES: Mapping[str, Sequence[Rule]] = adapted(
    {
        "add": [_layer_norm, _channel_step],
        "subtract": [_channel_step],
        "multiply": [_channel_step],
        "div": [_channel_step],
        "typecast": [_layer_norm],
        "batch_norm_inference": [_batch_norm],
    }
)
"""Rules by the name of the operation."""
