"""Say in sdy what programs say of devices in attributes and calls of GSPMD.

Before:

    module attributes {mhlo.num_partitions = 2 : i32} {
      func.func @main(%a: tensor<64x32xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"})
          -> tensor<64x32xf32> {
        %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{devices=[1,2]<=[2]}"}
            : (tensor<64x32xf32>) -> tensor<64x32xf32>
        return %0 : tensor<64x32xf32>
      }
    }

After:

    module attributes {...} {
      sdy.mesh @mesh = <["axis_0"=2]>
      func.func @main(%arg0: tensor<64x32xf32>
          {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {}]>}) -> tensor<64x32xf32> {
        %0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {"axis_0"}]> : tensor<64x32xf32>
        return %0 : tensor<64x32xf32>
      }
    }

Requires: nothing.
Ensures: `mhlo.sharding` of arguments, results and operations are shardings over one mesh, which has
an axis for each step between devices that a sharding makes; `@Sharding` are constraints; what
stands between `@SPMDFullToShardShape` and `@SPMDShardToFullShape` is a `sdy.manual_computation`.
A module with a mesh of its own stays as it is.
Options: none.
Not done here: tensors on one device (`maximal`), and groups of values that lie alike (`shard_as`),
are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region

from ttmlir.dialects import sdy
from ttmlir.dialects.sdy import Mesh
from ttmlir.ir.constants import attr_numbers
from ttmlir.ir.rewriting import erase, insert_before, refuse_at
from ttmlir.ir.rewriting import replace as replace_op
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.spreading.device_tiles import (
    Steps,
    Tiling,
    axes_along,
    find_mesh,
    read_tiling,
    split_tuple,
    steps_along,
)
from ttmlir.passes.shardy.spreading.shardings import SHARDING, Dimension, Sharding, per_value
from ttmlir.passes.stablehlo import mesh_borders
from ttmlir.passes.stablehlo.mesh_borders import ANNOTATION, GSPMD, TO_PARTS, TO_WHOLE, target_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, SSAValue

    from ttmlir.mlir.attributes import Elements

_OPEN = re.compile(r"unspecified_dims=\[((?:\d{1,3},?)*)\]")
_MESH = "mesh"


@dataclass(frozen=True)
class ConvertGSPMDToSdyPass(ModulePass):
    """Say in sdy what programs say of devices in attributes and calls of GSPMD."""

    name = "convert-gspmd-to-sdy"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Find the mesh, then convert what is said."""
        if any(isinstance(op, sdy.MeshOp) for op in module.body.block.ops):
            return
        tilings = [*_tilings_in(module)]
        if not tilings:
            return
        count = _count(module, tilings)
        mesh = find_mesh(module, tilings, count, _groups_in(module))
        axes = ", ".join(f'"{name}"={extent}' for name, extent in mesh.items())
        new = sdy.MeshOp.create(
            properties={"sym_name": StringAttr(_MESH), "mesh": sdy.MeshAttr(f"<[{axes}]>")},
            location=module.location,
        )
        module.body.block.insert_op_before(new, module.body.block.first_op or new)
        for function in [op for op in module.ops if isinstance(op, FuncOp)]:
            _Conversion(mesh, function).run()


def _count(module: ModuleOp, tilings: list[Tiling]) -> int:
    """How many devices a program is for."""
    counts = {1, *(_volume(each) for each in tilings if not each.word)}
    said = module.attributes.get("mhlo.num_partitions")
    number = cast("IntegerAttr", said).value.data if isinstance(said, IntegerAttr) else max(counts)
    wrong = [each for each in tilings if not each.word and _volume(each) != number]
    if wrong:
        refuse_at(module, f"the sharding {wrong[0].text} is not over the {number} devices")
    return number


def _volume(tiling: Tiling) -> int:
    volume = 1
    for size, _ in tiling.steps:
        volume *= size
    return volume


def _said(op: Operation) -> Iterator[tuple[str, list[Mapping[str, Attribute]]]]:
    """What is said of the arguments and the results of a function, each by its property."""
    for name in ("arg_attrs", "res_attrs"):
        held = op.properties.get(name)
        if isinstance(held, ArrayAttr):
            yield name, [each.data for each in cast("ArrayAttr[DictionaryAttr]", held).data]


