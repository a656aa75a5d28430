"""Drop axes of one device from shardings.

Before:

    sdy.mesh @mesh = <["x"=1, "y"=2, "z"=1]>
    func.func @main(%a: tensor<64x32xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z", ?}]>}) -> tensor<64x32xf32> {
      return %a : tensor<64x32xf32>
    }

After:

    ...
      func.func @main(%arg0: tensor<64x32xf32>
          {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {?}]>}) -> tensor<64x32xf32> {
        ...

Requires: nothing.
Ensures: no dimension is spread over an axis of one device, and no region is manual over one.
Options: none.
Not done here: meshes keep their axes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from ttmlir.dialects import sdy
from ttmlir.dialects.sdy import meshes_in
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.spreading.shardings import Sharding, map_shardings

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class SdyRemoveSizeOneAxesPass(ModulePass):
    """Drop axes of one device from shardings."""

    name = "sdy-remove-size-one-axes"
    title = "RemoveSizeOneAxesPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Change every sharding, and the axes of regions."""
        meshes = meshes_in(module)
        single = {
            name: {f'"{axis}"' for axis, extent in mesh.items() if extent == 1}
            for name, mesh in meshes.items()
        }

        def without(sharding: Sharding) -> Sharding:
            dropped = single.get(sharding.mesh, set[str]())
            dimensions = tuple(
                replace(each, axes=tuple(axis for axis in each.axes if axis not in dropped))
                for each in sharding.dimensions
            )
            return replace(sharding, dimensions=dimensions)

        map_shardings(module, without)
        dropped = set[str]().union(*single.values())
        for op in module.walk():
            if isinstance(op, sdy.ManualComputationOp):
                text = cast("sdy.ManualAxesAttr", op.properties["manual_axes"]).data[1:-1]
                kept = [axis for axis in map(str.strip, text.split(",")) if axis not in dropped]
                op.properties["manual_axes"] = sdy.ManualAxesAttr(f"{{{', '.join(kept)}}}")
