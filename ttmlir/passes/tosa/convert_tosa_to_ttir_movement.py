"""Rules of tosa's operations that move elements, for `convert-tosa-to-ttir`."""

from __future__ import annotations

from xdsl.ir import Operation

from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_numbers
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import value_shape
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.tosa.tosa_operands import check_zero_points, number, numbers


def _concat(op: Operation) -> None:
    builder = Builder.before(op)
    replace(
        op,
        builder.create("concat", op.operands, op.results[0].type, dim=number(op, "axis")),
    )


def _pad(op: Operation) -> None:
    builder = Builder.before(op)
    check_zero_points(op, len(op.operands))
    fill = 0.0
    if len(op.operands) > 2:
        given = constant_numbers(op.operands[2])
        if given is None:
            refuse_to_legalize(op, "what it pads with is computed; supported are constants")
        fill = float(given[0])
    padding = numbers(op, "padding", 1)
    replace(
        op, builder.create("pad", op.operands[:1], op.results[0].type, padding=padding, value=fill)
    )


def _reshape(op: Operation) -> None:
    builder = Builder.before(op)
    shape = value_shape(op.results[0])
    replace(op, builder.create("reshape", op.operands[:1], op.results[0].type, shape=shape))


def _reverse(op: Operation) -> None:
    builder = Builder.before(op)
    dims = (number(op, "axis"),)
    replace(op, builder.create("reverse", op.operands, op.results[0].type, dimensions=dims))


def _slice(op: Operation) -> None:
    builder = Builder.before(op)
    starts = numbers(op, "start", 1)
    ends = [start + size for start, size in zip(starts, value_shape(op.results[0]), strict=True)]
    replace(op, builder.slice(op.operands[0], starts, ends))


def _tile(op: Operation) -> None:
    builder = Builder.before(op)
    result, source = value_shape(op.results[0]), value_shape(op.operands[0])
    counts = tuple(to // max(1, of) for to, of in zip(result, source, strict=True))
    replace(
        op,
        builder.create("repeat", op.operands[:1], op.results[0].type, repeat_dimensions=counts),
    )


def _transpose(op: Operation) -> None:
    builder = Builder.before(op)
    replace(op, builder.permute(op.operands[0], numbers(op, "perms", 1)))


def _identity(op: Operation) -> None:
    replace(op, op.operands[0])


RULES: dict[str, ConversionRule] = {
    "tosa.concat": _concat,
    "tosa.identity": _identity,
    "tosa.pad": _pad,
    "tosa.reshape": _reshape,
    "tosa.reverse": _reverse,
    "tosa.slice": _slice,
    "tosa.tile": _tile,
    "tosa.transpose": _transpose,
}
"""Rules by the full name of the operation."""