def _texts(said: Mapping[str, Attribute]) -> list[str]:
    held = said.get(GSPMD)
    return split_tuple(held.data) if isinstance(held, StringAttr) else []


def _tilings_in(module: ModuleOp) -> Iterator[Tiling]:
    for op in module.walk():
        for held in (op.attributes, *(each for _, many in _said(op) for each in many)):
            yield from (read_tiling(text, op) for text in _texts(held))


def _groups_in(module: ModuleOp) -> Iterator[Steps]:
    """The steps of groups that exchange something."""
    for op in module.walk():
        groups = op.properties.get("replica_groups")
        shape = getattr(getattr(groups, "type", None), "get_shape", tuple)()
        if groups is None or len(shape) != 2:
            continue
        numbers = [int(each) for each in attr_numbers(cast("Elements", groups)) or ()]
        steps = steps_along(numbers[: shape[1]]) if shape[1] else None
        if steps:
            yield steps


@dataclass
class _Conversion:
    """Converts what a function says."""

    mesh: Mesh
    function: FuncOp

    def run(self) -> None:
        """Convert arguments and results, regions, then what operations say."""
        types = self.function.function_type
        values = {"arg_attrs": types.inputs.data, "res_attrs": types.outputs.data}
        for name, many in [*_said(self.function)]:
            entries = [
                self._entry(each, type_) for each, type_ in zip(many, values[name], strict=True)
            ]
            self.function.properties[name] = ArrayAttr(entries)
        for block in [block for region in self.function.regions for block in _blocks_of(region)]:
            _Regions(self, block).convert()
        for op in [*self.function.walk()]:
            if isinstance(op, sdy.ManualComputationOp):
                _leave_out_axes_around(op)
            elif GSPMD in op.attributes and not isinstance(op, FuncOp):
                self._annotate(op)

    def _entry(self, said: Mapping[str, Attribute], type_: Attribute) -> DictionaryAttr:
        kept = {name: value for name, value in said.items() if name != GSPMD}
        for text in _texts(said):
            sharding = self.sharding(read_tiling(text, self.function), _rank(type_))
            if sharding is not None:
                kept[SHARDING] = sdy.TensorShardingAttr(str(sharding))
        return DictionaryAttr(dict(sorted(kept.items())))

    def sharding(self, tiling: Tiling, rank: int, is_open: tuple[int, ...] = ()) -> Sharding | None:
        """A sharding of sdy; None where nothing is said of the tensor."""
        if tiling.word in ("manual", "unknown"):
            return None
        dims = [axes_along(self.mesh, steps) for steps in tiling.dims] or [()] * rank
        return Sharding(
            f"@{_MESH}",
            tuple(Dimension(axes, number in is_open) for number, axes in enumerate(dims)),
        )

    def said_of(self, op: Operation, text: str) -> Sharding | None:
        """The sharding that a call says, of which some dimensions may be left open."""
        config = op.properties.get("backend_config")
        found = _OPEN.search(config.data) if isinstance(config, StringAttr) else None
        numbers = tuple(int(each) for each in found[1].split(",") if each) if found else ()
        return self.sharding(read_tiling(text, op), _rank(op.results[0].type), numbers)

    def _annotate(self, op: Operation) -> None:
        held = cast("StringAttr", op.attributes.pop(GSPMD)).data
        texts = split_tuple(held)
        if target_of(op) != ANNOTATION:
            found = [
                self.sharding(read_tiling(text, op), _rank(value.type))
                for text, value in zip(texts, op.results, strict=False)
            ]
            if len(found) == len(op.results) and found and all(found):
                op.attributes[SHARDING] = per_value(tuple(each for each in found if each))
            return
        sharding = self.said_of(op, held)
        if sharding is None or not any(d.axes or not d.is_open for d in sharding.dimensions):
            replace_op(op, *op.operands)
            return
        new = sdy.ShardingConstraintOp.create(
            operands=[*op.operands],
            result_types=[op.results[0].type],
            properties={"sharding": sdy.TensorShardingAttr(str(sharding))},
            location=op.location,
        )
        insert_before(op, new)
        replace_op(op, *new.results)


