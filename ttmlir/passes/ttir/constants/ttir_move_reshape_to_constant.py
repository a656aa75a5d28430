"""Reshape constants instead of what they are combined with.

Before:

    func.func @main(%a: tensor<5x1x7xf32>) -> tensor<5x7xf32> {
      %c = "ttir.constant"() <{value = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<7xf32>}>
          : () -> tensor<7xf32>
      %0 = "ttir.reshape"(%a) <{shape = [5 : i32, 7 : i32]}>
          : (tensor<5x1x7xf32>) -> tensor<5x7xf32>
      %1 = "ttir.multiply"(%0, %c) : (tensor<5x7xf32>, tensor<7xf32>) -> tensor<5x7xf32>
      return %1 : tensor<5x7xf32>
    }

After:

    ...
        %1 = "ttir.reshape"(%0) <{shape = [1 : i32, 1 : i32, 7 : i32]}>
            : (tensor<7xf32>) -> tensor<1x1x7xf32>
        %2 = "ttir.multiply"(%arg0, %1)
            : (tensor<5x1x7xf32>, tensor<1x1x7xf32>) -> tensor<5x1x7xf32>
        %3 = "ttir.reshape"(%2) <{shape = [5 : i32, 7 : i32]}>
            : (tensor<5x1x7xf32>) -> tensor<5x7xf32>
        return %3 : tensor<5x7xf32>
      }
    }

Requires: ttir of 2026.
Ensures: a reshape that an operation of two operands alone takes is behind that operation, if the
other operand is a constant, and repeats along the same elements in the shape before the reshape.
Options: none.
Not done here: the constant is reshaped by `ttir-fold-constant-reshape-broadcast`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.dialects import ttir
from ttmlir.ir.greedy_rewriting import GreedyRewriter
from ttmlir.ir.tensor_types import element_type, tensor_of, value_shape
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.value_rewriting import (
    Shape,
    adapted,
    elements_known,
    made_by,
    only_user,
    under,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder


@dataclass(frozen=True)
class TTIRMoveReshapeToConstantPass(ModulePass):
    """Reshape constants instead of what they are combined with."""

    name = "ttir-move-reshape-to-constant"
    title = "TTIRMoveReshapeToConstant"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Move reshapes behind operations with a constant."""
        names = [
            cls.name.removeprefix("ttir.")
            for cls in ttir.TTIR.operations
            if issubclass(cls, ttir.BinaryOp)
        ]
        GreedyRewriter(adapted(dict.fromkeys(names, (_move,)))).run(module)


def _move(op: Operation, build: Builder) -> SSAValue | None:
    for index, value in enumerate(op.operands):
        reshape, constant = made_by(value, "reshape"), op.operands[1 - index]
        if reshape is None or only_user(value) is not op or elements_known(value) is not None:
            continue
        if elements_known(under(constant, "reshape")) is None:
            continue
        source, shape = reshape.operands[0], value_shape(op.results[0])
        own = _shape_before(value_shape(constant), shape, value_shape(source))
        if value_shape(value) != shape or own is None:
            continue
        operands = [build.reshape(constant, own)]
        operands.insert(index, source)
        computed = type(op).create(
            operands=operands,
            result_types=[tensor_of(element_type(op.results[0]), value_shape(source))],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            location=op.location,
        )
        return build.reshape(build.insert(computed).results[0], shape)
    return None


def _shape_before(constant: Shape, after: Shape, before: Shape) -> Shape | None:
    """The shape in which a constant repeats before a reshape as it does after it, if there is one.

    Extents of the two shapes are grouped into those with equal products; a group is whole in the
    constant, or 1.
    """
    padded = (*[1] * (len(after) - len(constant)), *constant)
    if math.prod(constant) == 1:
        return (1,) * len(before)
    if 0 in after:
        return None
    found: list[int] = []
    own = other = 0
    while own < len(after) or other < len(before):
        first, begin = own, other
        own, other = min(own + 1, len(after)), min(other + 1, len(before))
        while (left := math.prod(after[first:own])) != (right := math.prod(before[begin:other])):
            own, other = (own + 1, other) if left < right else (own, other + 1)
        group = padded[first:own]
        if group == after[first:own]:
            found += before[begin:other]
        elif set(group) <= {1}:
            found += [1] * (other - begin)
        elif before[begin:other] == after[first:own]:
            found += group
        else:
            return None
    return tuple(found)
