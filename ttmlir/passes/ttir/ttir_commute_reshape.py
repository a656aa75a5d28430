"""Compute elementwise operations in the shape that takes fewer tiles.

Before:

    func.func @main(%a: tensor<140x33xf32>) -> tensor<7x20x33xf32> {
      %0 = "ttir.reshape"(%a) <{shape = [7 : i32, 20 : i32, 33 : i32]}>
          : (tensor<140x33xf32>) -> tensor<7x20x33xf32>
      %1 = "ttir.exp"(%0) : (tensor<7x20x33xf32>) -> tensor<7x20x33xf32>
      return %1 : tensor<7x20x33xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<140x33xf32>) -> tensor<7x20x33xf32> {
        %0 = "ttir.exp"(%arg0) : (tensor<140x33xf32>) -> tensor<140x33xf32>
        %1 = "ttir.reshape"(%0) <{shape = [7 : i32, 20 : i32, 33 : i32]}>
            : (tensor<140x33xf32>) -> tensor<7x20x33xf32>
        return %1 : tensor<7x20x33xf32>
      }
    }

Requires: ttir of 2026.
Ensures: no reshape that alone takes or makes what an elementwise operation computes stands on the
side where the tensor, padded to tiles, is larger. Operands of one element are the only others that
such an operation may have.
Options: none.
Not done here: operations of several large operands, which would need a reshape for each, and of
three operands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from ttmlir.dialects import ttir
from ttmlir.ir.greedy_rewriting import CONSTANTS, GreedyRewriter
from ttmlir.ir.tensor_types import tensor_like, value_shape
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.value_rewriting import adapted, made_by, only_user

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import SSAValue

    from ttmlir.ir.builder import Builder

_TILE = 32


@dataclass(frozen=True)
class TTIRCommuteReshapePass(ModulePass):
    """Compute elementwise operations in the shape that takes fewer tiles."""

    name = "ttir-commute-reshape"
    title = "TTIRCommuteReshape"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Move reshapes to where tensors are smaller."""
        names = [cls.name.removeprefix("ttir.") for cls in ttir.TTIR.operations if _moves(cls)]
        rules = {"reshape": (_before,), **dict.fromkeys(names, (_after,))}
        GreedyRewriter(adapted(rules)).run(module)


def _moves(cls: type[Operation]) -> bool:
    return issubclass(cls, ttir.UnaryOp | ttir.BinaryOp)


def _tiled_volume(shape: Sequence[int]) -> int:
    """Elements of a tensor whose last two dimensions are padded to tiles."""
    rows = (1, 1, *shape)[-2:]
    return math.prod(shape[:-2]) * math.prod(-(-extent // _TILE) * _TILE for extent in rows)


def _large_operand(op: Operation) -> int | None:
    """The one operand with more than one element, of the shape of the result."""
    shape = value_shape(op.results[0])
    large = [n for n, value in enumerate(op.operands) if math.prod(value_shape(value)) != 1]
    return large[0] if len(large) == 1 and value_shape(op.operands[large[0]]) == shape else None


def _compute(
    build: Builder, op: Operation, value: SSAValue, index: int, shape: Sequence[int]
) -> SSAValue:
    """The operation on a tensor of another shape."""
    operands = [
        value if n == index else _single(build, op, operand, len(shape))
        for n, operand in enumerate(op.operands)
    ]
    new = type(op).create(
        operands=operands,
        result_types=[tensor_like(op.results[0], shape)],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
        location=op.location,
    )
    return build.insert(new).results[0]


def _single(build: Builder, op: Operation, value: SSAValue, rank: int) -> SSAValue:
    """A tensor of one element in so many dimensions; a constant is made for the operation."""
    maker = value.owner
    if isinstance(maker, Operation) and maker.name in CONSTANTS:
        own = build.insert(maker.clone())
        own.location = op.location
        value = own.results[0]
    return build.reshape(value, (1,) * rank)


def _before(op: Operation, build: Builder) -> SSAValue | None:
    """A reshape of what an operation computes is smaller than that."""
    source, shape = op.operands[0], value_shape(op.results[0])
    maker = source.owner
    if (
        not isinstance(maker, ttir.ElementwiseOp)
        or not _moves(type(maker))
        or not source.has_one_use()
    ):
        return None
    index = _large_operand(maker)
    if index is None or _tiled_volume(shape) >= _tiled_volume(value_shape(source)):
        return None
    return _compute(build, maker, build.reshape(maker.operands[index], shape), index, shape)


def _after(op: Operation, build: Builder) -> SSAValue | None:
    """An operation computes what is smaller before a reshape."""
    index = _large_operand(op)
    reshape = None if index is None else made_by(op.operands[index], "reshape")
    if index is None or reshape is None or only_user(reshape.results[0]) is not op:
        return None
    source, shape = reshape.operands[0], value_shape(op.results[0])
    if _tiled_volume(value_shape(source)) >= _tiled_volume(shape):
        return None
    return build.reshape(_compute(build, op, source, index, value_shape(source)), shape)