def _leave_out_axes_around(op: sdy.ManualComputationOp) -> None:
    """A region names the axes that the regions around it do not tell apart yet."""
    parent, known = op.parent_op(), set[str]()
    while parent is not None:
        if isinstance(parent, sdy.ManualComputationOp):
            known |= {*_axes_of(parent)}
        parent = parent.parent_op()
    kept = [axis for axis in _axes_of(op) if axis not in known]
    op.properties["manual_axes"] = sdy.ManualAxesAttr(f"{{{', '.join(kept)}}}")


def _axes_of(op: sdy.ManualComputationOp) -> list[str]:
    text = cast("sdy.ManualAxesAttr", op.properties["manual_axes"]).data
    return re.findall(r'"[^"]*"', text)


def _rank(type_: Attribute) -> int:
    return type_.get_num_dims() if isinstance(type_, TensorType) else 0


def _blocks_of(region: Region) -> Iterator[Block]:
    for block in region.blocks:
        yield block
        for op in block.ops:
            for inner in op.regions:
                yield from _blocks_of(inner)


@dataclass
class _Part:
    """What stands between the borders of one region."""

    entries: list[Operation] = field(default_factory=list[Operation])
    exits: list[Operation] = field(default_factory=list[Operation])
    inner: set[Operation] = field(default_factory=set[Operation])


