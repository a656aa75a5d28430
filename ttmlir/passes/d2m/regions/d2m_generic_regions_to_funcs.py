"""Make a function of each region of generics, which the thread names.

Before:

    #l1 = #ttcore.memory_space<l1>
    !remote = memref<2x2x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096>, #l1>
    !local = memref<2x4x!ttcore.tile<32x32, f32>, #l1>
    func.func @f(%x: !remote, %y: !remote) {
      d2m.generic {block_factors = [], grid = #ttcore.grid<2x2>, indexing_maps = [],
          iterator_types = [], threads = [#d2m.thread<datamovement>]}
          ins(%x : !remote) outs(%y : !remote) {
      ^datamovement0(%cb0: !d2m.cb<!local>, %cb1: !d2m.cb<!local>):
        %c0 = arith.constant 0 : index
        %0 = d2m.reserve %cb0 : !d2m.cb<!local> -> !local
        %tx = d2m.dma_read %x[%c0, %c0, %c0], %0[%c0], <8> : (!remote, !local) -> !d2m.mem_tx
        d2m.dma_wait %tx
      }
      return
    }

After:

    ...
        d2m.generic {..., threads = [#d2m.thread<datamovement, @datamovement_kernel0>]}
            ins(%arg0 : ...)
            outs(%arg1 : ...)
        return
      }
      func.func private @datamovement_kernel0(%arg0: !d2m.cb<...>, %arg1: !d2m.cb<...>)
          attributes {d2m.thread = #d2m.thread<datamovement>} {
        %0 = d2m.get_global_operand(0) : ...
        ...
        %tx = d2m.dma_read %0[%c0, %c0, %c0], %1[%c0], <8> : ...
        d2m.dma_wait %tx
        return
      }
    ...

Requires: generics without maps (`d2m-generic-generate-loops`, and of 2026
`d2m-generic-lower-to-explicit-form`).
Ensures: functions at the end of the module, numbered over all kinds of threads. They take the
arguments of the region; an operand of the generic is `d2m.get_global_operand`, of a view the buffer
below it, and another argument `d2m.get_arg`.
Options: none.
Not done here: calls of kernels, which `convert-d2m-to-ttkernel` makes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.late import GetArgOp
from ttmlir.ir.rewriting import refuse, symbols_in
from ttmlir.mlir.reporting import around
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.regions.region_builder import RegionBuilder, generics_in, root_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.context import Context


@dataclass(frozen=True)
class D2MGenericRegionsToFuncsPass(ModulePass):
    """Make a function of each region of generics."""

    name = "d2m-generic-regions-to-funcs"
    title = "D2MGenericRegionsToFuncs"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Take every generic of each module, in order."""
        for table in [each for each in module.walk() if isinstance(each, ModuleOp)]:
            numbers = count()
            taken = set(symbols_in(table))
            for op in generics_in(table):
                if around(op, ModuleOp) is table:
                    _outline(op, table, numbers, taken)


def _outline(op: d2m.GenericOp, table: ModuleOp, numbers: Iterator[int], taken: set[str]) -> None:
    if op.results:
        refuse(op, "is on tensors; run ttcore-one-shot-bufferize before")
    if op.has_maps:
        refuse(
            op,
            "has maps in place of loops; run d2m-generic-generate-loops, or of 2026 "
            "d2m-generic-lower-to-explicit-form, before",
        )
    threads: list[d2m.ThreadAttr] = []
    for thread in op.threads:
        region = op.detach_region(0)
        name = f"{thread.kind.keyword}_kernel{next(numbers)}"
        while name in taken:
            name = f"{thread.kind.keyword}_kernel{next(numbers)}"
        taken.add(name)
        threads.append(d2m.ThreadAttr(d2m.Thread(thread.kind, name, thread.data.dm_core)))
        table.body.block.add_op(_function(op, thread, region, name))
    op.properties["threads"] = ArrayAttr(threads)


def _function(op: d2m.GenericOp, thread: d2m.ThreadAttr, region: Region, name: str) -> FuncOp:
    block = region.block
    _take_operands(op, block)
    end = ReturnOp()
    end.location = op.location
    block.add_op(end)
    function = FuncOp(name, ([each.type for each in block.args], []), region)
    function.sym_visibility = StringAttr("private")
    function.attributes[d2m.KERNEL_THREAD] = d2m.ThreadAttr(
        d2m.Thread(thread.kind, None, thread.data.dm_core)
    )
    function.location = op.location
    return function


def _take_operands(op: d2m.GenericOp, block: Block) -> None:
    """Ask for what comes from outside of the region."""
    if block.first_op is None:
        return
    build = RegionBuilder.before(block.first_op)
    known = dict[SSAValue, SSAValue]()
    for each in list(block.walk()):
        for number, value in enumerate(each.operands):
            if _is_inside(value, block):
                continue
            if value not in known:
                known[value] = _ask(op, value, build, each)
            each.operands[number] = known[value]


def _is_inside(value: SSAValue, block: Block) -> bool:
    owner: Block | Operation | None = value.owner
    while owner is not None and owner is not block:
        owner = owner.parent if isinstance(owner, Operation) else owner.parent_op()
    return owner is block


def _ask(op: d2m.GenericOp, value: SSAValue, build: RegionBuilder, user: Operation) -> SSAValue:
    owner = value.owner
    if isinstance(owner, Operation) and owner.name == "arith.constant":
        return build.add_op(owner.clone()).results[0]
    for number, each in enumerate(op.operands):
        if each is value:
            if number >= len(op.buffers):
                return build.add_op(GetArgOp.of(number, value.type)).results[0]
            memory = root_of(value)
            return build.add_op(d2m.GetGlobalOperandOp.of(number, memory.type)).results[0]
    refuse(user, "uses a value from outside of its d2m.generic, which is none of its operands")
