"""Values that are one tensor, or parts of one, though they have several names.

Loops carry tensors, branches return one of several, barriers hand them on (`edges_of`); a region of
`sdy.manual_computation` has the parts of its operands along some axes (`borders_of`). What only
gives values further names, edges and named computations, is left out (`settle_names`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttmlir.dialects import sdy
from ttmlir.ir import rewriting
from ttmlir.ir.tensor_types import is_tensor
from ttmlir.passes.shardy.spreading.shardings import (
    SHARDING,
    Sharding,
    open_sharding,
    per_value,
    set_argument,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.builtin import LocationAttr, ModuleOp
    from xdsl.ir import Block

_BRANCHES = ("stablehlo.case", "stablehlo.if")
_AXIS = re.compile(r'"[^"]*"')


def edges_of(op: Operation) -> list[list[SSAValue]] | None:
    """For each result, the values that it is one tensor with; None for other operations.

    Operands are first, results last.
    """
    results: list[SSAValue] = [*op.results]
    if op.name == "stablehlo.optimization_barrier":
        return [[given, made] for given, made in zip(op.operands, results, strict=True)]
    ends = [_end(region.block) for region in op.regions if region.blocks]
    if op.name == "stablehlo.while":
        inside = [[*op.regions[0].block.args], [*op.regions[1].block.args], [*ends[1].operands]]
        return [[*each] for each in zip(op.operands, *inside, results, strict=True)]
    if op.name in _BRANCHES:
        return [[*each] for each in zip(*(end.operands for end in ends), results, strict=True)]
    return None


def _end(block: Block) -> Operation:
    return cast("Operation", block.last_op)


@dataclass(frozen=True)
class Border:
    """A tensor at the border of a region, and the part of it that is inside."""

    outer: SSAValue
    inner: SSAValue
    sharding: Sharding
    """What the region says of the tensor."""
    axes: frozenset[str]
    """The axes that the region tells apart."""

    def around(self, part: Sharding) -> Sharding:
        """The sharding of the tensor whose part lies in a way inside; on other meshes none does."""
        own = self.sharding
        if (own.mesh, len(own.dimensions)) != (part.mesh, len(part.dimensions)):
            return own
        dimensions = (
            replace(mine, axes=(*(axis for axis in yours.axes if axis in self.axes), *mine.axes))
            for mine, yours in zip(part.dimensions, own.dimensions, strict=True)
        )
        return replace(own, dimensions=tuple(dimensions))


def borders_of(op: sdy.ManualComputationOp) -> tuple[list[Border], list[Border]]:
    """The borders of operands, and those of results."""
    axes, block = manual_axes(op), op.regions[0].block
    groups: list[list[Border]] = []
    for name, outside, inside in (
        ("in_shardings", op.operands, block.args),
        ("out_shardings", op.results, _end(block).operands),
    ):
        text = cast("sdy.TensorShardingPerValueAttr", op.properties[name]).data
        said = Sharding.parse_all(text)
        groups.append(
            [
                Border(outer, inner, sharding, axes)
                for outer, inner, sharding in zip(outside, inside, said, strict=True)
            ]
        )
    return groups[0], groups[1]


def manual_axes(op: sdy.ManualComputationOp) -> frozenset[str]:
    """The axes that a region tells apart, as shardings spell them."""
    return frozenset(_AXIS.findall(cast("sdy.ManualAxesAttr", op.properties["manual_axes"]).data))


def is_solved(module: ModuleOp) -> bool:
    """True for one device, and for a program that says itself what each device computes.

    Such a program has regions over all axes, which take its arguments and make its results.
    """
    if sdy.count_devices(module) == 1:
        return True
    meshes = sdy.meshes_in(module).values()
    axes = {f'"{name}"' for mesh in meshes for name, extent in mesh.items() if extent > 1}
    functions = [op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks]
    found = [op for each in functions for op in each.body.block.ops]
    regions = [op for op in found if isinstance(op, sdy.ManualComputationOp)]
    return bool(regions) and all(
        isinstance(op, ReturnOp)
        or (
            isinstance(op, sdy.ManualComputationOp)
            and axes <= manual_axes(op)
            and all(isinstance(value, BlockArgument) for value in op.operands)
        )
        for op in found
    )


# --- Edges and named computations -----------------------------------------------------------------

Locate = Callable[["LocationAttr", "LocationAttr"], "LocationAttr"]
"""Where an operation is that was at a location, and is called from another one."""

_INSTEAD = {
    sdy.ReplicatedToUnreducedOp.name: "leave it and the sum of its terms out",
    sdy.ShardedToUnreducedOp.name: "put the parts together by sdy.all_gather",
}
"""What does the same as a move to terms of a sum, and the sum."""


SETTLED = (sdy.DataFlowEdgeOp.name, sdy.FuncDataFlowEdgeOp.name, sdy.NamedComputationOp.name)
"""What `settle_names` leaves out."""


def settle_names(function: FuncOp, locate: Locate) -> None:
    """Leave out edges and named computations; moves to terms of a sum are refused.

    A named computation stands where its operation stood, with a constraint for each sharding of an
    operand or result. Has to be done before calls are inlined: edges may stand at them.
    """
    held = [op for op in function.walk(region_first=True) if op.name.startswith("sdy.")]
    for op in held:
        if op.name in _INSTEAD:
            rewriting.refuse(
                op,
                "makes terms of a sum that stay on their devices (unreduced axes), which is not "
                "done here; "
                f"{_INSTEAD[op.name]}",
            )
    take_edges(held)
    for op in held:
        if isinstance(op, sdy.NamedComputationOp):
            _inline(op, locate)


def take_edges(ops: Sequence[Operation]) -> None:
    """Let what edges among operations stand for lie as they say, and leave the edges out."""
    for op in ops:
        if isinstance(op, sdy.DataFlowEdgeOp | sdy.FuncDataFlowEdgeOp):
            said = op.properties.get("sharding")
            if isinstance(said, sdy.TensorShardingAttr):
                _say(op.operands[0], Sharding.parse(said.data, op))
            rewriting.replace(op, *op.operands)


def _say(value: SSAValue, sharding: Sharding) -> None:
    """Let a value lie in a way; arguments of other regions than those that divide have no say."""
    if isinstance(value, BlockArgument):
        index, parent = value.index, value.owner.parent_op()
        if isinstance(parent, FuncOp):
            said = sdy.TensorShardingAttr(str(sharding))
            set_argument(parent, index, sdy__sharding=said)
        elif isinstance(parent, sdy.ManualComputationOp):
            border = borders_of(parent)[0][index]
            _put(parent.properties, "in_shardings", parent.operands, index, border.around(sharding))
        elif isinstance(parent, sdy.NamedComputationOp):
            _put(parent.properties, "in_shardings", parent.operands, index, sharding)
        elif parent is not None and parent.name == "stablehlo.while":
            _say(parent.results[index], sharding)
        return
    op = cast("Operation", value.owner)
    index = op.results.index(value)  # pyright: ignore[reportArgumentType]
    if isinstance(op, sdy.ManualComputationOp | sdy.NamedComputationOp):
        _put(op.properties, "out_shardings", op.results, index, sharding)
    else:
        _put(op.attributes, SHARDING, op.results, index, sharding)


def _put(
    held: dict[str, Attribute],
    name: str,
    values: Sequence[SSAValue],
    index: int,
    sharding: Sharding,
) -> None:
    """Say how one of several values lies; the others stay, or stay open."""
    said = held.get(name)
    if isinstance(said, sdy.TensorShardingPerValueAttr):
        shardings = [*Sharding.parse_all(said.data)]
    else:
        shardings = [open_sharding(each, sharding.mesh) for each in values]
    shardings[index] = sharding
    held[name] = per_value(tuple(shardings))


def _inline(op: sdy.NamedComputationOp, locate: Locate) -> None:
    block = op.regions[0].block
    given = _constrain(op, "in_shardings", op.operands)
    for argument, value in zip(block.args, given, strict=True):
        argument.replace_all_uses_with(value)
    *operations, end = block.ops
    for each in operations:
        for inner in each.walk():
            inner.location = locate(inner.location, op.location)
        each.detach()
        rewriting.insert_before(op, each)
    rewriting.replace(op, *_constrain(op, "out_shardings", end.operands))


def _constrain(op: sdy.NamedComputationOp, name: str, values: Sequence[SSAValue]) -> list[SSAValue]:
    """The operands or results of a named computation as its shardings want them."""
    said = op.properties.get(name)
    if not isinstance(said, sdy.TensorShardingPerValueAttr):
        return [*values]
    made: list[SSAValue] = []
    for value, sharding in zip(values, Sharding.parse_all(said.data), strict=True):
        if not is_tensor(value) or sharding == open_sharding(value, sharding.mesh):
            made.append(value)
            continue
        new = sdy.ShardingConstraintOp.create(
            operands=[value],
            result_types=[value.type],
            properties={"sharding": sdy.TensorShardingAttr(str(sharding))},
            location=op.location,
        )
        rewriting.insert_before(op, new)
        made.append(new.results[0])
    return made
