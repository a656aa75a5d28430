"""Replace composite operations by calls of their decompositions.

The composite `chlo.top_k`, as which JAX exports that operation, becomes the operation again.

Before:

    func.func private @difference(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>)
        -> tensor<33x70xf32> {
      %0 = stablehlo.subtract %a, %b : tensor<33x70xf32>
      return %0 : tensor<33x70xf32>
    }
    func.func @main(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = "stablehlo.composite"(%a, %b) <{name = "my.difference", decomposition = @difference}>
          : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %0 : tensor<33x70xf32>
    }

After:

    ...
      func.func @main(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
        %0 = call @difference(%arg0, %arg1)
            : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
        return %0 : tensor<33x70xf32>
      }
    }

Requires: nothing.
Ensures: no `stablehlo.composite` is left, but those that options leave.
Options: `except-prefix` leaves composites whose names begin with a text; `only` leaves all but
those of a name.
Not done here: regions of composites are left away, which say nothing that the function does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr, i64

from ttmlir.dialects.chlo import TopKOp
from ttmlir.ir.rewriting import insert_before, replace
from ttmlir.passes.core.base import ModulePass, option
from ttmlir.passes.general.symbol_dce import SymbolDCEPass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
    from xdsl.ir import Operation


@dataclass(frozen=True)
class StableHLOLegalizeCompositeToCallPass(ModulePass):
    """Replace composite operations by calls of their decompositions."""

    name = "stablehlo-legalize-composite-to-call"
    title = "StablehloLegalizeCompositeToCallPass"
    except_prefix: str = option("", "Leave composites whose names begin so")
    only: str = option("", "Replace composites of this name alone")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Replace every composite operation inside the module."""
        from xdsl.dialects.func import CallOp

        is_needless = False
        for op in [op for op in module.walk() if op.name == "stablehlo.composite"]:
            name = _name_of(op)
            is_left = self.except_prefix and name.startswith(self.except_prefix)
            if is_left or self.only not in ("", name):
                continue
            if name == "chlo.top_k" and (top_k := _top_k(op)) is not None:
                insert_before(op, top_k)
                replace(op, *top_k.results)
                is_needless = True
                continue
            callee = cast("SymbolRefAttr", op.properties["decomposition"])
            call = CallOp(callee, op.operands, [result.type for result in op.results])
            call.location = op.location
            insert_before(op, call)
            replace(op, *call.results)
        if is_needless:
            # What says in other words what the operation means.
            SymbolDCEPass().apply(ctx, module)


def _name_of(op: Operation) -> str:
    name = op.properties.get("name")
    return name.data if isinstance(name, StringAttr) else ""


def _top_k(op: Operation) -> Operation | None:
    """`chlo.top_k` for the composite of that name; None if it does not say how many."""
    attributes = op.properties.get("composite_attributes")
    count = attributes.data.get("k") if isinstance(attributes, DictionaryAttr) else None
    if not isinstance(count, IntegerAttr) or len(op.operands) != 1 or len(op.results) != 2:
        return None
    return TopKOp.create(
        operands=op.operands,
        result_types=[result.type for result in op.results],
        properties={"k": IntegerAttr(count.value.data, i64)},
        location=op.location,
    )
