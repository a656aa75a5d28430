"""Passes that spread tensors over several devices, for programs of one.

On one device nothing spreads, and nothing moves: a program stays as it is. A program that has
shardings over several devices and does not say itself what each device computes, by a
`sdy.manual_computation` over all axes, is refused.

Before:

    sdy.mesh @mesh = <["x"=1, "y"=1]>
    func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
        -> tensor<64x32xf32> {
      return %a : tensor<64x32xf32>
    }

After:

    module {
      sdy.mesh @mesh = <["x"=1, "y"=1]>
      func.func @main(%arg0: tensor<64x32xf32>
          {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<64x32xf32> {
        return %arg0 : tensor<64x32xf32>
      }
    }

Requires: meshes of one device, or regions that are manual.
Ensures: the program is as before.
Options: those of `auto-sharding` choose among ways to spread.
Not done here: spreading.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ttmlir.dialects import sdy
from ttmlir.dialects.sdy import count_devices
from ttmlir.ir.rewriting import refuse_at
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class _OneDevicePass(ModulePass):
    """What there is nothing to do for on one device."""

    is_known_to_stay: ClassVar[bool] = False
    """True where what there would be to divide stays whole."""

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Refuse programs that would have to be divided."""
        if self.is_known_to_stay:
            return
        count = count_devices(module)
        if count == 1 or any(isinstance(op, sdy.ManualComputationOp) for op in module.walk()):
            return
        mesh = next(op for op in module.body.block.ops if isinstance(op, sdy.MeshOp))
        refuse_at(
            mesh,
            f"{self.name} divides no program over {count} devices; say what each computes by "
            "sdy.manual_computation, or use a mesh of one device",
        )


@dataclass(frozen=True)
class SdyInsertExplicitReshardsPass(_OneDevicePass):
    """Move tensors between devices to where operations take them."""

    name = "sdy-insert-explicit-reshards"
    title = "InsertExplicitReshardsPass"
    enable_full_version: bool = option(False, "Consider all operations")


@dataclass(frozen=True)
class InsertReshardsForUnpropagatedOpsPass(_OneDevicePass):
    """Let operations that nothing spreads over have whole tensors."""

    name = "insert-reshards-for-unpropagated-ops"
    title = "InsertReshardsForUnpropagatedOpsPass"
    is_known_to_stay = True


@dataclass(frozen=True)
class FlattenOrConvertCompositesPass(_OneDevicePass):
    """Let shardings spread into composites."""

    name = "flatten-or-convert-composites"
    title = "FlattenOrConvertCompositesPass"
    is_known_to_stay = True


@dataclass(frozen=True)
class RegisterCustomShardingRulePass(_OneDevicePass):
    """Say how shardings spread over operations of this project's own."""

    name = "register-custom-sharding-rule"
    title = "RegisterCustomShardingRulePass"
    is_known_to_stay = True


@dataclass(frozen=True)
class ReoutlineCompositePass(_OneDevicePass):
    """Make composites again of what shardings spread into."""

    name = "reoutline-composite"
    title = "ReoutlineCompositePass"


@dataclass(frozen=True)
class FuseDistributedCustomCallsPass(_OneDevicePass):
    """Let norms of parts be computed with the other devices in one operation."""

    name = "fuse-distributed-custom-calls"
    title = "FuseDistributedCustomCallsPass"


@dataclass(frozen=True)
class AutoShardingPass(_OneDevicePass):
    """Search for shardings of arguments."""

    name = "auto-sharding"
    title = "AutoShardingPass"
    mesh_shape: tuple[int, ...] = option((), "Extents of the mesh")
    dump_variants: bool = option(False, "Write each choice to a file")
    dump_dir: str = option("/tmp/", "Directory of those files")
