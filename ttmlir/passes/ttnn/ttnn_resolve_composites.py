"""Put the decomposition of a composite in its place.

Before:

    func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      %0 = "ttcore.composite"(%a) <{composite_attributes = {}, composite_name = "twice",
          decomposition = @twice}> : (tensor<5x7xf32>) -> tensor<5x7xf32>
      return %0 : tensor<5x7xf32>
    }
    func.func private @twice(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      return %a : tensor<5x7xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<5x7xf32>) -> tensor<5x7xf32> {
        return %arg0 : tensor<5x7xf32>
      }
    }

Requires: nothing.
Ensures: there is no `ttcore.composite`; functions that only they called are gone.
Options: none.
Not done here: the library has no operations for composites that reach it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.func import FuncOp, ReturnOp

from ttmlir.dialects.ttcore import CompositeOp
from ttmlir.ir.rewriting import insert_before, references_of, refuse, replace, symbols_in
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, SSAValue


@dataclass(frozen=True)
class TTNNResolveCompositesPass(ModulePass):
    """Put the decomposition of a composite in its place."""

    name = "ttnn-resolve-composites"
    title = "TTNNResolveComposites"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Inline the decompositions, then take them away."""
        for op in tuple(module.walk()):
            if isinstance(op, CompositeOp):
                _resolve(op)


def _resolve(op: CompositeOp) -> None:
    function = op.parent_op()
    table = None if function is None else function.parent_op()
    name = next((path[0] for path in references_of(op)), "")
    callee = None if table is None else symbols_in(table).get(name)
    if not isinstance(callee, FuncOp) or not callee.body.blocks:
        refuse(op, f"has no function '{name}' that says what it computes")
    body = callee.body.blocks[0]
    mapping: dict[SSAValue, SSAValue] = dict(zip(body.args, op.operands, strict=True))
    for inner in body.ops:
        if isinstance(inner, ReturnOp):
            replace(op, *(mapping[value] for value in inner.operands))
            break
        copy = inner.clone(mapping)
        copy.location = inner.location
        insert_before(op, copy)
    if not any((name,) in set(references_of(each)) for each in cast("Operation", table).walk()):
        callee.detach()
        callee.drop_all_references()
