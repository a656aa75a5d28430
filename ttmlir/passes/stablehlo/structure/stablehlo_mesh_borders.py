"""Let what the devices of a mesh compute stand in the function, between borders.

Before:

    sdy.mesh @mesh = <["x"=1, "y"=2]>
    func.func @main(%a: tensor<64x32xf32>) -> tensor<64x32xf32> {
      %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y"}, {}]>]
          out_shardings=[<@mesh, [{"y"}, {}]>] manual_axes={"x", "y"} (%b: tensor<32x32xf32>) {
        %1 = stablehlo.negate %b : tensor<32x32xf32>
        sdy.return %1 : tensor<32x32xf32>
      } : (tensor<64x32xf32>) -> tensor<64x32xf32>
      return %0 : tensor<64x32xf32>
    }

After:

    module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
      ...
        %0 = "ttir.mesh_shard"(%arg0) <{shard_dims = array<i64: -1, 0>,
            shard_direction = #ttcore.shard_direction<full_to_shard>,
            shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<devices>}>
            : (tensor<64x32xf32>) -> tensor<32x32xf32>
        %1 = stablehlo.negate %0 : tensor<32x32xf32>
        %2 = "ttir.mesh_shard"(%1) <{shard_dims = array<i64: -1, 0>,
            shard_direction = #ttcore.shard_direction<shard_to_full>,
            shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<devices>}>
            : (tensor<32x32xf32>) -> tensor<64x32xf32>
        return %2 : tensor<64x32xf32>
      }
    }

Requires: regions are manual over all axes of a mesh of two axes (`stablehlo-pipeline`).
Ensures: there are no regions for devices, and the module says its mesh. Passes that look at the
operations of functions alone see what devices compute.
Options: `whole-arguments` divides all arguments in the program, also those that are said to come
in parts (`ttcore.shard_status`).
Not done here: collectives are those of StableHLO (`convert-stablehlo-to-ttir`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.func import FuncOp

from ttmlir.dialects.ttcore import ShardStatusAttr
from ttmlir.ir.builder import Spelling, use_style
from ttmlir.layout.enums import ShardStatus
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.spreading.shardings import set_argument
from ttmlir.passes.stablehlo.mesh_borders import write_mesh_borders

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class StableHLOMeshBordersPass(ModulePass):
    """Let what the devices of a mesh compute stand between borders."""

    name = "stablehlo-mesh-borders"
    whole_arguments: bool = option(False, "Take each argument as one tensor")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Open the regions of all functions."""
        if self.whole_arguments:
            status = ShardStatusAttr(ShardStatus.UNSHARDED)
            for function in [op for op in module.ops if isinstance(op, FuncOp)]:
                for index in range(len(function.function_type.inputs)):
                    set_argument(function, index, ttcore__shard_status=status)
        with use_style(Spelling.LATE.style):
            write_mesh_borders(module)
