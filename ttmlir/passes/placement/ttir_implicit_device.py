"""Add a device to the module: the chips of the machine as one grid of cores.

Before:

    // After ttir-load-system-desc
    func.func @nothing() {
      return
    }

After:

    #device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = ...,
        dramMap = ..., meshShape = , chipIds = [0]>
    ...
    module attributes {tt.device = #device, tt.system_desc = #system_desc} {
      func.func @nothing() {
        return
      }
    }

Requires: `tt.system_desc` on the module (`ttir-load-system-desc`).
Ensures: the module has the attribute `tt.device`; one that is there stays.
Options: `mesh-shape`, the extents of a mesh of chips such as `1,2`; without it the device is one
chip. Chips are taken in the order of the machine's description.
Not done here: devices other than of the first chips; write the attribute for these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ttmlir.dialects import tt
from ttmlir.dialects.definition.ods import DEVICE_NAME
from ttmlir.ir.rewriting import refuse
from ttmlir.ir.tensor_types import require_system_desc
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context


@dataclass(frozen=True)
class TTIRImplicitDevicePass(ModulePass):
    """Add a device to the module: the chips of the machine as one grid of cores."""

    name = "ttir-implicit-device"
    title = "TTIRImplicitDevice"
    mesh_shape: tuple[int, ...] = option((), "Extents of the mesh of chips")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Set the attribute `tt.device` if it is missing."""
        if DEVICE_NAME in module.attributes:
            return
        system = require_system_desc(module, self.name)
        try:
            device = tt.DeviceAttr.from_system_desc(system, self.mesh_shape)
        except LayoutError as error:
            refuse(module, f"ttir-implicit-device cannot make the device: {error}")
        module.attributes[DEVICE_NAME] = device
