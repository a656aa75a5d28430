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
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

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

if TYPE_CHECKING:
    from ttmlir.sim.errors import Finding
    from ttmlir.sim.machine.memory import Memory

Array = NDArray[Any]


class _RegistersWait(WaitReason):
    """Waiting for the other side of a hand-over."""

    is_within_kernel = True

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


class PoisonWatch(Protocol):
    """What tells of numbers that nobody wrote: the sanitizer."""

    def report(self, finding: Finding) -> None:
        """Tell of what was found."""
        ...

    def leave_unwritten(self, memory: Memory, address: int, size: int, poison: Poison) -> None:
        """A tile was packed of which some numbers come from bytes that nobody wrote."""
        ...


class Poison:
    """Numbers of a tile that come from bytes that nobody wrote.

    They travel with the tile as long as each number only depends on those in its place; `tell` is
    for all other uses, and for results that are stored. `lanes` says which of the 1024 numbers they
    are, in the order of memory, `findings` where they were read first.
    """

    __slots__ = ("_watch", "findings", "lanes")

    def __init__(self, lanes: Array, findings: tuple[Finding, ...], watch: PoisonWatch) -> None:
        """Numbers that were read from memory; `watch` tells of them."""
        self.lanes = lanes
        self.findings = findings
        self._watch = watch

    def tell(self) -> None:
        """They decide something, or are stored."""
        for finding in self.findings:
            self._watch.report(finding)

    def leave(self, memory: Memory, address: int, size: int) -> None:
        """The tile was packed, not to a tensor: these numbers still count as unwritten there."""
        self._watch.leave_unwritten(memory, address, size, self)

    def only(self, lanes: Array) -> Poison:
        """Those in some places."""
        return Poison(self.lanes & lanes, self.findings, self._watch)

    def at(self, places: Array) -> Poison:
        """Those of a vector, lane by lane, which has these places in the tile."""
        return Poison(self.lanes[places], self.findings, self._watch)

    def without(self, places: Array) -> Poison:
        """Those of the tile elsewhere."""
        lanes = self.lanes.copy()
        lanes[places] = False
        return Poison(lanes, self.findings, self._watch)

    def spread(self, places: Array) -> Poison:
        """Those of a vector in the places that it has in a tile."""
        lanes = np.zeros(TILE_VOLUME, np.bool_)
        lanes[places] = self.lanes
        return Poison(lanes, self.findings, self._watch)

    def reduced(self, reduce: Callable[[Array], Array]) -> Poison:
        """What a function of the 32 rows makes of them, which gives rows, too."""
        lanes = faces_of_rows(reduce(rows_of_faces(self.lanes)))
        return Poison(lanes, self.findings, self._watch)

    def joined(self, other: Poison | None) -> Poison:
        """What the results of two tiles have."""
        if other is None:
            return self
        findings = (*self.findings, *(each for each in other.findings if each not in self.findings))
        return Poison(self.lanes | other.lanes, findings, self._watch)


def join_poison(*parts: Poison | None) -> Poison | None:
    """What a result has that is made of several tiles, number by number."""
    found = None
    for each in parts:
        if each is not None:
            found = each.joined(found)
    return found


class SourceRegisters:
    """What the unpack thread has put into SrcA and SrcB and the math thread has not yet used.

    Without clocks the unpack thread may be further ahead than the hardware lets it, which saves
    switches between threads and changes no result.
    """

    __slots__ = ("_math", "_unpack", "banks", "freed")

    def __init__(self, *, timed: bool = True) -> None:
        """Empty registers."""
        self.banks: deque[tuple[Any, Any, int, int, Poison | None]] = deque()
        """Filled banks: SrcA, SrcB, when their first and their last operands were there, and which
        of their numbers nobody wrote."""
        # All banks are free from cycle 0 on.
        self.freed: deque[int] = deque([0] * (SOURCE_BANKS if timed else _UNTIMED_BANKS))
        """Free banks: since when they are; the first is filled next."""
        self._unpack: RunningThread | None = None
        self._math: RunningThread | None = None

    def can_fill(self, thread: RunningThread, banks: int = 1) -> bool:
        """Whether so many banks are free; if not, the unpack thread waits until they are."""
        if len(self.freed) >= banks:
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

    def fill(
        self,
        a: Any,
        b: Any,
        first: int,
        last: int,
        banks: int = 1,
        poison: Poison | None = None,
    ) -> None:
        """Fill banks; the first operands are there from `first` on, all of them from `last` on."""
        self.banks.append((a, b, first, last, poison))
        for _ in range(banks):
            self.freed.popleft()
        if self._math is not None:
            thread, self._math = self._math, None
            thread.wake()

    def take_poison(self) -> Poison | None:
        """Which numbers of the bank that was filled first nobody wrote, for who follows them."""
        *operands, poison = self.banks[0]
        if poison is not None:
            a, b, first, last = operands
            self.banks[0] = a, b, first, last, None
        return poison

    def free(self, *times: int) -> None:
        """Give back what was filled first: a bank for each time, from which on it can be filled."""
        self.banks.popleft()
        self.freed.extend(times)
        if self._unpack is not None:
            thread, self._unpack = self._unpack, None
            thread.wake()


