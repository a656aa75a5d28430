"""Check that no two operations have the same location.

What is said of an operation by its location, such as a layout in the options of a pipeline, is said
of one operation then.

Before:

    #dram = #ttnn.buffer_type<dram>
    #l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>,
        <interleaved>>
    func.func @main(%a: tensor<5x7xf32, #l>) -> tensor<5x7xf32, #l> {
      %0 = "ttnn.exp"(%a) : (tensor<5x7xf32, #l>) -> tensor<5x7xf32, #l>
      return %0 : tensor<5x7xf32, #l>
    }

After:

    ...
        %0 = "ttnn.exp"(%arg0)
            : (tensor<5x7xf32, #ttnn_layout>) -> tensor<5x7xf32, #ttnn_layout>
        ...

Requires: nothing.
Ensures: the IR is as before; operations of ttnn that make tensors have locations of their own.
Options: none.
Not done here: what makes no tensor, such as `ttnn.get_device`, may have any location.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType

from ttmlir.mlir.reporting import OpError
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation


@dataclass(frozen=True)
class TTNNUniqueLocationsPass(ModulePass):
    """Check that no two operations have the same location."""

    name = "ttnn-unique-locations"
    title = "TTNNUniqueLocations"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Compare the locations of all operations of ttnn that make tensors."""
        seen: dict[Attribute, Operation] = {}
        for op in module.walk():
            makes_tensors = any(isinstance(result.type, TensorType) for result in op.results)
            if not op.name.startswith("ttnn.") or not makes_tensors:
                continue
            earlier = seen.setdefault(op.location, op)
            if earlier is not op:
                raise OpError(
                    op,
                    f"Operation '{op.name}' has a non-unique location: '{op.location}'. "
                    f"Previously seen in operation '{earlier.name}'",
                )
