"""Generics of 2026, whose unified thread loads, computes and stores, and the form that passes take.

In 2025 a `d2m.generic` that computes waits for shards in circular buffers, which are arguments of
its region, and yields what it has computed. In 2026 its thread is unified: it loads blocks by their
indices (`d2m.remote_load`), and stores what it has computed (`d2m.remote_store`). The one says the
same as the other, where a block's indices are those that the maps of the generic tell.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.late import BlockIndexOp, GetCBOp
from ttmlir.dialects.d2m.structure import element_type_of_value, shape_of
from ttmlir.dialects.linalg import GenericOp as LinalgGenericOp
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import erase
from ttmlir.layout.affine import AffineMap, ConstantExpr, DimExpr
from ttmlir.mlir.attributes import affine_map_attr
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.references import REFERENCE
from ttmlir.passes.d2m.regions.region_builder import (
    RegionBuilder,
    constant_of,
    erase_unused_values,
    set_threads,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

COMPUTE = d2m.ThreadAttr.of(d2m.ThreadKind.COMPUTE)
UNIFIED = d2m.ThreadAttr.of(d2m.ThreadKind.UNIFIED)


@contextmanager
def computing_form(module: ModuleOp) -> Generator[None]:
    """Let a pass see generics with threads that compute, and spell them as they were afterwards."""
    had_unified = read_unified(module)
    yield
    if had_unified:
        write_unified(module)


@dataclass(frozen=True)
class ComputingModulePass(ModulePass):
    """A pass on generics with threads that compute, which takes unified ones, too."""

    def run(self, ctx: Context, op: Operation) -> None:
        """Transform the module, and spell its generics as they were."""
        with computing_form(cast("ModuleOp", op)):
            super().run(ctx, op)


def write_unified(module: ModuleOp) -> None:
    """Give every generic that computes a unified thread, in place of circular buffers."""
    for op in list(module.walk()):
        if isinstance(op, d2m.GenericOp) and op.is_compute_only and op.has_maps and op.regions:
            _unify(op)


def read_unified(module: ModuleOp) -> bool:
    """Give every generic with a unified thread one that computes, if that can say the same.

    True if there was a unified thread.
    """
    found = False
    for op in list(module.walk()):
        if isinstance(op, d2m.GenericOp) and list(op.threads) == [UNIFIED] and op.has_maps:
            found = True
            numbers = _operands_moved(op)
            if numbers is not None:
                _compute(op, numbers)
    return found


# --- To a unified thread --------------------------------------------------------------------------


def _unify(op: d2m.GenericOp) -> None:
    block = op.compute_region.block
    first = block.first_op
    if first is None or not block.args:
        return
    build = RegionBuilder.before(first)
    indices = _block_indices(op, build)
    inputs = len(op.inputs)
    stored: dict[int, SSAValue] = {}
    for each in list(block.ops):
        if not isinstance(each, d2m.WaitOp | d2m.ReserveOp):
            continue
        number = cast("BlockArgument", each.operands[0]).index
        place = RegionBuilder.before(each)
        local = _local(place, each.results[0].type)
        if number < inputs:
            load = d2m.RemoteLoadOp.of(local, op.buffers[number], indices[number])
            local = place.add_op(load).results[0]
        else:
            stored[number] = local
        each.results[0].replace_all_uses_with(local)
        erase(each)
    end = block.last_op
    place = RegionBuilder.at_end(block, op)
    values = list(end.operands) if isinstance(end, d2m.YieldOp) else []
    results: list[SSAValue] = []
    for number in range(inputs, len(op.buffers)):
        value = values[number - inputs] if values else stored.get(number)
        if value is not None:
            store = d2m.RemoteStoreOp.of(op.buffers[number], indices[number], value)
            results += place.add_op(store).results
    if isinstance(end, d2m.YieldOp):
        end.operands = results
    for argument in reversed(list(block.args)):
        block.erase_arg(argument)
    op.attributes.pop(REFERENCE, None)  # tt-mlir's text has none
    set_threads(op, [UNIFIED], [op.regions[0]])


def _local(build: RegionBuilder, type_: Attribute) -> SSAValue:
    if isinstance(type_, MemRefType):
        return build.add_op(memref.AllocOp([], [], cast("MemRefType[Attribute]", type_))).results[0]
    builder = Builder(build.block, build.location, before=build.successor)
    return builder.create_empty(type_)


def _block_indices(op: d2m.GenericOp, build: RegionBuilder) -> list[list[SSAValue]]:
    """The block of each operand, by the indices of iterators."""
    iterators = [build.add_op(BlockIndexOp.at(n)).results[0] for n in range(len(op.iterator_types))]
    zero: SSAValue | None = None
    found: list[list[SSAValue]] = []
    for index_map in op.indexing_maps:
        places: list[SSAValue] = []
        for result in index_map.results:
            if isinstance(result, DimExpr):
                places.append(iterators[result.position])
            else:
                zero = build.constant(0) if zero is None else zero
                places.append(zero)
        found.append(places)
    return found


# --- To a thread that computes --------------------------------------------------------------------


def _moves(op: d2m.GenericOp) -> list[d2m.RemoteLoadOp | d2m.RemoteStoreOp]:
    return [each for each in op.walk() if isinstance(each, d2m.RemoteLoadOp | d2m.RemoteStoreOp)]


def _operands_moved(op: d2m.GenericOp) -> dict[Operation, int] | None:
    """The number of the operand that each load and store moves a block of.

    None where blocks are others than those that the maps tell, or not one of each operand.
    """
    block = op.regions[0].block
    inputs = len(op.inputs)
    found: dict[Operation, int] = {}
    for each in _moves(op):
        words = [group for group in each.WORDS.values() if each.group(group)]
        if each.parent is not block or each.group("cb") or words:
            return None
        loads = isinstance(each, d2m.RemoteLoadOp)
        # A tensor may be several operands; of those with equal maps it does not matter which.
        number = next(
            (
                number
                for number, buffer in enumerate(op.buffers)
                if buffer == each.remote
                and loads == (number < inputs)
                and number not in found.values()
                and _is_at(op.indexing_maps[number], each.indices)
            ),
            None,
        )
        if number is None:
            return None
        found[each] = number
    others = (GetCBOp, d2m.WaitOp, d2m.ReserveOp, d2m.IterIndexOp)
    is_whole = len(found) == len(op.buffers)
    return found if is_whole and not any(isinstance(each, others) for each in op.walk()) else None


def _is_at(index_map: AffineMap, indices: Sequence[SSAValue]) -> bool:
    """True where indices are those of the block that a map tells."""
    for result, index in zip(index_map.results, indices, strict=True):
        owner = index.owner
        is_zero = result == ConstantExpr(0) and constant_of(index) == 0
        is_block = (
            isinstance(owner, BlockIndexOp)
            and isinstance(result, DimExpr)
            and owner.number == result.position
        )
        if not (is_zero or is_block):
            return False
    return True


def _compute(op: d2m.GenericOp, numbers: Mapping[Operation, int]) -> None:
    block = op.regions[0].block
    for number, type_ in enumerate(d2m.GenericOp.argument_types(op.buffers)):
        block.insert_arg(type_, number)
    end = block.last_op
    yielded: dict[int, SSAValue] = {}
    for each in _moves(op):
        number = numbers[each]
        cb = block.args[number]
        (local,) = each.group("localBuffer")
        build = RegionBuilder.before(each)
        if isinstance(each, d2m.RemoteLoadOp):
            shard = build.add_op(d2m.WaitOp.on(cb)).results[0]
            for value in (*each.results, local):
                _use_instead(value, shard)
        else:
            yielded[number] = _result(op, number, local, build)
            for result in each.results:
                result.replace_all_uses_with(yielded[number])
        erase(each)
    if isinstance(end, d2m.YieldOp):
        end.operands = [yielded[number] for number in range(len(op.inputs), len(op.buffers))]
    set_threads(op, [COMPUTE], [op.regions[0]])
    erase_unused_values(op.regions[0])


def _use_instead(value: SSAValue, shard: SSAValue) -> None:
    for use in list(value.uses):
        if not isinstance(use.operation, d2m.RemoteLoadOp):
            use.operation.operands[use.index] = shard


def _result(op: d2m.GenericOp, number: int, local: SSAValue, build: RegionBuilder) -> SSAValue:
    """What is stored, computed into the circular buffer of the output."""
    block, cb = op.regions[0].block, op.regions[0].block.args[number]
    source = local
    owner = local.owner
    if isinstance(owner, LinalgGenericOp):
        source = owner.outputs[cast("OpResult", local).index]
    elif isinstance(owner, Operation) and owner.name.startswith("d2m.tile_") and owner.results:
        source = owner.operands[-1]
    made = source.owner
    is_fresh = isinstance(made, Operation) and made.name in (
        "tensor.empty",
        "d2m.empty",
        "memref.alloc",
    )
    if is_fresh:
        assert isinstance(made, Operation), "it is an operation"
        place = RegionBuilder.before(made if made.parent is block else build.successor or made)
        shard = place.add_op(d2m.ReserveOp.on(cb)).results[0]
        _use_instead(source, shard)
        return shard if source is local else local
    shard = build.add_op(d2m.ReserveOp.on(cb)).results[0]
    return _copy(local, shard, build)


def _copy(source: SSAValue, target: SSAValue, build: RegionBuilder) -> SSAValue:
    """A loop that copies tiles."""
    element = element_type_of_value(source)
    rank = len(shape_of(source))
    body = Block(arg_types=[element, element])
    body.add_op(YieldOp(body.args[0]))
    identity = affine_map_attr(AffineMap.identity(rank))
    results = [target.type] if target.type.name == "tensor" else []
    copy = LinalgGenericOp(
        [source],
        [target],
        Region(body),
        [identity, identity],
        [IteratorTypeAttr(IteratorType.PARALLEL)] * rank,
        results,
    )
    build.add_op(copy)
    return copy.results[0] if results else target
