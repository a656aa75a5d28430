"""Let each device have the whole of what cannot be cut into parts that are alike.

Before:

    sdy.mesh @mesh = <["x"=1, "y"=2]>
    func.func @main() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
      %0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}]>]>}
          dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      %1 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}]>]>}
          dense<[1.0, 2.0, 1.0, 2.0]> : tensor<4xf32>
      %2 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}]>]>}
          : tensor<4xf32>
      return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }

After:

    ...
        %cst = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} ...
        %cst_0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}]>]>}
            ...
        %0 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} ...

Requires: shardings of operations.
Ensures: constants whose parts differ, iotas along a dimension that is spread, and slices that take
a part of such a dimension have a closed sharding over no axes.
Options: none.
Not done here: moving the results to where users want them (`insert-explicit-reshards`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ttmlir.dialects import sdy
from ttmlir.dialects.sdy import meshes_in
from ttmlir.dialects.stablehlo.form import integer
from ttmlir.ir.tensor_types import value_shape
from ttmlir.mlir.attributes import raw_bytes, splat_bytes
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.spreading.shardings import (
    SHARDING,
    Dimension,
    Sharding,
    per_value,
    sharding_of,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
    from xdsl.ir import Operation


@dataclass(frozen=True)
class ReplicateNonSplittableValuesPass(ModulePass):
    """Let each device have the whole of what cannot be cut."""

    name = "replicate-non-splittable-values"
    title = "ReplicateNonSplittableValuesPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Change the shardings of constants, iotas and slices."""
        meshes = meshes_in(module)
        for op in module.walk():
            if not isinstance(op.attributes.get(SHARDING), sdy.TensorShardingPerValueAttr):
                continue
            sharding = sharding_of(op.results[0])
            if sharding is None:
                continue
            parts = sharding.parts(meshes.get(sharding.mesh, {}))
            if any(count > 1 for count in parts) and _is_whole(op, parts):
                whole = Sharding(sharding.mesh, (Dimension(),) * len(parts))
                op.attributes[SHARDING] = per_value((whole,))


def _is_whole(op: Operation, parts: tuple[int, ...]) -> bool:
    """True for what each device must have as a whole."""
    if op.name == "stablehlo.constant":
        return not _is_periodic(op, parts)
    if op.name == "stablehlo.iota":
        return parts[integer(op, "iota_dimension")] > 1
    if op.name == "stablehlo.slice":
        given, made = value_shape(op.operands[0]), value_shape(op.results[0])
        return any(
            count > 1 and old != new for count, old, new in zip(parts, given, made, strict=True)
        )
    return False


def _is_periodic(op: Operation, parts: tuple[int, ...]) -> bool:
    """True for a constant whose parts are equal."""
    import numpy as np

    elements = cast("DenseIntOrFPElementsAttr", op.properties["value"])
    shape = value_shape(op.results[0])
    if splat_bytes(elements) is not None:
        return all(extent % count == 0 for extent, count in zip(shape, parts, strict=True))
    raw = bytes(raw_bytes(elements))
    array = np.frombuffer(raw, np.uint8).reshape((*shape, len(raw) // math.prod(shape)))
    for axis, count in enumerate(parts):
        if array.shape[axis] % count:
            return False
        cuts = np.split(array, count, axis)
        if any(not np.array_equal(cuts[0], cut) for cut in cuts[1:]):
            return False
    return True
