"""Let elementwise operations repeat their operands themselves.

Before:

    func.func @main(%a: tensor<33x70xf32>, %b: tensor<1x70xf32>) -> tensor<33x70xf32> {
      %0 = "ttir.broadcast"(%b) <{broadcast_dimensions = array<i64: 33, 1>}>
          : (tensor<1x70xf32>) -> tensor<33x70xf32>
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

Requires: ttir of 2026.
Ensures: no elementwise operation takes a `ttir.broadcast` whose operand gives the same result; if
all operands are repeated, the last one that can be is left as it is, or the result of the smaller
operation is repeated.
Options: none.
Not done here: broadcasts that other operations take.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType

from ttmlir.dialects import ttir
from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule
from ttmlir.ir.tensor_types import value_shape
from ttmlir.optable.op_definition import broadcast_shape
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation


def repeats_operands(op: Operation) -> bool:
    """True for operations of ttir that repeat operands along extents of 1."""
    if op.name in ("ttir.clamp_tensor",):
        return True
    return isinstance(op, ttir.ElementwiseOp)


def elementwise_names() -> tuple[str, ...]:
    """The names of all operations of ttir that may repeat their operands."""
    return tuple(
        cls.name
        for cls in ttir.TTIR.operations
        if issubclass(cls, ttir.ElementwiseOp) or cls.name == "ttir.clamp_tensor"
    )


@dataclass(frozen=True)
class TTIRImplicitBroadcastFoldPass(ModulePass):
    """Let elementwise operations repeat their operands themselves."""

    name = "ttir-implicit-broadcast-fold"
    title = "TTIRImplicitBroadcastFold"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Fold broadcasts into their users."""
        rules: dict[str, tuple[Rule, ...]] = dict.fromkeys(elementwise_names(), (_fold,))
        GreedyRewriter(rules).run(module)


def _fold(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Take broadcasts off all operands; what they leave to repeat is repeated of the result."""
    makers = {
        index: maker
        for index, maker in enumerate(operand.owner for operand in op.operands)
        if isinstance(maker, ttir.TTIRTableOp) and maker.name == "ttir.broadcast"
    }
    if not makers:
        return False
    smalls = [
        makers[index].operands[0] if index in makers else operand
        for index, operand in enumerate(op.operands)
    ]
    shape = broadcast_shape(*map(value_shape, smalls))
    result = cast("TensorType[Attribute]", op.results[0].type)
    if shape == result.get_shape():
        for index, maker in makers.items():
            rewriter.set_operand(op, index, smalls[index])
            if maker.results[0].first_use is None:
                rewriter.add(maker)
        return True
    builder = rewriter.builder(op)
    type_ = TensorType(result.element_type, shape)
    new = type(op).create(
        operands=smalls,
        result_types=[type_],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
        location=op.location,
    )
    builder.insert(new)
    factors = tuple(
        whole // max(1, part) for whole, part in zip(result.get_shape(), shape, strict=True)
    )
    rewriter.replace(
        op,
        builder.create("broadcast", new.results, result, broadcast_dimensions=factors),
    )
    return True
