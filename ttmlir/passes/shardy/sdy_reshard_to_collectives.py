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
Ensures: there is no `sdy.reshard`: axes that are free are sliced, those that go from dimension to
dimension are exchanged, others gathered, and sliced again; what changes nothing vanishes.
Options: none.
Not done here: axes that change places with others are gathered (`sdy.collective_permute`).
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
    from collections.abc import Sequence

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
    move = _Move(op, value, target, [each.axes for each in given.dimensions])
    wanted = [each.axes for each in target.dimensions]
    move.slice_free(wanted)
    move.exchange(wanted)
    kept = [_common(old, new) for old, new in zip(move.axes, wanted, strict=True)]
    lost = [old[len(axes) :] for old, axes in zip(move.axes, kept, strict=True)]
    move.take(sdy.AllGatherOp, "gathering_axes", _listed(lost), lost, kept)
    new = [each[len(axes) :] for each, axes in zip(wanted, kept, strict=True)]
    move.take(sdy.AllSliceOp, "slicing_axes", _listed(new), new, wanted)
    return move.value


_Axes = list[tuple[str, ...]]


@dataclass
class _Move:
    """A tensor on its way from one sharding to another."""

    op: Operation
    value: SSAValue
    target: Sharding
    axes: _Axes
    """Those of each dimension by now."""

    def take(
        self,
        cls: type[Operation],
        name: str,
        parameters: str,
        changed: Sequence[tuple[str, ...]],
        axes: _Axes,
    ) -> None:
        """Put a move there, after which the tensor has other axes; nothing if none changed."""
        if not any(changed):
            return
        sharding = replace(self.target, dimensions=tuple(map(Dimension, axes)))
        new = cls.create(
            operands=[self.value],
            result_types=[self.value.type],
            properties={
                name: sdy.AxesAttr(parameters),
                "out_sharding": sdy.TensorShardingAttr(str(sharding)),
            },
            location=self.op.location,
        )
        insert_before(self.op, new)
        self.value, self.axes = new.results[0], axes

    def slice_free(self, wanted: _Axes) -> None:
        """Keep less first: axes that the tensor has nowhere are sliced where they come next."""
        used = {axis for axes in self.axes for axis in axes}
        taken: _Axes = []
        for old, new in zip(self.axes, wanted, strict=True):
            rest = new[len(old) :] if _common(old, new) == old else ()
            count = next((n for n, axis in enumerate(rest) if axis in used), len(rest))
            taken.append(rest[:count])
        after = [old + new for old, new in zip(self.axes, taken, strict=True)]
        self.take(sdy.AllSliceOp, "slicing_axes", _listed(taken), taken, after)

    def exchange(self, wanted: _Axes) -> None:
        """Axes at the end of a dimension go to the end of another one that wants them next."""
        for source, (old, new) in enumerate(zip(tuple(self.axes), wanted, strict=True)):
            lost = old[len(_common(old, new)) :]
            for target, other in enumerate(wanted):
                own = self.axes[target]
                is_next = other[: len(own)] == own and other[len(own) :][: len(lost)] == lost
                if not lost or source == target or not is_next:
                    continue
                after = [*self.axes]
                after[source], after[target] = old[: len(old) - len(lost)], own + lost
                said = f"[{Dimension(lost)}: {source}->{target}]"
                self.take(sdy.AllToAllOp, "params", said, [lost], after)
                break


def _listed(axes: _Axes) -> str:
    return f"[{', '.join(str(Dimension(each)) for each in axes)}]"


def _common(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return old[:count]
