"""How blocks of an output get from their circular buffer to memory: at once, or step by step.

A kernel that also multicasts an input would let all cores wait while it stores a block. So it puts
that off: in each step of the next block, behind the input of that step, it stores some chunks. The
circular buffer has to hold two blocks then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ttmlir.dialects.ttcore import device_layout_of
from ttmlir.ir.kernel_builder import KernelBuilder, Number
from ttmlir.passes.d2m.kernels.movement.block_copy import BlockCopy, BlockPlace


class Storer:
    """Stores blocks of an output when they are computed."""

    def __init__(self, kernel: KernelBuilder, copy: BlockCopy) -> None:
        """Nothing is stored yet."""
        self._kernel = kernel
        self._copy = copy

    def store(self, block: Sequence[Number]) -> None:
        """Store a block, or see to it that it is stored."""
        place = self._copy.start(block)
        self._kernel.walk(
            self._copy.chunks,
            self._copy.chunk_strides,
            place.first,
            lambda numbers: self._store_chunk(place, numbers),
        )

    def step(self) -> None:
        """Do something of what is left, in a step of the next block."""

    def finish(self) -> None:
        """Do all that is left."""

    def _store_chunk(self, place: BlockPlace, numbers: Sequence[SSAValue]) -> None:
        kernel, copy = self._kernel, self._copy
        cb = kernel.buffers[copy.stream.cb]
        kernel.call("cb_wait_front", cb, copy.chunk_tiles)
        (address,) = kernel.call("get_read_ptr", cb)
        copy.copy_chunk(place, numbers, address, store=True)
        # What has left L1 may be written over; that it has arrived matters at the end only.
        kernel.call("noc_async_writes_flushed")
        kernel.call("cb_pop_front", cb, copy.chunk_tiles)


class LateStorer(Storer):
    """Stores the chunks of a block in the steps of the next one."""

    def __init__(self, kernel: KernelBuilder, copy: BlockCopy, steps: int) -> None:
        """`steps` of each block ask for some chunks; the kernel is in front of its loops."""
        super().__init__(kernel, copy)
        self._chunks = math.prod(copy.chunks)
        self._share = -(-self._chunks // steps)
        # The next chunk, then where the block begins.
        self._state = kernel.variables(1 + copy.num_places)
        self._state.store(0, self._chunks)

    @staticmethod
    def is_possible(copy: BlockCopy, storage: SSAValue) -> bool:
        """True if two blocks have room, and a few numbers say where a chunk goes."""
        layout = device_layout_of(storage.type)
        return layout is not None and layout.buffers > 1 and not copy.is_divided

    def store(self, block: Sequence[Number]) -> None:
        """Keep in mind where the block goes; what is left of the one before is stored now."""
        self._store_chunks(self._chunks)
        for number, place in enumerate(self._copy.start(block).fixed, 1):
            self._state.store(number, place)
        self._state.store(0, 0)

    def step(self) -> None:
        """Store some chunks."""
        self._store_chunks(self._share)

    def finish(self) -> None:
        """Store all chunks that are left."""
        self._store_chunks(self._chunks)

    def _store_chunks(self, most: int) -> None:
        kernel, copy = self._kernel, self._copy
        left = kernel.arithmetic(arith.SubiOp, self._chunks, self._state.load(0))
        extent = left if most == self._chunks else kernel.arithmetic(arith.MinUIOp, left, most)

        def store_next(_: SSAValue) -> None:
            number = self._state.load(0)
            fixed = [self._state.load(1 + each) for each in range(copy.num_places)]
            place = copy.place_at(fixed)
            numbers: list[Number] = list(place.first)
            rest: Number = number
            for loop in reversed(range(len(copy.chunks))):
                turn = rest
                if loop:
                    turn = kernel.arithmetic(arith.RemUIOp, rest, copy.chunks[loop])
                    rest = kernel.arithmetic(arith.DivUIOp, rest, copy.chunks[loop])
                for each, strides in enumerate(copy.chunk_strides):
                    numbers[each] = kernel.add(kernel.multiply(turn, strides[loop]), numbers[each])
            self._store_chunk(place, [kernel.value(each) for each in numbers])
            self._state.store(0, kernel.add(number, 1))

        kernel.count(extent, store_next)
