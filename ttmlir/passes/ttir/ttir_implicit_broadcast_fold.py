"""Let operations repeat their operands themselves.

Elementwise operations of ttnn repeat operands whose extents are 1, as NumPy does: a broadcast
before them is superfluous where another operand has the extents of the result.

Before:

    func.func @main(%a: tensor<33x70xf32>, %b: tensor<1x70xf32>) -> tensor<33x70xf32> {
      %0 = "ttir.broadcast"(%b) <{broadcast_dimensions = array<i64: 33, 1>}> :
          (tensor<1x70xf32>) -> tensor<33x70xf32>
      %1 = "ttir.add"(%a, %0) : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>) -> tensor<33x70xf32> {
        %0 = "ttir.add"(%arg0, %arg1) : (tensor<33x70xf32>, tensor<1x70xf32>) -> tensor<33x70xf32>
        return %0 : tensor<33x70xf32>
      }
    }

Requires: static shapes.
Ensures: an operand of an elementwise operation comes from a broadcast only if the others repeat it
less; the results are the same.
Options: none.
Not done here: where all operands are repeated alike, `ttir-broadcast-fold` repeats the result;
operations with layouts are left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.ttir import ElementwiseOp, TTIRTableOp
from ttmlir.ir.tensor_types import value_shape
from ttmlir.optable import DEFINITIONS
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.value_rewriting import (
    inputs_of,
    is_plain,
    made_by,
    mnemonic_of,
    parameters_of,
    rewrite_values,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.ir.builder import Builder


@dataclass(frozen=True)
class TTIRImplicitBroadcastFoldPass(ModulePass):
    """Let operations repeat their operands themselves."""

    name = "ttir-implicit-broadcast-fold"
    title = "TTIRImplicitBroadcastFold"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Fold the broadcasts before every elementwise operation."""
        rewrite_values(module, dict.fromkeys(ELEMENTWISE, [_fold]))


ELEMENTWISE = tuple(
    each.mnemonic for each in DEFINITIONS.values() if each.in_ttir and each.family.is_elementwise
)
"""Operations that repeat their operands."""


def _fold(op: Operation, builder: Builder) -> SSAValue | None:
    if not isinstance(op, ElementwiseOp) or not is_plain(op):
        return None
    operands = list(inputs_of(op))
    result = value_shape(op.results[0])
    for number, value in enumerate(operands):
        folded = [*operands[:number], broadcast_source(value), *operands[number + 1 :]]
        if broadcast_shape([value_shape(each) for each in folded]) == result:
            operands = folded
    if operands == list(inputs_of(op)):
        return None
    return remade(op, builder, operands, op.results[0].type)


def broadcast_source(value: SSAValue) -> SSAValue:
    """What is repeated, if it has as many dimensions."""
    maker = made_by(value, "broadcast")
    if maker is None:
        return value
    source = inputs_of(maker)[0]
    return source if len(value_shape(source)) == len(value_shape(value)) else value


def broadcast_shape(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """What operands of these shapes are repeated to."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    # Extents are equal or 1, and 0 is no less than 1 here.
    return tuple(next((n for n in dims if n != 1), 1) for dims in zip(*padded, strict=True))


def remade(
    op: TTIRTableOp, builder: Builder, operands: list[SSAValue], type_: Attribute
) -> SSAValue:
    """The operation on other operands."""
    return builder.create(mnemonic_of(op), operands, type_, **parameters_of(op))
