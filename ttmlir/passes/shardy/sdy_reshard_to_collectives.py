"""Say which moves between devices a change of the sharding takes.

Before:

    sdy.mesh @mesh = <["x"=1, "y"=2]>
    func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
        -> tensor<64x32xf32> {
      %0 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<64x32xf32>
      %1 = sdy.reshard %0 <@mesh, [{}, {"y"}]> : tensor<64x32xf32>
      return %1 : tensor<64x32xf32>
    }

After:

    ...
        %0 = sdy.all_gather [{"y"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
        %1 = sdy.all_slice [{}, {"y"}] %0 out_sharding=<@mesh, [{}, {"y"}]> : tensor<64x32xf32>
        return %1 : tensor<64x32xf32>
      }
    }

Requires: nothing.
Ensures: there is no `sdy.reshard`: axes that a dimension loses are gathered, those that it gets are
sliced; what changes nothing vanishes.
Options: none.
Not done here: axes that change their dimension are gathered, and sliced again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from ttmlir.dialects import sdy
from ttmlir.ir.rewriting import insert_before
from ttmlir.ir.rewriting import replace as replace_op
from ttmlir.ir.tensor_types import value_shape
from ttmlir.passes.core.base import FunctionPass
from ttmlir.passes.shardy.shardings import Dimension, Sharding, sharding_of

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Operation, SSAValue


@dataclass(frozen=True)
class SdyReshardToCollectivesPass(FunctionPass):
    """Say which moves between devices a change of the sharding takes."""

    name = "sdy-reshard-to-collectives"
    title = "ReshardToCollectivesPass"

    def apply(self, ctx: Context, function: FuncOp) -> None:
        """Replace every change."""
        for op in [op for op in function.walk() if op.name == sdy.ReshardOp.name]:
            replace_op(op, _moved(op))


def _moved(op: Operation) -> SSAValue:
    value = op.operands[0]
    text = cast("sdy.TensorShardingAttr", op.properties["sharding"]).data
    target = Sharding.parse(text, op).closed()
    given = sharding_of(value) or Sharding.open(target.mesh, len(value_shape(value)))
    pairs = list(zip(given.dimensions, target.dimensions, strict=True))
    kept = [_common(old.axes, new.axes) for old, new in pairs]
    lost = [old.axes[len(axes) :] for (old, _), axes in zip(pairs, kept, strict=True)]
    new = [new.axes[len(axes) :] for (_, new), axes in zip(pairs, kept, strict=True)]
    if any(lost):
        between = replace(target, dimensions=tuple(map(Dimension, kept)))
        value = _collect(sdy.AllGatherOp, "gathering_axes", lost, between, value, op)
    if any(new):
        value = _collect(sdy.AllSliceOp, "slicing_axes", new, target, value, op)
    return value


def _common(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return old[:count]


def _collect(
    cls: type[Operation],
    name: str,
    axes: list[tuple[str, ...]],
    sharding: Sharding,
    value: SSAValue,
    op: Operation,
) -> SSAValue:
    new = cls.create(
        operands=[value],
        result_types=[value.type],
        properties={
            name: sdy.AxesAttr(f"[{', '.join(str(Dimension(each)) for each in axes)}]"),
            "out_sharding": sdy.TensorShardingAttr(str(sharding)),
        },
        location=op.location,
    )
    insert_before(op, new)
    return new.results[0]
