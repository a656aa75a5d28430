"""Say what machine a module of 2026 is compiled for, and name its device.

Before:

    module {
      ttcore.device_module {
        builtin.module {
          func.func @nothing() {
            return
          }
        }
      }
    }

After:

    #system_desc = #ttcore.system_desc<[{role = host, target_triple = "x86_64-pc-linux"}], ...>
    module {
      ttcore.device_module {
        builtin.module attributes {ttcore.system_desc = #system_desc} {
          ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, ...>, ...>
          func.func @nothing() {
            return
          }
        }
      }
    }

Requires: nothing.
Ensures: each module for a device, or the module itself if there is none, has the attribute
`ttcore.system_desc` and a `ttcore.device`; those that are there stay.
Options: `system-desc-path`, a file with the description of a machine (`.ttsys`) or the name of a
board such as p150; `SYSTEM_DESC_PATH` is it where none is given. Without it
`mock-system-desc-arch`, wormhole_b0 or blackhole, says which cards are assumed: as many as the mesh
has chips. `mesh-shape` is the mesh of chips, such as `1,2`: that of the module's first
`ttcore.meshes`, which is taken without the option, or one chip. `mesh-topology` says how the chips
of each axis are linked.
Not done here: devices other than of the first chips.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ttmlir import limits
from ttmlir.dialects import tt
from ttmlir.dialects.definition.ods import SYSTEM_DESC
from ttmlir.dialects.ttcore import DeviceModuleOp, DeviceOp, MeshesAttr
from ttmlir.ir.rewriting import refuse, refuse_at
from ttmlir.layout.enums import Arch, Topology
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.late_machine import describe_late, late_board, late_device, mock_system
from ttmlir.layout.system import BOARD_NAMES
from ttmlir.mlir.core_prefix import use_late_spelling
from ttmlir.mlir.option_values import keyword_of, list_of, option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.placement.ttir_load_system_desc import read_system_desc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context

    from ttmlir.layout.system import SystemDesc


@dataclass(frozen=True)
class TTCoreRegisterDevicePass(ModulePass):
    """Say what machine a module of 2026 is compiled for, and name its device."""

    name = "ttcore-register-device"
    title = "TTCoreRegisterDevicePass"
    system_desc_path: str = option(
        "",
        "Description (.ttsys file) or board of the machine",
        environment="SYSTEM_DESC_PATH",
    )
    mesh_shape: tuple[int, ...] = option((), "Extents of the mesh of chips")
    mock_system_desc_arch: Arch = option(
        Arch.WORMHOLE_B0,
        "Generation of the chip that is assumed without a file: wormhole_b0 or blackhole",
    )
    mesh_topology: tuple[Topology, ...] = option(
        (),
        "How the chips of each axis of the mesh are linked",
        type=list_of(keyword_of(Topology)),
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Set the attribute and add the operation."""
        use_late_spelling(module)
        for each in device_modules(module):
            mesh = self._mesh_of(each)
            system = self._describe(each, mesh)
            each.attributes[SYSTEM_DESC] = tt.SystemDescAttr(system)
            if any(isinstance(op, DeviceOp) for op in each.body.block.ops):
                continue
            try:
                device = replace(late_device(system, mesh), topology=self.mesh_topology)
            except LayoutError as error:
                refuse(each, f"ttcore-register-device cannot make the device: {error}")
            named = DeviceOp.of(tt.DeviceAttr(device))
            named.location = module.location
            first = each.body.block.first_op
            if first is None:
                each.body.block.add_op(named)
            else:
                each.body.block.insert_op_before(named, first)

    def _mesh_of(self, module: ModuleOp) -> Sequence[int]:
        """The mesh that is asked for, or else that of the module; refused if they are two."""
        own = _mesh_of(module)
        if self.mesh_shape and own and tuple(self.mesh_shape) != tuple(own):
            asked, said = ("x".join(map(str, each)) for each in (self.mesh_shape, own))
            refuse_at(
                module,
                f"mesh-shape is {asked}, and the module is for a mesh of {said} chips; leave the "
                "option out",
            )
        return self.mesh_shape or own or (1, 1)

    def _describe(self, module: ModuleOp, mesh: Sequence[int]) -> SystemDesc:
        known = module.attributes.get(SYSTEM_DESC)
        if self.system_desc_path in BOARD_NAMES:
            return late_board(self.system_desc_path)
        if self.system_desc_path:
            return describe_late(read_system_desc(self.system_desc_path, module))
        if isinstance(known, tt.SystemDescAttr):
            return known.data
        chips = math.prod(mesh)
        if not 0 < chips <= limits.MAX_CHIPS:
            refuse_at(
                module,
                f"a mesh has 1 to {limits.MAX_CHIPS} chips, got {'x'.join(map(str, mesh))}",
            )
        try:
            return mock_system(self.mock_system_desc_arch, chips)
        except LayoutError as error:
            refuse_at(module, str(error))


def device_modules(module: ModuleOp) -> list[ModuleOp]:
    """The modules for devices in a module; the module itself if there are none."""
    return [op.module for op in module.body.block.ops if isinstance(op, DeviceModuleOp)] or [module]


def _mesh_of(module: ModuleOp) -> tuple[int, ...]:
    meshes = module.attributes.get("ttcore.meshes")
    return meshes.data[0][1] if isinstance(meshes, MeshesAttr) and meshes.data else ()
