"""Make tensors of one number as small as their users allow.

Before:

    func.func @main(%a: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = "ttir.constant"() <{value = dense<2.0> : tensor<33x70xf32>}> : () -> tensor<33x70xf32>
      %1 = "ttir.add"(%a, %0) : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<33x70xf32>) -> tensor<33x70xf32> {
        %0 = "ttir.full"() <{fill_value = 2.000000e+00 : f32, shape = array<i32: 1, 1>}>
            : () -> tensor<1x1xf32>
        %1 = "ttir.add"(%arg0, %0) : (tensor<33x70xf32>, tensor<1x1xf32>) -> tensor<33x70xf32>
        return %1 : tensor<33x70xf32>
      }
    }

Requires: ttir of 2026.
Ensures: constants of one number have extents of 1 where every user is elementwise; what is computed
of nothing larger is computed so, too, and repeated.
Options: none.
Not done here: tensors that others use, too, stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType

from ttmlir.ir.constants import needs_64_bits, number_of_elements
from ttmlir.ir.greedy_rewriting import CONSTANTS, GreedyRewriter, Rule, constant_value
from ttmlir.ir.tensor_types import value_shape
from ttmlir.optable.op_definition import broadcast_shape
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.ttir_implicit_broadcast_fold import repeats_operands

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation


@dataclass(frozen=True)
class TTIRFoldFullToScalarPass(ModulePass):
    """Make tensors of one number as small as their users allow."""

    name = "ttir-fold-full-to-scalar"
    title = "TTIRFoldFullToScalar"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Shrink what can be smaller."""
        rules: dict[str, tuple[Rule, ...]] = dict.fromkeys(CONSTANTS, (_shrink,))
        GreedyRewriter(rules).run(module)


def _shrink(op: Operation, rewriter: GreedyRewriter) -> bool:
    result = op.results[0]
    shape = value_shape(result)
    small = (1,) * len(shape)
    if shape == small or 0 in shape:
        return False
    value = constant_value(op)
    number = None if value is None else number_of_elements(value)
    users = dict.fromkeys(use.operation for use in result.uses)
    if number is None or not users or not all(map(repeats_operands, users)):
        return False
    element = cast("TensorType[Attribute]", result.type).element_type
    builder = rewriter.builder(op)
    type_ = TensorType(element, small)
    if op.name in ("ttir.zeros", "ttir.ones"):
        new = builder.create(op.name.removeprefix("ttir."), (), type_, shape=small)
    elif needs_64_bits(number, element):
        new = builder.create_splat(number, type_)
    else:
        new = builder.create("full", (), type_, shape=small, fill_value=number)
    rewriter.replace(op, new)
    for user in users:
        _shrink_user(user, rewriter)
    return True


def _shrink_user(user: Operation, rewriter: GreedyRewriter) -> None:
    """Repeat the result of an operation whose operands are smaller now."""
    result = cast("TensorType[Attribute]", user.results[0].type)
    shape = broadcast_shape(*map(value_shape, user.operands))
    if shape == result.get_shape():
        return
    build = rewriter.builder(user)
    small = type(user).create(
        operands=user.operands,
        result_types=[TensorType(result.element_type, shape)],
        properties=dict(user.properties),
        attributes=dict(user.attributes),
        location=user.location,
    )
    build.insert(small)
    pairs = zip(result.get_shape(), shape, strict=True)
    factors = tuple(whole // max(1, part) for whole, part in pairs)
    repeated = build.create("broadcast", small.results, result, broadcast_dimensions=factors)
    rewriter.replace(user, repeated)
