"""Values that are one tensor, or parts of one, though they have several names.

Loops carry tensors, branches return one of several, barriers hand them on (`edges_of`); a region of
`sdy.manual_computation` has the parts of its operands along some axes (`borders_of`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, SSAValue

from ttmlir.dialects import sdy
from ttmlir.passes.shardy.shardings import Sharding

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Block, Operation

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
