"""Give each load of a block for several cores the semaphores that keep these cores in step.

Before:

    #l1 = #ttcore.memory_space<l1>
    !remote = memref<2x2x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096, 1>, #l1>
    !cb = !d2m.cb<memref<2x4x!ttcore.tile<32x32, f32>, #l1>>
    func.func @f(%x: !remote, %y: !remote) {
      d2m.generic {block_factors = [], grid = #ttcore.grid<2x2>, indexing_maps = [],
          iterator_types = [], threads = [#d2m.thread<datamovement>]}
          ins(%x : !remote) outs(%y : !remote) {
        %cb0 = d2m.get_cb(0) : !cb
        %i = d2m.core_index(0) : index
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        d2m.remote_load %x[%i, %c0] into %cb0 mcore[%i, %c0] mshape[%c1, %c2]
            : !remote into !cb
      }
      return
    }

After:

    ...
      %0 = d2m.create_local_semaphore {initial_value = 0 : ui32} : !d2m.local_semaphore
      %1 = d2m.create_local_semaphore {initial_value = 0 : ui32} : !d2m.local_semaphore
      d2m.generic {...}
          ins(%arg0 : ...)
          outs(%arg1 : ...)
          additionalArgs(%0, %1 : !d2m.local_semaphore, !d2m.local_semaphore)  {
        ...
        d2m.remote_load %arg0[%core0, %c0] into %cb mcore[%core0, %c0] mshape[%c1, %c2]
            {preallocatedSemaphores = [2, 3]} : ...
    ...

Requires: cores in place of dimensions of the grid (`d2m-generic-lower-to-explicit-form`).
Ensures: two semaphores for each such load, which are additional arguments of its generic: one that
cores raise when they have room, one that they wait for. The load has their numbers.
Options: none.
Not done here: the protocol, which `d2m-lower-load-store-ops-to-dma` writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, Signedness, i64

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.late import CreateLocalSemaphoreOp
from ttmlir.dialects.d2m.structure import LocalSemaphoreType
from ttmlir.dialects.definition.ods import SEGMENTS, segments_attr
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.regions.region_builder import RegionBuilder, generics_in

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

PREALLOCATED = "preallocatedSemaphores"
"""On a load for several cores: the numbers of its semaphores among the arguments of the generic."""


@dataclass(frozen=True)
class D2MPreallocateMcastSemaphoresPass(ModulePass):
    """Give loads of blocks for several cores their semaphores."""

    name = "d2m-preallocate-mcast-semaphores"
    title = "D2MPreallocateMcastSemaphores"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Take every load that names the cores it is for, and has no semaphores yet."""
        for op in generics_in(module):
            loads = [
                each
                for each in op.walk()
                if isinstance(each, d2m.RemoteLoadOp)
                and each.group("mcastStartIndex")
                and PREALLOCATED not in each.attributes
            ]
            for load in loads:
                _allocate(op, load)


def _allocate(op: d2m.GenericOp, load: d2m.RemoteLoadOp) -> None:
    build = RegionBuilder.before(op)
    zero = IntegerAttr(0, IntegerType(32, Signedness.UNSIGNED))
    made = [
        build.add_op(
            CreateLocalSemaphoreOp.create(
                result_types=[LocalSemaphoreType()], properties={"initial_value": zero}
            )
        ).results[0]
        for _ in range(2)
    ]
    first = len(op.operands)
    sizes = (len(op.inputs), len(op.outputs), len(op.additional) + len(made))
    op.operands = [*op.operands, *made]
    op.properties[SEGMENTS] = segments_attr(sizes)
    numbers = [IntegerAttr(first + number, i64) for number in range(len(made))]
    load.attributes[PREALLOCATED] = ArrayAttr(numbers)
