"""Give meshes that stand in shardings a name.

Before:

    func.func @main(%a: tensor<64x32xf32>
        {sdy.sharding = #sdy.sharding<mesh<["x"=1, "y"=2]>, [{"y"}, {}]>}) -> tensor<64x32xf32> {
      return %a : tensor<64x32xf32>
    }

After:

    module {
      sdy.mesh @mesh = <["x"=1, "y"=2]>
      func.func @main(%arg0: tensor<64x32xf32>
          {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<64x32xf32> {
        ...

Requires: nothing.
Ensures: shardings name their meshes; equal meshes have one name, that which they had if they were
there.
Options: none.
Not done here: meshes that nothing is spread over stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import StringAttr

from ttmlir.dialects import sdy
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.spreading.shardings import Sharding, map_shardings

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_ONE_DEVICE = re.compile(r"<\[\], device_ids=\[(\d+)\]>")


@dataclass(frozen=True)
class SdyLiftInlinedMeshesPass(ModulePass):
    """Give meshes that stand in shardings a name."""

    name = "sdy-lift-inlined-meshes"
    title = "LiftInlinedMeshesPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Name every mesh."""
        known = {
            cast("sdy.MeshAttr", op.properties["mesh"]).data: cast(
                "StringAttr", op.properties["sym_name"]
            ).data
            for op in module.body.block.ops
            if isinstance(op, sdy.MeshOp)
        }
        made: dict[str, str] = {}

        def named(sharding: Sharding) -> Sharding:
            if sharding.mesh.startswith("@"):
                return sharding
            text = sharding.mesh.removeprefix("mesh")
            if text not in known:
                known[text] = made[text] = _name(text, {*known.values()})
            return replace(sharding, mesh=f"@{known[text]}")

        map_shardings(module, named)
        first = module.body.block.first_op
        for text, name in made.items():
            new = sdy.MeshOp.create(
                properties={"sym_name": StringAttr(name), "mesh": sdy.MeshAttr(text)},
                location=module.location,
            )
            assert first is not None, "shardings stand in operations"
            module.body.block.insert_op_before(new, first)


def _name(text: str, taken: set[str]) -> str:
    device = _ONE_DEVICE.fullmatch(text)
    stem = f"maximal_mesh_{device[1]}" if device else "mesh" if text != "<[]>" else "empty_mesh"
    name, number = stem, 0
    while name in taken:
        name, number = f"{stem}_{number}", number + 1
    return name
