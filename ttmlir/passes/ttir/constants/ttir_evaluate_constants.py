"""Compute while compiling what depends on constants alone.

Weights that a model computes from its parameters (standardized, merged with others, cut into parts)
are computed once, by the functions of the runtime, where the results that the program takes are no
larger than the constants that they are made of.

Before:

    #any = #tt.operand_constraint<any_device_tile>
    func.func @f(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %weight = "ttir.constant"() <{value = dense<[[1.0, 2.0], [3.0, 5.0]]> : tensor<2x2xf32>}>
          : () -> tensor<2x2xf32>
      %0 = tensor.empty() : tensor<2x1xf32>
      %1 = "ttir.sum"(%weight, %0) <{dim_arg = [1 : i32], keep_dim = true,
          operand_constraints = [#any, #any]}>
          : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
      %2 = tensor.empty() : tensor<2x2xf32>
      %3 = "ttir.subtract"(%weight, %1, %2) <{operandSegmentSizes = array<i32: 2, 1>,
          operand_constraints = [#any, #any, #any]}>
          : (tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      %4 = tensor.empty() : tensor<2x2xf32>
      %5 = "ttir.multiply"(%x, %3, %4) <{operandSegmentSizes = array<i32: 2, 1>,
          operand_constraints = [#any, #any, #any]}>
          : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      return %5 : tensor<2x2xf32>
    }

After:

    ...
      %0 = "ttir.constant"() <{value = dense<[[-2.000000e+00, -1.000000e+00],
          [-5.000000e+00, -3.000000e+00]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
      %1 = tensor.empty() : tensor<2x2xf32>
      %2 = "ttir.multiply"(%arg0, %0, %1) <{operandSegmentSizes = array<i32: 2, 1>, ...}>
          : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      return %2 : tensor<2x2xf32>
    ...

Requires: ttir; operations on tensors with a layout are left alone.
Ensures: the same results; constants take no more bytes in sum.
Options: none.
Not done here: operations on one number that is repeated, floating point numbers of less than 32
bits unless they are only moved, and operations in one block on constants of another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from ttmlir.dialects.ttir import TTIRTableOp
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_elements
from ttmlir.ir.rewriting import erase
from ttmlir.ir.tensor_types import element_type, is_plain_and_static, value_shape
from ttmlir.mlir.attributes import Elements, ElementType, element_size, splat_bytes
from ttmlir.optable.op_definition import Family
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.constants.ttir_constant_folding import evaluate

if TYPE_CHECKING:
    from xdsl.context import Context

_FAMILIES = frozenset(
    {Family.UNARY, Family.BINARY, Family.TERNARY, Family.REDUCTION, Family.CONTRACTION}
)


@dataclass(frozen=True)
class TTIREvaluateConstantsPass(ModulePass):
    """Compute while compiling what depends on constants alone, where constants do not grow."""

    name = "ttir-evaluate-constants"
    title = "TTIREvaluateConstants"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Evaluate in every block by itself, groups in the order of the text."""
        blocks = dict.fromkeys(op.parent for op in module.walk() if isinstance(op, TTIRTableOp))
        for block in blocks:
            for group in _groups_of(cast("Block", block)):
                if group.is_worth_it():
                    group.evaluate()


@dataclass
class _Group:
    """Operations that share constants or each other's results."""

    ops: list[TTIRTableOp] = field(default_factory=list[TTIRTableOp])
    """In the order of the text."""
    constants: dict[SSAValue, Elements] = field(default_factory=dict[SSAValue, Elements])

    def is_worth_it(self) -> bool:
        """True if what is left in the program has no more bytes than what goes."""
        inside = frozenset[Operation](self.ops)
        taken = sum(
            _size(op.results[0]) for op in self.ops if _is_used_outside(op.results[0], inside)
        )
        given = sum(
            _size(value)
            for value, elements in self.constants.items()
            if splat_bytes(elements) is None and not _is_used_outside(value, inside)
        )
        return taken <= given

    def evaluate(self) -> None:
        """Let constants stand for the results, if all of them can be computed."""
        inside = frozenset[Operation](self.ops)
        known = dict(self.constants)
        for op in self.ops:
            elements = evaluate(op, [known[value] for value in op.inputs])
            if elements is None:
                return
            known[op.results[0]] = elements
        for op in self.ops:
            result = op.results[0]
            if _is_used_outside(result, inside):
                constant = Builder.before(op).create_constant(known[result], result.type)
                result.replace_uses_with_if(constant, lambda use: use.operation not in inside)
        for op in reversed(self.ops):
            destinations = op.operands[len(op.inputs) :]
            erase(op)
            _erase_unused(destinations)
        _erase_unused(self.constants)


def _groups_of(block: Block) -> list[_Group]:
    """What depends on constants, split where it shares nothing but repeated numbers."""
    group_of: dict[SSAValue, _Group] = {}
    for op in block.ops:
        if not isinstance(op, TTIRTableOp) or not _can_evaluate(op):
            continue
        constants = {
            value: elements for value in op.inputs if (elements := _constant(value)) is not None
        }
        if any(value not in constants and value not in group_of for value in op.inputs):
            continue
        group = _Group()
        for value in op.inputs:
            if value in group_of and (other := group_of[value]) is not group:
                group = _join(group, other, group_of)
        group.ops.append(op)
        group.constants |= constants
        shared = [value for value, each in constants.items() if splat_bytes(each) is None]
        group_of |= dict.fromkeys((*shared, op.results[0]), group)
    order = {op: number for number, op in enumerate(block.ops)}
    groups = list({id(group): group for group in group_of.values()}.values())
    for group in groups:
        group.ops.sort(key=order.__getitem__)
    return groups


def _join(one: _Group, other: _Group, group_of: dict[SSAValue, _Group]) -> _Group:
    """Both as one: the larger takes up the smaller."""
    less, more = sorted((one, other), key=lambda group: len(group.ops))
    more.ops += less.ops
    more.constants |= less.constants
    for value in (*less.constants, *(op.results[0] for op in less.ops)):
        if group_of.get(value) is less:
            group_of[value] = more
    return more


def _can_evaluate(op: TTIRTableOp) -> bool:
    is_known = op.DEFINITION.moves or op.DEFINITION.family in _FAMILIES
    is_plain = len(op.results) == 1 and all(map(is_plain_and_static, (*op.operands, op.results[0])))
    return is_known and is_plain and bool(op.inputs)


def _constant(value: SSAValue) -> Elements | None:
    """The elements of a constant whose elements have the type of the value."""
    elements = constant_elements(value)
    has_type = elements is not None and elements.get_element_type() == element_type(value)
    return elements if has_type else None


def _is_used_outside(value: SSAValue, inside: Set[Operation]) -> bool:
    return any(use.operation not in inside for use in value.uses)


def _size(value: SSAValue) -> int:
    """Bytes of a value as a constant."""
    return math.prod(value_shape(value)) * element_size(cast("ElementType", element_type(value)))


def _erase_unused(values: Iterable[SSAValue]) -> None:
    for value in values:
        owner = value.owner
        if isinstance(owner, Operation) and owner.parent is not None and value.first_use is None:
            erase(owner)
