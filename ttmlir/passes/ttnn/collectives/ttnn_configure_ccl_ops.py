"""Say of collectives of ttnn how the devices that they move data between are linked.

Before:

    // After ttcore-register-device=mesh-topology=ring,disabled
    #dram = #ttnn.buffer_type<dram>
    #a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    #b = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<2x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
      func.func @main(%a: tensor<32x32xbf16, #a>) -> tensor<64x32xbf16, #b> {
        %0 = "ttnn.all_gather"(%a) <{all_gather_dim = 0 : si32, cluster_axis = 1 : ui32}>
            : (tensor<32x32xbf16, #a>) -> tensor<64x32xbf16, #b>
        return %0 : tensor<64x32xbf16, #b>
      }
    }

After:

    ...
        %0 = "ttnn.all_gather"(%arg0) <{all_gather_dim = 0 : si32, cluster_axis = 1 : ui32,
            topology = #ttcore.topology<ring>}>
            : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<64x32xbf16, #ttnn_layout1>
        ...

Requires: a `ttcore.device` (`ttcore-register-device`).
Ensures: collectives along an axis of the mesh have the topology that the device says of it, unless
they have one. The device names first how the devices of a row are linked, which is axis 1.
Options: none.
Not done here: the number of links, and devices that say of no axis how it is linked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType

from ttmlir.dialects.ttcore import TopologyAttr, device_of
from ttmlir.optable.late_forms import TTNN
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation


_LINKED = frozenset(
    f"ttnn.{mnemonic}"
    for mnemonic, form in TTNN.items()
    if {"cluster_axis", "topology"} <= {each.name for each in form.parameters or ()}
)
"""Operations of ttnn that say how devices along an axis are linked."""


@dataclass(frozen=True)
class TTNNConfigureCCLOpsPass(ModulePass):
    """Say of collectives of ttnn how the devices are linked."""

    name = "ttnn-configure-ccl-ops"
    title = "TTNNConfigureCCLOps"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Set the topology of every collective."""
        for op in module.walk():
            if op.name in _LINKED and "topology" not in op.properties:
                _configure(op)


def _configure(op: Operation) -> None:
    axis, device = op.properties.get("cluster_axis"), device_of(op)
    if device is None or not isinstance(axis, IntegerAttr):
        return
    number, topology = cast("IntegerAttr[IntegerType]", axis).value.data, device.data.topology
    if 0 <= number < len(topology):
        op.properties["topology"] = TopologyAttr(topology[-1 - number])