class _Regions:
    """Makes regions of what a block computes with parts, the innermost first."""

    def __init__(self, conversion: _Conversion, block: Block) -> None:
        self.conversion, self.block = conversion, block
        self.order: dict[Operation, int] = {}
        self.part_of: dict[Operation, _Part] = {}

    def convert(self) -> None:
        """Find what belongs together, and put it into regions."""
        while borders := self._innermost():
            self.order = {op: number for number, op in enumerate(self.block.ops)}
            self.part_of = {}
            for op in borders:
                if op not in self.part_of:
                    self._reach(op)
            for part in {id(each): each for each in self.part_of.values()}.values():
                self._enclose(part)

    def _innermost(self) -> list[Operation]:
        """The borders that are within most others."""
        depths: dict[SSAValue, int] = {}
        found: dict[int, list[Operation]] = {}
        for op in self.block.ops:
            depth = max((depths.get(each, 0) for each in op.operands), default=0)
            match target_of(op):
                case mesh_borders.TO_PARTS:
                    depth += 1
                    found.setdefault(depth, []).append(op)
                case mesh_borders.TO_WHOLE:
                    found.setdefault(max(depth, 1), []).append(op)
                    depth = max(depth - 1, 0)
                case _:
                    pass
            depths.update(dict.fromkeys(op.results, depth))
        return found[max(found)] if found else []

    def _reach(self, first: Operation) -> None:
        """Follow values of parts from a border to the other borders."""
        part, work = _Part(), [first]
        self.part_of[first] = part
        while work:
            op = work.pop()
            kind = target_of(op)
            held = part.entries if kind == TO_PARTS else part.exits if kind == TO_WHOLE else None
            if held is None:
                part.inner.add(op)
            else:
                held.append(op)
            near = [] if kind == TO_WHOLE else [u.operation for r in op.results for u in r.uses]
            near += [] if kind == TO_PARTS else [self._source(v, op) for v in self._taken_by(op)]
            for other in map(self._in_block, near):
                if other is self.block.last_op:
                    refuse_at(op, "the part of a device is taken for a whole tensor")
                if other is None or other in self.part_of:
                    continue
                if _is_constant(other):
                    part.inner.add(other)
                    continue
                self.part_of[other] = part
                work.append(other)

    def _taken_by(self, op: Operation) -> list[SSAValue]:
        """The values that an operation of the block takes, also within its regions."""
        taken = [value for each in op.walk() for value in each.operands]
        return [value for value in taken if self._is_outside(value, op)]

    def _is_outside(self, value: SSAValue, op: Operation) -> bool:
        owner = value.owner
        inner = owner if isinstance(owner, Operation) else owner.parent_op()
        return inner is None or not op.is_ancestor(inner)

    def _source(self, value: SSAValue, op: Operation) -> Operation:
        if isinstance(value, BlockArgument):
            refuse_at(
                op, f"a tensor is taken for the part of a device, and is no result of @{TO_PARTS}"
            )
        return cast("OpResult", value).op

    def _in_block(self, op: Operation) -> Operation | None:
        """The operation of the block that contains another one."""
        if op.parent is self.block:
            return op
        parent = op.parent_op()
        return None if parent is None else self._in_block(parent)

    def _enclose(self, part: _Part) -> None:
        """Put what a part computes into a region before its first exit."""
        given, made = list[Sharding](), list[Sharding]()
        entries = sorted(part.entries, key=self.order.__getitem__)
        exits = sorted(part.exits, key=self.order.__getitem__)
        axes: tuple[str, ...] | None = None
        for op in entries:
            says = self._annotation(op) or op
            given.append(self._border(says))
            axes = self._manual_axes(op)
        for op in exits:
            made.append(self._border(op))
            says = self._annotation(op)
            axes = axes or (None if says is None else self._manual_axes(says))
        body = Block(arg_types=[op.results[0].type for op in entries])
        operands: list[SSAValue] = []
        for op, argument in zip(entries, body.args, strict=True):
            says = self._annotation(op)
            operands.append((says or op).operands[0])
            argument.location = op.location
            op.results[0].replace_all_uses_with(argument)
        region = sdy.ManualComputationOp.create(
            operands=operands,
            result_types=[op.results[0].type for op in exits],
            properties={
                "in_shardings": per_value(tuple(given)),
                "out_shardings": per_value(tuple(made)),
                "manual_axes": sdy.ManualAxesAttr(f"{{{', '.join(axes or ())}}}"),
            },
            regions=[Region(body)],
            location=exits[0].location,
        )
        insert_before(exits[0], region)
        self._move(part, body)
        results = [op.operands[0] for op in exits]
        body.add_op(sdy.ReturnOp.create(operands=results, location=exits[0].location))
        for op, result in zip(exits, region.results, strict=True):
            replace_op(op, result)
        for op in entries:
            says = self._annotation(op)
            erase(op)
            if says is not None and not any(each.uses for each in says.results):
                erase(says)

    def _move(self, part: _Part, body: Block) -> None:
        """Put the operations of a part into its region; constants that others use are copied."""
        for op in sorted(part.inner, key=self.order.__getitem__):
            outside = [
                use
                for result in op.results
                for use in result.uses
                if self._in_block(use.operation) not in (*part.inner, *part.exits, None)
            ]
            if not outside:
                op.detach()
                body.add_op(op)
                continue
            copy = op.clone()
            body.add_op(copy)
            for old, new in zip(op.results, copy.results, strict=True):
                for use in tuple(old.uses):
                    if not any(use is each for each in outside):
                        use.operation.operands[use.index] = new

    def _annotation(self, op: Operation) -> Operation | None:
        """The call that says how the operand of a border lies."""
        source = op.operands[0].owner
        if isinstance(source, Operation) and target_of(source) == ANNOTATION:
            return source
        return None

    def _border(self, op: Operation) -> Sharding:
        text = cast("StringAttr", op.attributes.get(GSPMD, StringAttr("{replicated}"))).data
        sharding = self.conversion.said_of(op, text)
        if sharding is None:
            refuse_at(op, f"the sharding {text} does not say how the whole tensor lies")
        return sharding

    def _manual_axes(self, op: Operation) -> tuple[str, ...]:
        """The axes that a region tells apart, without those of the region around it."""
        held = op.attributes.get(GSPMD)
        tiling = (
            read_tiling(held.data, op) if isinstance(held, StringAttr) else Tiling("", "manual")
        )
        axes = tuple(f'"{name}"' for name in self.conversion.mesh)
        if not tiling.word:
            axes = axes_along(self.conversion.mesh, tiling.groups.get("manual", []))
        return axes


def _is_constant(op: Operation) -> bool:
    return op.name == "stablehlo.constant"
