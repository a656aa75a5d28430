"""Numbers of cores that run one by one, computed late: those of all cores and rounds together.

Threads, clocks and checks are those of any run. Only what the compute units make of tiles is put
off: pages that the packer fills are descriptions (`values`), which travel as tiles do
(`Memory.late`), and NumPy computes many that are alike at once, at the latest when somebody looks
at their bytes, or when the program ends. That changes no bit, and takes device numerics, which
need many steps for each number, a part of the time.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.calls.lanes_api import COMPUTED
from ttmlir.sim.calls.unpack_api import Source, UnpackApi
from ttmlir.sim.execution.scheduler import KernelThread
from ttmlir.sim.groups import group_run
from ttmlir.sim.groups.descriptions import DescribedHalf, DescribingMath, DescribingPack
from ttmlir.sim.groups.group_run import RunnableProgram
from ttmlir.sim.groups.tracing import CALLS
from ttmlir.sim.groups.values import (
    DEEPEST,
    Applied,
    Evaluation,
    Operand,
    Pack,
    Packed,
    Page,
    Stored,
    Tile,
)
from ttmlir.sim.kernels import CompiledKernel
from ttmlir.sim.machine import memory
from ttmlir.sim.machine.device import Core, SimDevice
from ttmlir.sim.machine.memory import CircularBuffer, Memory
from ttmlir.sim.machine.numerics import INTEGERS, Register, tile_bytes
from ttmlir.sim.machine.registers import DestinationRegisters, Products
from ttmlir.sim.options import SimOptions

_MOST_PENDING = 1 << 13
"""So many tiles are computed together, so that descriptions do not fill the memory."""

_PAGE = -1
"""Where a tile keeps its page among what was made of it."""


def late_numbers(run: RunnableProgram) -> LateNumbers | None:
    """What comes late of a program whose cores are set up; None if nothing is to."""
    device, program = run.device, run.program
    options = device.options
    if options.numerics == "exact" or options.schedule_seed is not None or options.delay_copies:
        return None
    is_small = len(program.cores) < group_run.SMALLEST_GROUP
    if is_small or program.ethernet_channels or os.environ.get(group_run.SWITCH) == "0":
        return None
    for kernel in program.kernels:
        if kernel.role != Role.COMPUTE:
            continue
        for x, y in kernel.cores:
            core = device.core(x, y)
            if not _are_described(core) or not all(
                _can_be_described(role, run.compile_for(core, kernel, role))
                for role in kernel.roles
            ):
                return None
    return LateNumbers(device)


def _are_described(core: Core) -> bool:
    """Whether pages of all circular buffers can be."""
    return all(cb.data_format not in INTEGERS and cb.tile.is_whole for cb in core.cbs.values())


def _can_be_described(role: Role, kernel: CompiledKernel) -> bool:
    """Whether all that a compute kernel calls can be."""
    calls = set(kernel.bindings.values())
    return calls <= CALLS and not (role is Role.PACK and calls & COMPUTED)


class LateNumbers:
    """The pages of a program that are still to be computed."""

    def __init__(self, device: SimDevice) -> None:
        """None yet, in the memories of a device."""
        self._device = device
        self._evaluation = Evaluation(1, is_exact=False)
        self._pending: list[_LatePage] = []
        self._products = Products(Register.BF16, MathFidelity.HIFI4)
        self.packs: dict[tuple[object, ...], Pack] = {}
        """See `DescribingPack`: of all cores."""

    def give_halves(self, core: Core) -> None:
        """Have a core, whose registers are there, describe its tiles of DST."""
        dst = core.dst
        assert isinstance(dst, DestinationRegisters), "it was given just now"
        dst.use_halves(lambda: _LateHalf(self, self._products))

    def calls(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> _LateUnpack | _LateMath | _LatePack:
        """The calls of a thread of a compute kernel."""
        api = _APIS[thread.role](core, thread, options, settings)
        api.numbers = self
        if isinstance(api, _LatePack):
            api.packs = self.packs
        return api

    def page(self, place: Memory, address: int, size: int) -> Page:
        """The page at an address, as it is now."""
        tile = place.tiles.get(address)
        if tile is None or tile.size != size:
            place.read(address, size)
            tile = memory.Tile(size)
            place.hold(address, tile)
        if isinstance(tile.late, _LatePage):
            return tile.late
        page = tile.values.get(_PAGE)
        if page is None:
            data = np.frombuffer(bytes(place.read(address, size)), np.uint8)
            page = tile.values[_PAGE] = Stored(data)
        return page

    def put(self, place: Memory, address: int, page: _LatePage) -> None:
        """Put a page there that is to be computed."""
        place.put_late(address, memory.Tile(page.size, page))
        self._pending.append(page)
        if len(self._pending) >= _MOST_PENDING:
            self.settle()

    def settle(self) -> None:
        """Compute all pages, and put their bytes where they belong."""
        pages, self._pending = self._pending, []
        with np.errstate(all="ignore"):
            self._evaluation.compute(pages)
        late = [tile for memory in self._device.memories() for tile in memory.take_late()]
        for tile in late:
            if tile.holders and tile.late is not None:
                tile.values[_PAGE] = Stored(tile.late.read()[0])
            tile.late = None

    def finish(self) -> None:
        """The threads have ended, or stopped: compute all pages, and keep nothing of them."""
        self.settle()
        self._evaluation = Evaluation(1, is_exact=False)

    def compute(self, tile: Tile) -> Tile:
        """A tile of DST whose numbers are known."""
        self.settle()
        numbers = self._evaluation.find(tile)
        return Applied(lambda: numbers, object())


class _LatePage(Packed):
    """A page that is to be computed."""

    __slots__ = ("_numbers",)

    def __init__(
        self,
        node: Tile,
        data_type: DataType,
        pack: Pack,
        onto: Page | None,
        numbers: LateNumbers,
    ) -> None:
        """See `Packed`; `numbers` are all that come late."""
        super().__init__(node, data_type, pack, onto)
        self._numbers = numbers

    def settle(self) -> None:
        """See `LateBytes`."""
        self._numbers.settle()


class _LateHalf(DescribedHalf):
    """A half of DST."""

    __slots__ = ("_numbers",)

    def __init__(self, numbers: LateNumbers, products: Products) -> None:
        super().__init__(products)
        self._numbers = numbers

    def faces(self, index: int) -> Any:
        """A tile as it is now, made of not too many others."""
        tile = super().faces(index)
        if tile.depth >= DEEPEST - 1:
            tile = self.values[index] = self._numbers.compute(tile)
        return tile


class _LateUnpack(UnpackApi):
    """The calls of UNPACK."""

    numbers: LateNumbers

    def _new_source(self, cb: CircularBuffer, register: Register) -> Source:
        source = super()._new_source(cb, register)
        reader, page, l1 = source.reader, self.numbers.page, self.core.l1

        def describe(address: int, form: int) -> Operand:
            return Operand(page(l1, address, reader.size), reader, form)

        source.read = describe
        return source


class _LateMath(DescribingMath):
    """The calls of MATH."""

    numbers: LateNumbers


class _LatePack(DescribingPack):
    """The calls of PACK."""

    numbers: LateNumbers

    def _write(self, cb: CircularBuffer, page: int, data: Any) -> None:
        address = cb.wr_ptr + page * cb.page_size
        size = tile_bytes(cb.data_format)
        if address + size > cb.limit or address < cb.address:
            raise self._beyond(cb, page)
        if self.watch is not None:
            self.watch.write(self.l1, address, size, self.thread)
        numbers = self.numbers
        onto = numbers.page(self.l1, address, size) if self._accumulates else None
        tile, pack = data
        numbers.put(self.l1, address, _LatePage(tile, cb.data_format, pack, onto, numbers))


_APIS = {Role.UNPACK: _LateUnpack, Role.MATH: _LateMath, Role.PACK: _LatePack}
