"""Write operations that apply functions of the program as loops, sorts and operations on tensors.

A scatter that computes more than sums, products or extremes of old and new elements reads the old
ones, applies its function and writes the results: all at once if no two updates meet, else one
update after the other. `chlo.scan` is a loop, and the call `ApproxTopK` a sort.

Before:

    func.func @updated(%x: tensor<33x70xf32>, %rows: tensor<2x1xi32>, %new: tensor<2x70xf32>)
        -> tensor<33x70xf32> {
      %0 = "stablehlo.scatter"(%x, %rows, %new) <{
          scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
              inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
              index_vector_dim = 1>, unique_indices = true}> ({
      ^bb0(%old: tensor<f32>, %update: tensor<f32>):
        %1 = stablehlo.divide %old, %update : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }) : (tensor<33x70xf32>, tensor<2x1xi32>, tensor<2x70xf32>) -> tensor<33x70xf32>
      return %0 : tensor<33x70xf32>
    }

After:

    ...
        %0 = "stablehlo.gather"(%arg0, %arg1) <...
        %1 = "stablehlo.map"(%0, %arg2) ...
          %3 = stablehlo.divide %arg3, %arg4 : tensor<f32>
        ...
        %2 = "stablehlo.scatter"(%arg0, %arg1, %1) ...
        ...
          stablehlo.return %arg4 : tensor<f32>
    ...

Requires: calls inlined (`inline`), shapes refined (`stablehlo-refine-shapes`).
Ensures: each scatter has one input, and its function is the new element or the sum, product,
maximum or minimum of the old and the new one; no `chlo.scan` is left.
Options: none.
Not done here: -
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from collections.abc import Callable

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

SCAN = "chlo.scan"
_SCATTER = "stablehlo.scatter"
_CALL = "stablehlo.custom_call"


@dataclass(frozen=True)
class StableHLOExpandFunctionsPass(ModulePass):
    """Write operations that apply functions of the program as loops, sorts and so on."""

    name = "stablehlo-expand-functions"
    title = "StableHLOExpandFunctions"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Expand all such operations, those in the bodies of others first."""
        found = [op for op in module.walk() if op.name in (SCAN, _SCATTER, _CALL)]
        for op in reversed(found):
            rule = _rule_of(op)
            if rule is not None:
                rule(op)


def _rule_of(op: Operation) -> Callable[[Operation], None] | None:
    if op.name == SCAN:
        from ttmlir.passes.stablehlo.functions.scanning import expand_scan

        return expand_scan
    if op.name == _SCATTER:
        from ttmlir.passes.stablehlo.functions.scattering import expand_scatter, is_expanded

        return expand_scatter if is_expanded(op) else None
    from ttmlir.passes.stablehlo.functions.approximate import expand_top_k, is_top_k

    return expand_top_k if is_top_k(op) else None
