"""Put what a module holds into a module for the device.

Before:

    module @model {
      func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
        return %a : tensor<5x7xf32>
      }
    }

After:

    module @model {
      ttcore.device_module {
        builtin.module @model {
          func.func @main(%arg0: tensor<5x7xf32>) -> tensor<5x7xf32> {
            return %arg0 : tensor<5x7xf32>
          }
        }
      }
    }

Requires: nothing.
Ensures: the module holds one `ttcore.device_module`, whose module has its name and attributes.
Options: none.
Not done here: a module that holds one already is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Region

from ttmlir.dialects.ttcore import DeviceModuleOp
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context


@dataclass(frozen=True)
class TTCoreWrapDeviceModulePass(ModulePass):
    """Put what a module holds into a module for the device."""

    name = "ttcore-wrap-device-module"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Move everything into a new module."""
        if isinstance(module.body.block.first_op, DeviceModuleOp):
            return
        body = module.detach_region(module.body)
        module.add_region(Region(body.blocks[0].__class__()))
        inner = ModuleOp.create(
            regions=[body],
            properties=dict(module.properties),
            attributes=dict(module.attributes),
            location=module.location,
        )
        holder = DeviceModuleOp.of(inner)
        holder.location = module.location
        module.body.block.add_op(holder)


def module_of_device(module: ModuleOp) -> ModuleOp:
    """What the pass made for the device, or the module itself where it did not run."""
    first = module.body.block.first_op
    return first.module if isinstance(first, DeviceModuleOp) else module
