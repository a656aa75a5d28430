"""Let elementwise operations repeat the one number of a constant.

Before:

    func.func @main(%x: tensor<31x66xf32>) -> tensor<31x66xf32> {
      %0 = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 31, 66>}> :
          () -> tensor<31x66xf32>
      %1 = "ttir.multiply"(%x, %0) :
          (tensor<31x66xf32>, tensor<31x66xf32>) -> tensor<31x66xf32>
      return %1 : tensor<31x66xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<31x66xf32>) -> tensor<31x66xf32> {
        %0 = "ttir.full"() <{fill_value = 2.000000e+00 : f32, shape = array<i32: 1, 1>}> :
            () -> tensor<1x1xf32>
        %1 = "ttir.multiply"(%arg0, %0) :
            (tensor<31x66xf32>, tensor<1x1xf32>) -> tensor<31x66xf32>
        return %1 : tensor<31x66xf32>
      }
    }

Requires: static shapes.
Ensures: constants of one number that elementwise operations use have extents of 1, where another
operand has those of the result.
Options: none.
Not done here: other uses of a constant keep its shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.ttir import ElementwiseOp
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_elements
from ttmlir.ir.tensor_types import tensor_like, value_shape
from ttmlir.mlir.attributes import elements_attr, splat_bytes
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.ttir_implicit_broadcast_fold import ELEMENTWISE, broadcast_shape, remade
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

    from ttmlir.mlir.attributes import ElementsType


@dataclass(frozen=True)
class TTIRFoldFullToScalarPass(ModulePass):
    """Let elementwise operations repeat the one number of a constant."""

    name = "ttir-fold-full-to-scalar"
    title = "TTIRFoldFullToScalar"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Give constants of one number extents of 1 for their elementwise users."""
        rewrite_values(module, dict.fromkeys(ELEMENTWISE, [_fold]))


def _fold(op: Operation, builder: Builder) -> SSAValue | None:
    if not isinstance(op, ElementwiseOp) or not is_plain(op):
        return None
    operands = list(inputs_of(op))
    shapes = [value_shape(value) for value in operands]
    changed = False
    for number, value in enumerate(operands):
        small = (1,) * len(shapes[number])
        if shapes[number] == small or not _is_constant(value):
            continue
        others = [*shapes[:number], small, *shapes[number + 1 :]]
        if broadcast_shape(others) != value_shape(op.results[0]):
            continue
        operands[number], shapes[number] = _small(value, small), small
        changed = True
    return remade(op, builder, operands, op.results[0].type) if changed else None


def _is_constant(value: SSAValue) -> bool:
    if made_by(value, "full", "zeros", "ones") is not None:
        return True
    elements = constant_elements(value)
    return elements is not None and splat_bytes(elements) is not None


def _small(value: SSAValue, shape: tuple[int, ...]) -> SSAValue:
    """The number with other extents, at the place of the constant."""
    maker = cast("Operation", value.owner)
    type_ = tensor_like(value, shape)
    place = Builder.before(maker)
    elements = constant_elements(value)
    if elements is not None:
        data = splat_bytes(elements)
        assert data is not None, "only constants of one number are changed"
        held = cast("ElementsType", elements.type)
        small = elements_attr(TensorType(held.element_type, shape), data)
        return place.create_constant(small, type_)
    parameters = {**parameters_of(maker), "shape": shape}
    return place.create(mnemonic_of(maker), (), type_, **parameters)
