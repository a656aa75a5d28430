"""Put the body of a program into a region that works on the parts of one device.

Before:

    sdy.mesh @mesh = <["x"=1, "y"=2]>
    func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
        -> tensor<64x32xf32> {
      %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}, {?}]>]>}
          : tensor<64x32xf32>
      return %0 : tensor<64x32xf32>
    }

After:

    module {
      sdy.mesh @mesh = <["x"=1, "y"=2]>
      func.func @main(%arg0: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
          -> tensor<64x32xf32> {
        %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"y"}, {}]>]
            out_shardings=[<@mesh, [{"y", ?}, {?}]>] manual_axes={} (%arg1: tensor<64x32xf32>) {
          %1 = stablehlo.negate %arg1 {sdy.sharding = ...} : tensor<64x32xf32>
          sdy.return %1 : tensor<64x32xf32>
        } : (tensor<64x32xf32>) -> tensor<64x32xf32>
        return %0 : tensor<64x32xf32>
      }
    }

Requires: one mesh (`analyze-mesh`).
Ensures: the body of each public function is one `sdy.manual_computation`; arguments have shardings,
open ones where nothing was said. A module of such regions over all axes stays as it is.
Options: none.
Not done here: types are those of the whole (`update-global-to-local-shapes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from ttmlir.dialects import sdy
from ttmlir.dialects.sdy import meshes_in
from ttmlir.ir.rewriting import refuse_at, symbol_visibility
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.spreading.flow import is_solved
from ttmlir.passes.shardy.spreading.shardings import (
    per_value,
    set_argument,
    sharding_or_open,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class WrapUnderManualComputationPass(ModulePass):
    """Put the body of a program into a region for one device."""

    name = "wrap-under-manual-computation"
    title = "WrapUnderManualComputationPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Wrap every public function."""
        is_said = any(isinstance(op, sdy.ManualComputationOp) for op in module.walk())
        if is_said and is_solved(module):
            return
        names = [*meshes_in(module)]
        if len(names) != 1:
            refuse_at(module, f"Pass expects a single mesh op, got {len(names)}; run analyze-mesh")
        for op in module.body.block.ops:
            if isinstance(op, FuncOp) and op.body.blocks and symbol_visibility(op) != "private":
                _wrap(op, names[0])


def _wrap(function: FuncOp, mesh: str) -> None:
    block = function.body.block
    end = block.last_op
    if not isinstance(end, ReturnOp):
        return
    given = tuple(sharding_or_open(value, mesh) for value in block.args)
    made = tuple(sharding_or_open(value, mesh) for value in end.operands)
    for index, sharding in enumerate(given):
        set_argument(function, index, sdy__sharding=sdy.TensorShardingAttr(str(sharding)))
    inner = Block(arg_types=[value.type for value in block.args])
    for argument, value in zip(inner.args, block.args, strict=True):
        argument.location = value.location
        value.replace_all_uses_with(argument)
    for op in [op for op in block.ops if op is not end]:
        op.detach()
        inner.add_op(op)
    inner.add_op(sdy.ReturnOp.create(operands=[*end.operands], location=end.location))
    whole = sdy.ManualComputationOp.create(
        operands=[*block.args],
        result_types=[value.type for value in end.operands],
        properties={
            "in_shardings": per_value(given),
            "out_shardings": per_value(made),
            "manual_axes": sdy.ManualAxesAttr("{}"),
        },
        regions=[Region(inner)],
        location=function.location,
    )
    block.insert_op_before(whole, end)
    end.operands = whole.results
    end.location = UNKNOWN_LOC
