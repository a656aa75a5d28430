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
dimension are exchanged, others gathered, and sliced again; where other moves, among them
`sdy.collective_permute`, bring a device fewer elements, these are made. What changes nothing
vanishes.
Options: `in-parts` also takes axes apart, where the machine's rows and columns stay what they are;
`sdy-split-sub-axes` names the parts.
Not done here: shardings that name parts of axes are moved as they come.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ModuleOp

from ttmlir.dialects import sdy
from ttmlir.dialects.sdy import Mesh, meshes_in
from ttmlir.ir.rewriting import insert_before
from ttmlir.ir.rewriting import replace as replace_op
from ttmlir.ir.tensor_types import value_shape
from ttmlir.passes.core.base import FunctionPass, option
from ttmlir.passes.shardy.spreading.reshard_plans import (
    Plan,
    cost_of_move,
    find_plan,
    find_plan_in_parts,
    prime_factors,
)
from ttmlir.passes.shardy.spreading.shardings import Dimension, Sharding, sharding_of
from ttmlir.passes.stablehlo.mesh_borders import join_axes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.context import Context
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Attribute, Operation, SSAValue


@dataclass(frozen=True)
class SdyReshardToCollectivesPass(FunctionPass):
    """Say which moves between devices a change of the sharding takes."""

    name = "sdy-reshard-to-collectives"
    title = "ReshardToCollectivesPass"
    in_parts: bool = option(False, "Move along parts of axes where that brings devices less")

    def apply(self, ctx: Context, function: FuncOp) -> None:
        """Replace every change."""
        module = function.get_toplevel_object()
        meshes = meshes_in(module) if isinstance(module, ModuleOp) else {}
        in_parts = self.in_parts and len(meshes) == 1
        in_parts = in_parts and all(map(_are_rows_and_columns, meshes.values()))
        for op in [op for op in function.walk() if op.name == sdy.ReshardOp.name]:
            replace_op(op, _moved(op, meshes, in_parts))


def _moved(op: Operation, meshes: Mapping[str, Mesh], in_parts: bool) -> SSAValue:
    value = op.operands[0]
    text = cast("sdy.TensorShardingAttr", op.properties["sharding"]).data
    target = Sharding.parse(text, op).closed()
    shape = value_shape(value)
    given = [each.axes for each in (sharding_of(value) or target.open("", len(shape))).dimensions]
    wanted = [each.axes for each in target.dimensions]
    moves = _Moves(target, given)
    moves.slice_free(wanted)
    moves.exchange(wanted)
    kept = [_common(old, new) for old, new in zip(moves.axes, wanted, strict=True)]
    lost = [old[len(axes) :] for old, axes in zip(moves.axes, kept, strict=True)]
    moves.take(sdy.AllGatherOp, "gathering_axes", _listed(lost), lost, kept)
    new = [each[len(axes) :] for each, axes in zip(wanted, kept, strict=True)]
    moves.take(sdy.AllSliceOp, "slicing_axes", _listed(new), new, wanted)
    extents = {f'"{name}"': extent for name, extent in meshes.get(target.mesh, {}).items()}
    cost = moves.cost(shape, given, extents)
    # Moves along parts are more, and have to bring fewer elements.
    finds = ((find_plan, 0.0), (find_plan_in_parts, 0.5))
    for find, least in finds if in_parts else finds[:1]:
        if cost <= least:
            break
        plan = find(shape, tuple(given), tuple(wanted), extents)
        if plan is not None and plan.cost < cost - least:
            moves, cost = _Moves(target, given), plan.cost
            moves.follow(plan)
    return moves.put(op, value)


def _are_rows_and_columns(mesh: Mesh) -> bool:
    """True for a mesh whose axes are rows and columns of a machine in parts, too."""
    parts = [prime_factors(extent) for extent in mesh.values()]
    return len(parts) == 2 and join_axes([*parts[0], *parts[1]]) == len(parts[0])


_Axes = list[tuple[str, ...]]


@dataclass(frozen=True)
class _Taken:
    """A move, its parameters, and the axes of each dimension behind it."""

    cls: type[Operation]
    parameters: dict[str, Attribute]
    axes: _Axes


@dataclass
class _Moves:
    """The way of a tensor from one sharding to another."""

    target: Sharding
    axes: _Axes
    """Those of each dimension by now."""
    taken: list[_Taken] = field(default_factory=list[_Taken])

    def take(
        self,
        cls: type[Operation],
        name: str,
        parameters: str,
        changed: Sequence[tuple[str, ...]],
        axes: _Axes,
    ) -> None:
        """Take a move, after which the tensor has other axes; none if none changed."""
        if any(changed):
            said: dict[str, Attribute] = {name: sdy.AxesAttr(parameters)} if name else {}
            self.taken.append(_Taken(cls, said, axes))
            self.axes = axes

    def cost(self, shape: Sequence[int], axes: _Axes, extents: Mapping[str, int]) -> float:
        """About how many elements a device receives."""
        cost, old = 0.0, tuple(axes)
        for each in self.taken:
            new = tuple(each.axes)
            is_exchange = each.cls is sdy.AllToAllOp
            cost += cost_of_move(shape, old, new, extents, is_exchange=is_exchange)
            old = new
        return cost

    def follow(self, plan: Plan) -> None:
        """Take the moves of a plan."""
        for step in plan.steps:
            axes, one = [*step.state], (step.axis,)
            each = [one if place == step.target else () for place in range(len(axes))]
            match step.kind:
                case "slice":
                    self.take(sdy.AllSliceOp, "slicing_axes", _listed(each), [one], axes)
                case "gather":
                    self.take(sdy.AllGatherOp, "gathering_axes", _listed(each), [one], axes)
                case "exchange":
                    said = f"[{Dimension(one)}: {step.source}->{step.target}]"
                    self.take(sdy.AllToAllOp, "params", said, [one], axes)
                case _:
                    self.take(sdy.CollectivePermuteOp, "", "", [one], axes)

    def put(self, op: Operation, value: SSAValue) -> SSAValue:
        """Put the moves of a tensor before an operation."""
        for each in self.taken:
            sharding = replace(self.target, dimensions=tuple(map(Dimension, each.axes)))
            said = {"out_sharding": sdy.TensorShardingAttr(str(sharding))}
            new = each.cls.create(
                operands=[value],
                result_types=[value.type],
                properties={**each.parameters, **said},
                location=op.location,
            )
            insert_before(op, new)
            value = new.results[0]
        return value

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