class Products:
    """Matrix products that are still to be added to tiles of DST, of any cores.

    Cores that do the same have as many of them at about the same time: added together, they take
    NumPy half as many calls and more. That tiles wait for each other changes no number.
    """

    __slots__ = ("_fidelity", "_register", "waiting")

    def __init__(self, register: Register, fidelity: MathFidelity) -> None:
        """No products, of this fidelity, onto tiles in the format `register`."""
        self._register = register
        self._fidelity = fidelity
        self.waiting: dict[Half, None] = {}
        """The halves of DST that have any, in the order in which they got them."""

    def onto(self, register: Register) -> Products:
        """Those of the same fidelity onto tiles in a format, which are others in another one."""
        return self if register is self._register else Products(register, self._fidelity)

    def add_all(self) -> None:
        """Add all products; those of equally many tile by tile together."""
        by_length: dict[int, list[tuple[Array, list[Product]]]] = {}
        halves, self.waiting = self.waiting, {}
        for half in halves:
            for tile, queue in half.take_products():
                by_length.setdefault(len(queue), []).append((tile, queue))
        for chains in by_length.values():
            tiles, queues = zip(*chains, strict=True)
            add_products(tiles, queues, self._fidelity, self._register)


class Half:
    """A half of DST (all of it with full synchronisation).

    A tile that was not written since the half was released reads as zeros. The matrix product
    leaves rows in place of faces; reading a tile in one order changes it to that order for good.
    Matrix products queue up, and are added when somebody looks at a tile: all at once they take
    half as long.
    """

    __slots__ = (
        *("_as_rows", "_faces", "_products", "_queues", "_rows", "_written"),
        *("poisons", "tiles", "time"),
    )

    def __init__(self, capacity: int, products: Products) -> None:
        """Room for `capacity` tiles; `products` are those that wait to be added to any tiles."""
        self._products = products
        self._queues: dict[int, list[Product]] = {}
        """Products that are still to be added, by tile."""
        self.tiles = np.zeros((capacity, TILE_VOLUME), np.float32)
        self.time = 0
        """Since when the owner may have it, in cycles."""
        self._faces = [self.tiles[index] for index in range(capacity)]
        self._rows = [tile.reshape(32, 32) for tile in self._faces]
        self._written = [False] * capacity
        self._as_rows = [False] * capacity
        self.poisons: dict[int, Poison] = {}
        """By tile: which numbers nobody wrote. Who follows them takes them out before."""

    def written(self, index: int) -> bool:
        """Whether a tile was written since the half was released."""
        return self._written[index] or index in self._queues

    def clear(self) -> None:
        """Make all tiles zeros."""
        if self._queues:
            self._queues.clear()
        if self.poisons:
            self.poisons.clear()
        self._written = [False] * len(self._written)

    def forget(self, index: int) -> None:
        """Make a tile zeros."""
        self._queues.pop(index, None)
        self.poisons.pop(index, None)
        self._written[index] = False

    def _tell(self, index: int) -> None:
        """Somebody uses a tile in a way in which its numbers are not followed."""
        poison = self.poisons.pop(index, None)
        if poison is not None:
            poison.tell()

    def take_poisons(self, inputs: Iterable[int], output: int) -> dict[int, Poison | None]:
        """Which numbers nobody wrote of tiles that a call combines number by number.

        That of its result is what follows from these.
        """
        if not self.poisons:
            return {}
        found = {index: self.poisons.pop(index, None) for index in set(inputs)}
        self.poisons.pop(output, None)
        return {**found, output: join_poison(*found.values())}

    def put_poison(self, index: int, poison: Poison | None) -> None:
        """Note which numbers of a tile nobody wrote, if there are any."""
        if poison is not None and poison.lanes.any():
            self.poisons[index] = poison

    def faces(self, index: int) -> Array:
        """The 1024 numbers of a tile, in the order of memory, in place."""
        if self.poisons:
            self._tell(index)
        if self._queues:
            self._products.add_all()
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
        if self.poisons:
            self._tell(index)
        if self._queues:
            self._products.add_all()
        return self._in_rows(index)

    def _in_rows(self, index: int) -> Array:
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
        if self.poisons:
            self.poisons.pop(index, None)
        self._written[index] = True
        self._as_rows[index] = False
        return self._faces[index]

    def new_rows(self, index: int) -> Array:
        """Room for the 32 rows of a tile that is overwritten."""
        self._queues.pop(index, None)
        if self.poisons:
            self.poisons.pop(index, None)
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
            self._products.waiting[self] = None
            return
        queue.append(product)
        if len(queue) == LONGEST_CHAIN:
            self._products.add_all()

    def take_products(self) -> list[tuple[Array, list[Product]]]:
        """The rows of each tile that products wait for, with these, which wait no longer."""
        queues, self._queues = self._queues, {}
        return [(self._in_rows(index), queue) for index, queue in queues.items()]


class DestinationRegisters:
    """DST, with the semaphore that math and pack hand its halves over with.

    acquire -> (math computes) -> commit -> wait -> (pack reads) -> release. Acquiring stalls while
    all halves are committed, waiting while none is; releasing clears the half. `acquired` and
    `waited` say whether math and pack own the half that they work on: the hardware does not check
    that they do, and its semaphore stays between 0 and the number of halves.
    """

    __slots__ = (
        "_committed",
        "_halves",
        "_math",
        "_math_index",
        "_narrow",
        "_pack",
        "_pack_index",
        "_products",
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
        products: Products | None = None,
        narrow: Register = Register.BF16,
    ) -> None:
        """DST of numbers in the format `register`; `products` are those of all such cores.

        `narrow` is the format with 16 bits of the program, which `set_width` may change to.
        """
        self._products = products or Products(register, MathFidelity.HIFI4)
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
        self._products = self._products.onto(register)
        self._halves = [Half(self.capacity, self._products) for _ in range(count)]

    def use_halves(self, make: Callable[[], Half]) -> None:
        """Replace all halves, which are empty, by others that are empty."""
        self._halves = [make() for _ in self._halves]
        self.math = self._halves[self._math_index]
        self.pack = self._halves[self._pack_index]

    @property
    def num_halves(self) -> int:
        """2, or with full synchronisation 1."""
        return len(self._halves)

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
