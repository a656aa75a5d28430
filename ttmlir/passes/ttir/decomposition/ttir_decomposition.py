"""Decompose general ttir operations into operations that ttnn has.

Before:

    #any = #tt.operand_constraint<any_device_tile>
    func.func @scores(%q: tensor<2x7x40xf32>, %k: tensor<2x9x40xf32>) -> tensor<2x7x9xf32> {
      %0 = tensor.empty() : tensor<2x7x9xf32>
      %1 = "ttir.dot_general"(%q, %k, %0) <{batch_dims_lhs = array<i64: 0>,
          batch_dims_rhs = array<i64: 0>, contract_dims_lhs = array<i64: 2>,
          contract_dims_rhs = array<i64: 2>, operand_constraints = [#any, #any, #any]}>
          : (tensor<2x7x40xf32>, tensor<2x9x40xf32>, tensor<2x7x9xf32>) -> tensor<2x7x9xf32>
      return %1 : tensor<2x7x9xf32>
    }

After:

    #any_device_tile = #tt.operand_constraint<dram|l1|tile|...>
    module {
      func.func @scores(%arg0: tensor<2x7x40xf32>, %arg1: tensor<2x9x40xf32>)
          -> tensor<2x7x9xf32> {
        %0 = tensor.empty() : tensor<2x40x9xf32>
        %1 = "ttir.transpose"(%arg1, %0) <{dim0 = 2 : si32, dim1 = 1 : si32,
            operand_constraints = [#any_device_tile, #any_device_tile]}>
            : (tensor<2x9x40xf32>, tensor<2x40x9xf32>) -> tensor<2x40x9xf32>
        %2 = tensor.empty() : tensor<2x7x9xf32>
        %3 = "ttir.matmul"(%arg0, %1, %2) <{operand_constraints = [#any_device_tile,
            #any_device_tile, #any_device_tile]}>
            : (tensor<2x7x40xf32>, tensor<2x40x9xf32>, tensor<2x7x9xf32>) -> tensor<2x7x9xf32>
        return %3 : tensor<2x7x9xf32>
      }
    }

Requires: nothing.
Ensures: no operation of `RULES` is left, and convolutions and poolings of tensors without elements
are constants; all others stay as they are.
Options: none.
Not done here: nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from xdsl.dialects.tensor import EmptyOp

from ttmlir.dialects.ttir import WindowOp
from ttmlir.ir.rewriting import erase_unused
from ttmlir.ir.tensor_types import is_plain_and_static, value_shape
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from ttmlir.dialects.definition.ods import DestinationStyleOp
    from ttmlir.passes.core.ttir_conversion import ConversionRule


@dataclass(frozen=True)
class TTIRDecompositionPass(ModulePass):
    """Decompose general ttir operations into operations that ttnn has."""

    name = "ttir-decomposition"
    title = "TTIRDecomposition"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Apply the rules to every operation inside the module."""
        from ttmlir.passes.core.value_form import is_value_form

        if is_value_form(module):
            from ttmlir.passes.ttir.decomposition.ttir_value_decomposition import decompose_values

            decompose_values(module)
            return
        decompose(module, _RULES)


def decompose(module: ModuleOp, names: Collection[str]) -> None:
    """Decompose the operations of these names inside a module, which `RULES` have."""
    # A rule may build operations that have to be decomposed, too.
    while found := [op for op in module.walk() if op.name in names or _has_empty_tensor(op)]:
        for op in found:
            _take_apart(op, _rule(_EMPTY if _has_empty_tensor(op) else op.name))


def _has_empty_tensor(op: Operation) -> bool:
    """True for operations on windows with an operand or a result without elements."""
    if not isinstance(op, WindowOp):
        return False
    values = (*op.operands, *op.results)
    return all(map(is_plain_and_static, values)) and any(0 in value_shape(each) for each in values)


def _take_apart(op: Operation, rule: ConversionRule) -> None:
    destinations = [value.owner for value in cast("DestinationStyleOp", op).inits]
    rule(op)
    erase_unused(owner for owner in destinations if isinstance(owner, EmptyOp))


def _rule(name: str) -> ConversionRule:
    rules: dict[str, ConversionRule] = import_module(_RULES[name]).RULES
    return rules[name]


_EMPTY = "empty"
_RULES = {
    _EMPTY: "ttmlir.passes.ttir.decomposition.ttir_decomposition_window",
    "ttir.convolution": "ttmlir.passes.ttir.decomposition.ttir_decomposition_window",
    "ttir.dot_general": "ttmlir.passes.ttir.decomposition.ttir_decomposition_contraction",
    "ttir.pooling": "ttmlir.passes.ttir.decomposition.ttir_decomposition_window",
}
"""Where `RULES` has what becomes of an operation; imported when a module has such operations."""
