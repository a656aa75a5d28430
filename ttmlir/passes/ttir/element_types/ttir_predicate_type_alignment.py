"""Give truth values the element type of the numbers that they are about.

Before:

    func.func @main(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> {
      %0 = "ttir.gt"(%a, %b) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xi1>
      %1 = "ttir.where"(%0, %a, %b)
          : (tensor<5x7xi1>, tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
      return %1 : tensor<5x7xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<5x7xf32>, %arg1: tensor<5x7xf32>) -> tensor<5x7xf32> {
        %0 = "ttir.gt"(%arg0, %arg1) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
        %1 = "ttir.where"(%0, %arg0, %arg1)
            : (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
        return %1 : tensor<5x7xf32>
      }
    }

Requires: ttir of 2026.
Ensures: comparisons, `ttir.logical_not` and `ttir.reduce_or` of numbers, and what moves or combines
their results, have the element type of the numbers; `ttir.where` asks in the type of its choices.
Options: none.
Not done here: signatures stay: what is returned or given to other operations is cast back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import i1

from ttmlir.dialects import ttir
from ttmlir.ir.builder import Builder, Spelling, use_style
from ttmlir.ir.tensor_types import element_type, is_plain_tensor, tensor_of, value_shape
from ttmlir.ir.ttnn_types import set_type
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

_OF_FIRST = frozenset(
    f"ttir.{name}"
    for name in (
        *("eq", "ne", "gt", "ge", "lt", "le", "logical_not", "reduce_or"),
        *("reshape", "permute", "transpose", "broadcast", "repeat", "slice", "squeeze"),
        *("unsqueeze", "reverse", "repeat_interleave"),
    )
)
"""Operations whose truth values are about the numbers of their first operand."""


@dataclass(frozen=True)
class TTIRPredicateTypeAlignmentPass(ModulePass):
    """Give truth values the element type of the numbers that they are about."""

    name = "ttir-predicate-type-alignment"
    title = "PredicateTypeAlignment"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Align the types of results, from operands on."""
        with use_style(Spelling.LATE.style):
            for op in tuple(module.walk()):
                if op.name == "ttir.where":
                    _align_condition(op)
                elif op.name in _OF_FIRST:
                    _set_element(op.results[0], element_type(op.operands[0]))
                elif isinstance(op, ttir.BinaryOp):
                    _align_operands(op)


def _is_truth(value: SSAValue) -> bool:
    return is_plain_tensor(value.type) and element_type(value) == i1


def _align_condition(op: Operation) -> None:
    """Let the condition have the type of both choices, and the choices that of the result."""
    condition, first, second = op.operands
    element = element_type(first)
    if element != element_type(second):
        numbers = [each for each in (first, second) if not _is_truth(each)]
        if len(numbers) != 1:
            return
        element = element_type(numbers[0])
        for place in (1, 2):
            op.operands[place] = Builder.before(op).cast(op.operands[place], element)
    if _is_truth(condition):
        op.operands[0] = Builder.before(op).cast(condition, element)
    _set_element(op.results[0], element)


def _align_operands(op: Operation) -> None:
    """Let truth values have the type of the one kind of numbers that they are combined with."""
    elements = {element_type(value) for value in op.operands} - {i1}
    if len(elements) != 1:
        return
    (element,) = elements
    for place, value in enumerate(op.operands):
        op.operands[place] = Builder.before(op).cast(value, element)
    _set_element(op.results[0], element)


def _set_element(result: SSAValue, element: Attribute) -> None:
    """Let truth values be numbers; who cannot take them takes them cast back."""
    if not _is_truth(result) or element == i1:
        return
    result = set_type(result, tensor_of(element, value_shape(result)))
    for use in tuple(result.uses):
        user = use.operation
        follows = user.name in _OF_FIRST or isinstance(user, ttir.BinaryOp)
        if not follows and user.name != "ttir.where":
            user.operands[use.index] = Builder.before(user).cast(result, i1)
