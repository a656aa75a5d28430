"""Let each location be one name or one line, as comments of generated code show them.

Before:

    func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      return %a : tensor<5x7xf32> loc(fused["model.fc1"("model.py":3:5), "model.py":3:5])
    }

After:

    module {
      func.func @main(%arg0: tensor<5x7xf32>) -> tensor<5x7xf32> {
        return %arg0 : tensor<5x7xf32>
      }
    }

Requires: nothing.
Ensures: the location of an operation is the outermost name of what it was, else its first line of a
file, else unknown.
Options: none.
Not done here: the locations of arguments stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import UNKNOWN_LOC

from ttmlir.mlir.reporting import file_line_col, file_location, name_location, name_of
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import LocationAttr, ModuleOp


@dataclass(frozen=True)
class TTNNSimplifyLocsForCodegenPass(ModulePass):
    """Let each location be one name or one line."""

    name = "ttnn-simplify-locs-for-codegen"
    title = "TTNNSimplifyLocsForCodegen"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Simplify the locations of all operations."""
        for op in module.walk():
            op.location = _simplified(op.location)


def _simplified(location: LocationAttr) -> LocationAttr:
    name, place = name_of(location), file_line_col(location)
    if name is not None:
        return name_location(name)
    return UNKNOWN_LOC if place is None else file_location(*place)
