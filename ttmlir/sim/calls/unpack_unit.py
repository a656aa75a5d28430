"""The unpackers: tiles of circular buffers as SrcA and SrcB hold them.

What the calls of the UNPACK thread are made of. Source: tt-llk, llk_unpack_{A,AB,AB_matmul}.h.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttmlir.layout.enums import DataType
from ttmlir.layout.tile import repeated_bytes
from ttmlir.sim.calls.compute_api import ComputeApi, ComputeSettings
from ttmlir.sim.execution.thread import KernelThread
from ttmlir.sim.machine import numerics
from ttmlir.sim.machine.circular_buffer import CircularBuffer
from ttmlir.sim.machine.core import Core
from ttmlir.sim.machine.numerics import Register
from ttmlir.sim.machine.tile_reader import ARRANGEMENT, Arrangement, TileReader, Use
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.costs import matmul_unpack_cycles, unpack_cycles

_PARTS = {
    int(Arrangement.COLUMN): "col",
    int(Arrangement.ROW): "row",
    int(Arrangement.SCALAR): "scalar",
}

NUMBERS = int(Use.NUMBERS)
ELEMENTWISE, FACTORS = 0, 1 << 16
"""What two buffers are read for: sums and the like, or a product of matrices."""


class Source:
    """A circular buffer that the unpacker reads."""

    __slots__ = ("cb", "data_type", "operands", "parts", "read", "reader", "size")

    def __init__(self, cb: CircularBuffer, reader: TileReader, operands: int) -> None:
        """`operands` is the use of its tiles in elementwise operations."""
        self.cb = cb
        self.operands = operands
        self.data_type = cb.data_format
        self.reader = reader
        self.read = reader.read
        self.size = reader.size
        self.parts = _parts_of(reader.size)
        """By arrangement: the bytes of a tile that count, if not all do."""


def _parts_of(size: int) -> dict[int, Sequence[tuple[int, int]]]:
    """For tiles of so many bytes; numbers of block floats share exponents, so all count."""
    element_bytes, rest = divmod(size, 32 * 32)
    if rest:
        return {}
    return {part: repeated_bytes(name, element_bytes) for part, name in _PARTS.items()}


class UnpackUnit(ComputeApi):
    """The unpackers of a core, as the UNPACK thread sets them up."""

    def __init__(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> None:
        """The unpacker, not yet configured."""
        super().__init__(core, thread, options, settings)
        self._formats = frozenset(cb.data_format for cb in core.cbs.values())
        self._sources: dict[int, Source] = {}
        self._copies: dict[int, Source] = {}
        self._format_a: DataType | None = None
        self._format_b: DataType | None = None
        self.tiles_unpacked = 0
        self._pairs: dict[int, tuple[Source, Source, int, int]] = {}
        """Operands whose formats were checked, and cycles to unpack them: elementwise, as factors;
        by their buffers."""
        self._transposed = 0
        self._transposed_copy = 0
        self._block = (1, 1, 1)
        """`ct_dim`, `rt_dim` and `kt_dim` of the products that were prepared."""
        self._strip_call = ""
        """`tilize_block` or `untilize_block`, while the unpackers are set up for rows."""
        self._strip_tiles = 0
        self._rows: Any = None
        """What `untilize_block` is about to copy."""

    def counters(self) -> dict[str, int]:
        """What the thread has done."""
        return {**super().counters(), "tiles unpacked": self.tiles_unpacked}

    # --- Configuration --------------------------------------------------------------------------

    def reconfigured(self) -> None:
        """Account for a call that only writes configuration, and check formats anew."""
        self._pairs.clear()
        super().reconfigured()

    def _configure(self, a: int, b: int) -> None:
        self._strip_call = ""
        self._format_a = self.cbs[a].data_format
        self._format_b = self.cbs[b].data_format
        self._transposed_copy = 0
        self.reconfigured()

    def _check_tiles(self, own: str = "") -> None:
        """Find fault with unpackers that are still set up for rows, by another call than `own`."""
        call = self._strip_call
        if call not in ("", own):
            self.report(
                "init",
                f"the unpackers are still set up for {call}; call "
                f"{call.replace('block', 'uninit')} before other tiles are unpacked",
            )

    # --- Reading tiles --------------------------------------------------------------------------

    def _source(self, index: int) -> Source:
        """The buffer as the source of operands."""
        source = self._sources.get(index)
        if source is None:
            cb = self.cbs[index]
            wide = self.settings.fp32_dest_acc_en
            register = numerics.source_register(cb.data_format, self._formats, wide=wide)
            self._check_width(cb)
            source = self._new_source(cb, register)
            self._sources[index] = source
        return source

    def _copy_source(self, index: int) -> Source:
        """The buffer as the source of copies to DST."""
        source = self._copies.get(index)
        if source is None:
            source = self._source(index)
            direct = index in self.settings.unpack_to_dest and self.settings.fp32_dest_acc_en
            if direct and source.data_type is DataType.F32:
                source = self._new_source(source.cb, Register.FP32)
            self._copies[index] = source
        return source

    def _new_source(self, cb: CircularBuffer, register: Register) -> Source:
        reader = TileReader(self.core.l1, cb.data_format, register, exact=self.exact)
        flushed = register is Register.FP16 and not self.exact
        return Source(cb, reader, int(Use.OPERANDS) if flushed else NUMBERS)

    def _check_width(self, cb: CircularBuffer) -> None:
        narrow = not self.settings.fp32_dest_acc_en and not self.exact
        if narrow and cb.data_format is DataType.U32:
            self.report(
                "format",
                f"circular buffer {cb.index} holds 32-bit integers, which a DST of 16 bits cannot: "
                "compile the kernel with fp32_dest_acc_en",
            )

    def _tile(self, source: Source, index: int, form: int) -> Any:
        """The tile `index` pages behind the read pointer of a buffer."""
        if self._strip_call:
            self._check_tiles()
        return self._page(source, index, form)

    def _page(self, source: Source, index: int, form: int) -> Any:
        cb = source.cb
        address = cb.rd_ptr + index * cb.page_size
        if address + source.size > cb.limit:
            raise self._beyond(source, index)
        if self.watch is not None:
            for first, size in source.parts.get(form & ARRANGEMENT, ((0, source.size),)):
                self.watch.read(self.core.l1, address + first, size, self.thread)
        self.tiles_unpacked += 1
        return source.read(address, form)

    def _beyond(self, source: Source, index: int) -> Exception:
        cb = source.cb
        ahead = (cb.limit - cb.rd_ptr) // cb.page_size
        return self.thread.error(
            f"tile {index} of circular buffer {cb.index} lies behind its end: {ahead} of its "
            f"{cb.num_pages} pages are left behind the read pointer, and a tile of "
            f"{source.data_type.schema_name} takes {source.size} bytes",
            rule="cb-bounds",
            detail=(cb.state(),),
        )

    def _check_a(self, source: Source) -> None:
        self.check_format(
            source.cb, self._format_a, "the unpacker of SrcA", "reconfig_data_format_srca"
        )

    def _check_b(self, source: Source) -> None:
        self.check_format(
            source.cb, self._format_b, "the unpacker of SrcB", "reconfig_data_format_srcb"
        )

    def _fill(self, a: Any, b: Any, cycles: int) -> None:
        """Fill the bank that is free."""
        src = self.src
        if self.watch is not None:
            self.watch.put(self.thread, self.src_key)
        if not self.timed:
            src.fill(a, b, 0)
            return
        thread = self.thread
        free = src.freed[0]
        if free > thread.clock:
            thread.wait_until(free, "src")
        thread.clock += cycles
        src.fill(a, b, thread.clock)

    def _one(self, cb: int, index: int, arrangement: int = 0) -> bool:
        """Fill SrcA with a tile to be copied."""
        if not self.src.can_fill(self.thread):
            return False
        source = self._copy_source(cb)
        if source.data_type is not self._format_a:
            self._check_a(source)
        tile = self._tile(source, index, NUMBERS + arrangement)
        self._fill(tile, None, unpack_cycles(source.data_type))
        return True

    def _two(self, in0: int, in1: int, index0: int, index1: int, arrangement: int = 0) -> bool:
        """Fill SrcA and SrcB with the operands of an elementwise operation."""
        if not self.src.freed and not self.src.can_fill(self.thread):
            return False
        pair = self._pairs.get(in0 << 8 | in1)
        first, second, cycles, _ = pair or self._pair(in0, in1, ELEMENTWISE)
        if self._strip_call:
            self._check_tiles()
        a = self._page(first, index0, first.operands)
        b = self._page(second, index1, second.operands + arrangement)
        self._fill(a, b, cycles)
        return True

    def _pair(self, in0: int, in1: int, use: int) -> tuple[Source, Source, int, int]:
        """Two buffers, after a look at their formats."""
        first, second = self._source(in0), self._source(in1)
        a, b = (second, first) if use == FACTORS else (first, second)
        if a.data_type is not self._format_a:
            self._check_a(a)
        if b.data_type is not self._format_b:
            self._check_b(b)
        types = first.data_type, second.data_type
        pair = (first, second, unpack_cycles(*types), matmul_unpack_cycles(*types))
        self._pairs[use | in0 << 8 | in1] = pair
        return pair
