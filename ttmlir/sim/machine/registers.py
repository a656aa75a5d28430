"""The registers between the compute threads of a core: SrcA and SrcB, and DST.

SrcA and SrcB have two banks each: the unpacker fills one while the matrix unit reads the other. DST
has two halves (or is one whole, with full synchronisation): the math thread computes in one while
the packer empties the other. Both hand-overs carry times in cycles, so that a thread that took over
knows when it could do so.

Sources: tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor/{SrcASrcB,Dst}.md; tt-llk,
llk_math_common.h and llk_pack_common.h for the semaphore between math and pack.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.layout.enums import MathFidelity
from ttmlir.sim.machine.numerics import (
    LONGEST_CHAIN,
    TILE_VOLUME,
    Product,
    Register,
    add_products,
    faces_of_rows,
    rows_of_faces,
)
from ttmlir.sim.protocols import RunningThread, WaitReason

Array = NDArray[Any]


class _RegistersWait(WaitReason):
    """Waiting for the other side of a hand-over."""

    def __init__(self, kind: str, what: str, note: str) -> None:
        self.kind = kind
        self._what = what
        self._note = note

    def describe(self, thread: RunningThread) -> tuple[str, ...]:
        """What has to happen, and who does it."""
        return self._what, self._note


WAIT_FOR_BANK = _RegistersWait(
    "src", "a free bank of SrcA and SrcB", "the math thread frees one with each call that uses it"
)
WAIT_FOR_OPERANDS = _RegistersWait(
    "src", "operands in SrcA and SrcB", "the unpack thread brings them with the same call"
)
WAIT_FOR_FREE_DST = _RegistersWait(
    "dst", "a free part of DST", "the pack thread frees it with tile_regs_release"
)
WAIT_FOR_RESULTS = _RegistersWait(
    "dst", "results in DST", "the math thread hands them over with tile_regs_commit"
)

SOURCE_BANKS = 2
"""Banks of SrcA and SrcB."""

_UNTIMED_BANKS = 32


class SourceRegisters:
    """What the unpack thread has put into SrcA and SrcB and the math thread has not yet used.

    Without clocks the unpack thread may be further ahead than the hardware lets it, which saves
    switches between threads and changes no result.
    """

    __slots__ = ("_math", "_unpack", "banks", "freed")

    def __init__(self, *, timed: bool = True) -> None:
        """Empty registers."""
        self.banks: deque[tuple[Any, Any, int]] = deque()
        """Filled banks: SrcA, SrcB and when they were."""
        # All banks are free from cycle 0 on.
        self.freed: deque[int] = deque([0] * (SOURCE_BANKS if timed else _UNTIMED_BANKS))
        """Free banks: since when they are; the first is filled next."""
        self._unpack: RunningThread | None = None
        self._math: RunningThread | None = None

    def can_fill(self, thread: RunningThread) -> bool:
        """Whether a bank is free; if not, the unpack thread waits until one is."""
        if self.freed:
            return True
        thread.wait(WAIT_FOR_BANK, 1)
        self._unpack = thread
        return False

    def can_use(self, thread: RunningThread) -> bool:
        """Whether a bank is filled; if not, the math thread waits until one is."""
        if self.banks:
            return True
        thread.wait(WAIT_FOR_OPERANDS, 1)
        self._math = thread
        return False

    def fill(self, a: Any, b: Any, time: int) -> None:
        """Fill a bank; its operands are there from `time` on."""
        self.banks.append((a, b, time))
        self.freed.popleft()
        if self._math is not None:
            thread, self._math = self._math, None
            thread.wake()

    def free(self, time: int) -> None:
        """Give the bank that was filled first back; it can be filled from `time` on."""
        self.banks.popleft()
        self.freed.append(time)
        if self._unpack is not None:
            thread, self._unpack = self._unpack, None
            thread.wake()


class Half:
    """A half of DST (all of it with full synchronisation).

    A tile that was not written since the half was released reads as zeros. The matrix product
    leaves rows in place of faces; reading a tile in one order changes it to that order for good.
    Matrix products queue up, and are added when somebody looks at a tile: all at once they take
    half as long.
    """

    __slots__ = (
        *("_as_rows", "_faces", "_fidelity", "_queues", "_register", "_rows", "_written"),
        *("tiles", "time"),
    )

    def __init__(self, capacity: int, register: Register, fidelity: MathFidelity) -> None:
        """Room for `capacity` tiles in the format `register`; `fidelity` is that of products."""
        self._register = register
        self._fidelity = fidelity
        self._queues: dict[int, list[Product]] = {}
        """Products that are still to be added, by tile."""
        self.tiles = np.zeros((capacity, TILE_VOLUME), np.float32)
        self.time = 0
        """Since when the owner may have it, in cycles."""
        self._faces = [self.tiles[index] for index in range(capacity)]
        self._rows = [tile.reshape(32, 32) for tile in self._faces]
        self._written = [False] * capacity
        self._as_rows = [False] * capacity

    def written(self, index: int) -> bool:
        """Whether a tile was written since the half was released."""
        return self._written[index] or index in self._queues

    def clear(self) -> None:
        """Make all tiles zeros."""
        if self._queues:
            self._queues.clear()
        self._written = [False] * len(self._written)

    def forget(self, index: int) -> None:
        """Make a tile zeros."""
        self._queues.pop(index, None)
        self._written[index] = False

    def faces(self, index: int) -> Array:
        """The 1024 numbers of a tile, in the order of memory, in place."""
        if self._queues:
            self._add_queued()
        tile = self._faces[index]
        # `clear` only resets flags: a tile is zeroed when somebody looks at it, if ever.
        if not self._written[index]:
            tile.fill(0)
            self._written[index] = True
            self._as_rows[index] = False
        elif self._as_rows[index]:
            tile[:] = faces_of_rows(tile)
            self._as_rows[index] = False
        return tile

    def rows(self, index: int) -> Array:
        """The 32 rows of 32 numbers of a tile, in place."""
        if self._queues:
            self._add_queued()
        tile = self._rows[index]
        if not self._written[index]:
            tile.fill(0)
            self._written[index] = True
            self._as_rows[index] = True
        elif not self._as_rows[index]:
            tile[:] = rows_of_faces(tile)
            self._as_rows[index] = True
        return tile

    def new_faces(self, index: int) -> Array:
        """Room for the 1024 numbers of a tile that is overwritten, in the order of memory."""
        self._queues.pop(index, None)
        self._written[index] = True
        self._as_rows[index] = False
        return self._faces[index]

    def new_rows(self, index: int) -> Array:
        """Room for the 32 rows of a tile that is overwritten."""
        self._queues.pop(index, None)
        self._written[index] = True
        self._as_rows[index] = True
        return self._rows[index]

    def add_rows(self, first: int, numbers: Array) -> None:
        """Add rows of numbers to consecutive tiles."""
        indices = range(first, first + len(numbers))
        there = self.tiles[first : indices.stop].reshape(numbers.shape)
        if all(map(self.written, indices)):
            for index in indices:
                self.rows(index)
            np.add(there, numbers, there)
            return
        for index, tile in zip(indices, numbers, strict=True):
            if self.written(index):
                np.add(self.rows(index), tile, self._rows[index])
            else:
                self.new_rows(index)[:] = tile

    def add_product(self, index: int, product: Product) -> None:
        """Add a matrix product to a tile, at the latest when somebody looks at the half."""
        queue = self._queues.get(index)
        if queue is None:
            self._queues[index] = [product]
            return
        queue.append(product)
        if len(queue) == LONGEST_CHAIN:
            self._add_queued()

    def _add_queued(self) -> None:
        """Add all products that are queued; those of equally many tile by tile together."""
        # The queue is emptied first: `rows` below would add it again.
        queues, self._queues = self._queues, {}
        by_length: dict[int, list[int]] = {}
        for index, queue in queues.items():
            by_length.setdefault(len(queue), []).append(index)
        for indices in by_length.values():
            add_products(
                [self.rows(index) for index in indices],
                [queues[index] for index in indices],
                self._fidelity,
                self._register,
            )


class DestinationRegisters:
    """DST, with the semaphore that math and pack hand its halves over with.

    acquire -> (math computes) -> commit -> wait -> (pack reads) -> release. Acquiring stalls while
    all halves are committed, waiting while none is; releasing clears the half. `acquired` and
    `waited` say whether math and pack own the half that they work on: the hardware does not check
    that they do, and its semaphore stays between 0 and the number of halves.
    """

    __slots__ = (
        "_committed",
        "_fidelity",
        "_halves",
        "_math",
        "_math_index",
        "_narrow",
        "_pack",
        "_pack_index",
        "acquired",
        "capacity",
        "math",
        "pack",
        "register",
        "waited",
    )

    def __init__(
        self,
        register: Register,
        *,
        full_sync: bool = False,
        fidelity: MathFidelity = MathFidelity.HIFI4,
        narrow: Register = Register.BF16,
    ) -> None:
        """DST of numbers in the format `register`; `fidelity` is that of matrix products.

        `narrow` is the format with 16 bits of the program, which `set_width` may change to.
        """
        self._fidelity = fidelity
        self._narrow = narrow
        self._set_register(register, 1 if full_sync else 2)
        self._committed = 0
        self._math_index = 0
        self._pack_index = 0
        self.math = self._halves[0]
        """The half that the math thread works on."""
        self.pack = self._halves[0]
        """The half that the pack thread works on."""
        self.acquired = False
        self.waited = False
        self._math: RunningThread | None = None
        self._pack: RunningThread | None = None

    def _set_register(self, register: Register, count: int) -> None:
        self.register = register
        whole = 8 if register is Register.FP32 else 16
        self.capacity = whole // count
        """Tiles that a thread sees: 16 of 16 bits or 8 of 32 bits, half as many in halves."""
        self._halves = [Half(self.capacity, register, self._fidelity) for _ in range(count)]

    def set_width(self, *, wide: bool) -> bool:
        """Hold 32-bit numbers, or 16-bit ones; False, and no change, while tiles are in use."""
        if self.acquired or self.waited or self._committed:
            return False
        self._set_register(Register.FP32 if wide else self._narrow, len(self._halves))
        self.math = self._halves[self._math_index]
        self.pack = self._halves[self._pack_index]
        return True

    def acquire(self, thread: RunningThread) -> bool:
        """Take a free half for the math thread; False if it has to wait, to be woken."""
        if self._committed == len(self._halves):
            thread.wait(WAIT_FOR_FREE_DST, 1)
            self._math = thread
            return False
        self.acquired = True
        return True

    def commit(self, time: int) -> None:
        """Hand the math thread's half over, its results being there from `time` on."""
        self.math.time = time
        self.acquired = False
        # The semaphore saturates: the hardware does not notice a commit too many.
        self._committed = min(self._committed + 1, len(self._halves))
        self._math_index = (self._math_index + 1) % len(self._halves)
        self.math = self._halves[self._math_index]
        if self._pack is not None:
            thread, self._pack = self._pack, None
            thread.wake()

    def wait(self, thread: RunningThread) -> bool:
        """Take a committed half for the pack thread; False if it has to wait, to be woken."""
        if self._committed == 0:
            thread.wait(WAIT_FOR_RESULTS, 1)
            self._pack = thread
            return False
        self.waited = True
        return True

    def release(self, time: int) -> None:
        """Give the pack thread's half back as zeros, free from `time` on."""
        self.pack.clear()
        self.pack.time = time
        self.waited = False
        self._committed = max(self._committed - 1, 0)
        self._pack_index = (self._pack_index + 1) % len(self._halves)
        self.pack = self._halves[self._pack_index]
        if self._math is not None:
            thread, self._math = self._math, None
            thread.wake()
