"""The calls of the UNPACK thread: tiles of circular buffers go to SrcA and SrcB.

Elementwise operations take in0 in SrcA and in1 in SrcB, matrix products the other way round; copies
and transpositions use SrcA alone. Source: tt-llk, llk_unpack_{A,AB,AB_matmul,tilize,untilize}.h.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.layout.data_format import repeated_bytes
from ttmlir.layout.enums import Arch, DataType
from ttmlir.sim.calls.compute_api import ComputeApi, ComputeSettings
from ttmlir.sim.calls.kernel_api import Template, kernel_call
from ttmlir.sim.calls.remote_buffer_api import RemoteBufferCalls
from ttmlir.sim.errors import Finding
from ttmlir.sim.execution.scheduler import KernelThread
from ttmlir.sim.machine import numerics
from ttmlir.sim.machine.device import Core
from ttmlir.sim.machine.memory import CircularBuffer, Memory, Tile
from ttmlir.sim.machine.numerics import (
    K_STEP,
    Register,
    faces_of_rows,
    rows_of_faces,
    rows_of_tiles,
)
from ttmlir.sim.machine.registers import SOURCE_BANKS, Poison
from ttmlir.sim.machine.tile_shapes import WHOLE, TileShape
from ttmlir.sim.options import SimOptions
from ttmlir.sim.sanitizer.sanitizer import Sanitizer
from ttmlir.sim.timing.costs import (
    lost_to_networks,
    matmul_unpack_cycles,
    streamed_cycles,
    tile_bytes,
    tilize_unpack_cycles,
    unpack_cycles,
    untilize_cycles,
)

# --- Tile reader ----------------------------------------------------------------------------------
# How the unpacker reads tiles: bytes in L1 become what the matrix unit computes with.
#
# The same tile is read many times in a matrix product, so what was made of it is kept with the tile
# (`Memory.tiles`) until its bytes are written, for all memories that it was copied to.

Array = NDArray[Any]


class Arrangement(IntEnum):
    """Where the numbers of a tile go on the way to a source register."""

    PLAIN = 0
    TRANSPOSED = 1
    COLUMN = 2
    """Column 0 in all columns."""
    ROW = 3
    """Row 0 in all rows."""
    SCALAR = 4
    """The first number everywhere."""


ARRANGEMENT = 7
"""The bits of a form that are the arrangement; the others are the use."""


class Use(IntEnum):
    """What a tile in a source register is for."""

    NUMBERS = 0
    """Its numbers, to be copied or combined with others: float32 or int32, in memory order."""
    FACTOR_A = 8
    """The second factor of a matrix product."""
    FACTOR_B = 16
    """The first factor of a matrix product."""
    OPERANDS = 32
    """As NUMBERS, but without the denormal numbers of FP16, which the matrix unit takes for 0."""
    SCALER = 24
    """The factors of a reduction: the first row of the first face."""


_FACTORS = frozenset({Use.FACTOR_A, Use.FACTOR_B, Use.SCALER})
_KEPT_FACTORS = 2048
"""Factors that are kept for all cores, each of 20 KiB; the oldest go."""


class TileReader:
    """Reads tiles of one format from the L1 of one core."""

    __slots__ = (
        *("_exact", "_memory", "_register", "_values", "bits_of", "data_type", "size", "tile"),
        "variant",
    )

    def __init__(
        self,
        memory: Memory,
        data_type: DataType,
        register: Register,
        *,
        exact: bool,
        tile: TileShape = WHOLE,
        bits_of: Arch | None = None,
    ) -> None:
        """Tiles stored as `data_type` for source registers of format `register`.

        `exact` keeps all bits of the numbers instead; `bits_of` is that of factors.
        """
        self._memory = memory
        self.data_type = data_type
        self._register = register
        self._exact = exact
        self.bits_of = bits_of
        self._values = _reader(data_type, register, exact=exact)
        self.variant = (data_type << 3 | register.value) << 6
        self.tile = tile
        self.size = tile_bytes(data_type) if tile.is_whole else tile.size_moved(data_type)

    def read(self, address: int, form: int) -> Any:
        """The tile at an address, for a use in an arrangement: `Use.NUMBERS + Arrangement.ROW`."""
        tile = self._memory.tiles.get(address)
        if tile is None or tile.size != self.size:
            self._memory.ensure(address, self.size)
            tile = Tile(self.size)
            self._memory.hold(address, tile)
        key = self.variant | form
        value = tile.values.get(key)
        if value is None:
            data = self._memory.data[address : address + self.size]
            data = data if self.tile.is_whole else self.tile.widen(data)
            value = tile.values[key] = self._decode_once(data, form)
        return value

    def _decode_once(self, data: Array, form: int) -> Any:
        """What `decode` gives, which many cores ask for of copies of the same tile.

        Factors take longer to make than to find by the bytes of their tile.
        """
        if self._exact or form & ~ARRANGEMENT not in _FACTORS:
            return self.decode(data, form)
        factors = self._memory.factors
        key = self.variant | form, data.tobytes()
        value = factors.get(key)
        if value is None:
            value = self.decode(data, form)
            if len(factors) >= _KEPT_FACTORS:
                del factors[next(iter(factors))]
            factors[key] = value
        return value

    def decode(self, data: Array, form: int) -> Any:
        """What `read` gives for a tile of these bytes; shares no memory with them."""
        values = self._values(data)
        return self.arrange(values, form) if form else values

    def decode_all(self, data: Array, form: int) -> list[Any]:
        """What `decode` gives for each row of bytes."""
        use = form & ~ARRANGEMENT
        if use not in _FACTORS:
            return [self.decode(row, form) for row in data]
        if use == Use.SCALER and (data == data[0]).all():
            return [self.decode(data[0], form)] * len(data)
        return self._factors(np.ascontiguousarray(self._rows(data, form)), use)

    def decode_rows(self, data: Array, form: int) -> Array:
        """The numbers of `decode`, also those of factors, as 32 rows for each row of bytes."""
        rows = self._rows(data, form)
        if form & ~ARRANGEMENT in (Use.OPERANDS, Use.FACTOR_A, Use.FACTOR_B):
            rows = numerics.operand(rows, self._register).astype(np.float32)
        return rows

    def _rows(self, data: Array, form: int) -> Array:
        """Numbers in an arrangement."""
        if self.data_type in numerics.BLOCK_FLOATS:
            values = np.stack([self._values(row) for row in data])
        else:
            values = self._values(data.reshape(-1))
        rows = rows_of_tiles(values)
        arrangement = form & ARRANGEMENT
        return _arrange(rows, arrangement) if arrangement else rows

    def arrange(self, values: Array, form: int) -> Any:
        """Numbers of a source register, in the order of memory, for a use in an arrangement."""
        arrangement = form & ARRANGEMENT
        if arrangement:
            values = faces_of_rows(_arrange(rows_of_faces(values), arrangement))
        match form & ~ARRANGEMENT:
            case Use.NUMBERS:
                return values
            case Use.OPERANDS:
                return numerics.operand(values, self._register).astype(np.float32)
            case use:
                return self._factors(rows_of_faces(values)[None], use)[0]

    def _factors(self, rows: Array, use: int) -> list[Any]:
        """Factors of tiles of numbers."""
        if use == Use.SCALER:
            first = np.tile(rows[:, 0, :K_STEP], 2)
            rows = np.zeros(rows.shape, rows.dtype)
            rows[:, 0] = first
        if self._exact or self._register is Register.INTEGER:
            return [*rows]
        factors = numerics.factors_a if use == Use.FACTOR_A else numerics.factors_b
        return factors(numerics.operand(rows, self._register), self.bits_of)


def _reader(data_type: DataType, register: Register, *, exact: bool) -> Callable[[Array], Array]:
    """A function of the bytes of a tile: its numbers in a source register, copied."""
    if exact:
        return numerics.ieee_reader(data_type)
    stored = numerics.l1_reader(data_type)
    if data_type is not DataType.F32:
        return stored
    if register is Register.FP32:
        return lambda data: stored(data).copy()
    return lambda data: numerics.to_source(stored(data), register)


def _arrange(rows: Array, arrangement: int) -> Array:
    match arrangement:
        case Arrangement.TRANSPOSED:
            return rows.swapaxes(-1, -2)
        case Arrangement.COLUMN:
            part = rows[..., :1]
        case Arrangement.ROW:
            part = rows[..., :1, :]
        case _:
            part = rows[..., :1, :1]
    return np.broadcast_to(part, rows.shape)


# --- Unpack unit ----------------------------------------------------------------------------------
# The unpackers: tiles of circular buffers as SrcA and SrcB hold them.
#
# What the calls of the UNPACK thread are made of. Source: tt-llk, llk_unpack_{A,AB,AB_matmul}.h.

_PARTS = {
    int(Arrangement.COLUMN): "col",
    int(Arrangement.ROW): "row",
    int(Arrangement.SCALAR): "scalar",
}

NUMBERS = int(Use.NUMBERS)
_FOLLOWED = (Use.NUMBERS, Use.OPERANDS, Use.FACTOR_A, Use.FACTOR_B, Use.SCALER)
"""Uses in which each number stays in its place, or in its row or column, or decides all."""
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
        self.parts = _parts_of(reader.size) if reader.tile.is_whole else {}
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
        self._idle_since = 0
        """When the last call was done."""
        self._pairs: dict[int, tuple[Source, Source, int, int]] = {}
        """Operands whose formats were checked, and cycles to unpack them: elementwise, as factors;
        by their buffers."""
        self._transposed = 0
        self._transposed_copy = 0
        self._block = (1, 1, 1)
        self._column_stride = 1
        """Pages from one tile of in1 to the next one in `matmul_block`."""
        """`ct_dim`, `rt_dim` and `kt_dim` of the products that were prepared."""
        self._strip_call = ""
        """`tilize_block` or `untilize_block`, while the unpackers are set up for rows."""
        self._strip_tiles = 0
        self._rows: Any = None
        """What `untilize_block` is about to copy."""
        self._poison: Poison | None = None
        """Which numbers nobody wrote of the tiles that the next bank gets."""

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
        reader = TileReader(
            *(self.core.l1, cb.data_format, register),
            exact=self.exact,
            tile=cb.tile,
            bits_of=self.core.chip.arch if self.options.card_bits else None,
        )
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
        """The tile `index` pages after the read pointer of a buffer."""
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
                found = self.watch.read_tile(self.core.l1, address + first, size, self.thread)
                if found is not None:
                    self._take_poison(found, source, address, form)
        self.tiles_unpacked += 1
        return source.read(address, form)

    def _take_poison(self, found: Finding, source: Source, address: int, form: int) -> None:
        """Note which numbers of a tile nobody wrote; where all decide, tell of it."""
        watch = self.watch
        assert isinstance(watch, Sanitizer), "others read no such bytes"
        use, arrangement = form & ~ARRANGEMENT, form & ARRANGEMENT
        if use not in _FOLLOWED or not source.parts:
            watch.report(found)
            return
        lanes = watch.unwritten_parts(self.core.l1, address, source.size, 32 * 32)
        if use == Use.SCALER:
            lanes[:] = lanes[:K_STEP].any()
        elif arrangement or use in _FACTORS:
            rows = rows_of_faces(lanes)
            rows = _arrange(rows, arrangement) if arrangement else rows
            if use in _FACTORS:
                # Each number of a product takes a row of the first factor, a column of the other.
                parts = rows.any(0 if use == Use.FACTOR_A else 1, keepdims=True)
                rows = np.broadcast_to(parts, rows.shape)
            lanes = faces_of_rows(rows)
        if lanes.any():
            self._poison = Poison(lanes, (found,), watch).joined(self._poison)

    def _check_whole(self, source: Source, call: str) -> None:
        """Refuse what tiles of fewer rows are not prepared for."""
        if not source.cb.tile.is_whole:
            raise self.thread.error(
                f"{call} of tiles of {source.cb.tile.rows} rows, those of circular buffer "
                f"{source.cb.index}, is not supported; whole tiles are",
                rule="format",
            )

    def _beyond(self, source: Source, index: int) -> Exception:
        cb = source.cb
        ahead = (cb.limit - cb.rd_ptr) // cb.page_size
        return self.thread.error(
            f"tile {index} of circular buffer {cb.index} lies past its end: {ahead} of its "
            f"{cb.num_pages} pages are left after the read pointer, and a tile of "
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

    def _fill(self, a: Any, b: Any, cycles: int, first: int = 0, banks: int = 1) -> None:
        """Fill the bank that is free; the first operands of several are there after `first`."""
        src = self.src
        poison, self._poison = self._poison, None
        if self.watch is not None:
            self.watch.put(self.thread, self.src_key)
        if not self.timed:
            src.fill(a, b, 0, 0, banks, poison)
            return
        thread = self.thread
        free = src.freed[0]
        if free > thread.clock:
            thread.wait_until(free, "src")
        begin = thread.clock
        if self.core.passed:
            idle = begin - self._idle_since
            lost, self.core.passed = lost_to_networks(self.core.passed, idle, cycles)
            cycles += lost
        self._idle_since = begin + cycles
        thread.occupy(cycles)
        last = begin + cycles
        src.fill(a, b, begin + first if first else last, last, banks, poison)

    def _one(self, cb: int, index: int, arrangement: int = 0) -> bool:
        """Fill SrcA with a tile to be copied."""
        if not self.src.can_fill(self.thread):
            return False
        source = self._copy_source(cb)
        if source.data_type is not self._format_a:
            self._check_a(source)
        if arrangement == _TRANSPOSED:
            self._check_whole(source, "a transposition")
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


# --- The API of UNPACK ----------------------------------------------------------------------------

BROADCASTS = (Arrangement.PLAIN, Arrangement.COLUMN, Arrangement.ROW, Arrangement.SCALAR)
"""What each number of tt-metal's BroadcastType does: NONE, COL, ROW, SCALAR."""

REDUCE_ROW, REDUCE_COL, REDUCE_SCALAR = 0, 1, 2
"""Numbers of tt-metal's ReduceDim."""

POOL_MAX = 2
"""Number of PoolType::MAX; SUM is 0, AVG 1."""

_FACTOR_A = int(Use.FACTOR_A)
_FACTOR_B = int(Use.FACTOR_B)
_SCALER = int(Use.SCALER)
_TRANSPOSED = int(Arrangement.TRANSPOSED)


class UnpackApi(RemoteBufferCalls, UnpackUnit):
    """Calls of the UNPACK thread, which waits for what others send, too."""

    # --- Configuration --------------------------------------------------------------------------

    @kernel_call()
    def compute_kernel_hw_startup(
        self, in0: int, in1: int, out: int | None = None, *, template: Template = ()
    ) -> None:
        """Take the formats of SrcA and SrcB from in0 and in1 (of in0 alone if two are given).

        With SrcOrder::Reverse, for products of matrices, from in1 and in0.
        """
        first, second = in0, in0 if out is None else in1
        if template and template[0]:
            first, second = second, first
        self._configure(first, second)

    @kernel_call()
    def binary_op_init_common(self, in0: int, in1: int, out: int) -> None:
        """Take the formats of SrcA and SrcB from in0 and in1."""
        self._configure(in0, in1)

    @kernel_call()
    def init_bcast(self, in0: int, in1: int, out: int, *, template: Template = ()) -> None:
        """Take the formats of SrcA and SrcB from in0 and in1."""
        self._configure(in0, in1)

    @kernel_call()
    def unary_op_init_common(self, cb: int, out: int) -> None:
        """Take the format of SrcA, and of SrcB, from one buffer."""
        self._configure(cb, cb)

    init_sfpu = unary_op_init_common

    @kernel_call()
    def unary_bcast_init(self, cb: int, out: int | None = None, *, template: Template = ()) -> None:
        """Take the format of SrcA and SrcB from one buffer; since 2026 they stay as they are."""
        if out is not None:
            self._configure(cb, cb)

    @kernel_call()
    def transpose_wh_init(self, cb: int, out: int) -> None:
        """Take the format of SrcA and SrcB from one buffer."""
        self._configure(cb, cb)

    @kernel_call()
    def tilize_init(self, cb: int, tiles: int, out: int) -> None:
        """Take the format of SrcA and SrcB from one buffer; make tiles of rows."""
        self._check_tiles("tilize_block")
        self._configure(cb, cb)
        self._strip_call, self._strip_tiles = "tilize_block", tiles

    fast_tilize_init_with_dt = tilize_init

    @kernel_call()
    def fast_tilize_init(self, cb: int, full_dim: int, out: int) -> None:
        """Make tiles of rows, whose format the unpackers know."""
        self._check_tiles("tilize_block")
        self._source(cb)
        self._strip_call, self._strip_tiles = "tilize_block", full_dim
        self.reconfigured()

    @kernel_call()
    def untilize_init(self, cb: int, out: int = 16) -> None:
        """Take the format of SrcA and SrcB from one buffer; make rows of tiles."""
        self._check_tiles("untilize_block")
        self._configure(cb, cb)
        self._strip_call = "untilize_block"

    @kernel_call()
    def pack_untilize_init(self, cb: int, out: int, *, template: Template = ()) -> None:
        """Take the format of SrcA and SrcB from one buffer."""
        self._configure(cb, cb)

    @kernel_call()
    def reduce_init(self, cb: int, scaler: int, out: int, *, template: Template = ()) -> None:
        """Take the formats of SrcA and SrcB from the tiles and the scaler."""
        self._configure(cb, scaler)

    @kernel_call()
    def mm_init(self, in0: int, in1: int, out: int = 16, transpose: int = 0) -> None:
        """Take the formats of SrcA and SrcB from in1 and in0."""
        self._configure(in1, in0)
        self._transposed = transpose

    @kernel_call()
    def mm_block_init(
        self,
        in0: int,
        in1: int,
        out: int = 16,
        transpose: int = 0,
        ct_dim: int = 1,
        rt_dim: int = 1,
        kt_dim: int = 1,
    ) -> None:
        """Take the formats of SrcA and SrcB from in1 and in0."""
        self.mm_init(in0, in1, out, transpose)
        self._block = (ct_dim, rt_dim, kt_dim)

    @kernel_call()
    def mm_init_short(self, in0: int, in1: int, transpose: int = 0) -> None:
        """Prepare matrix products without changing formats."""
        self._transposed = transpose
        self._column_stride = 1
        self.reconfigured()

    @kernel_call()
    def mm_block_init_short(
        self, in0: int, in1: int, transpose: int = 0, ct_dim: int = 1, rt_dim: int = 1, kt: int = 1
    ) -> None:
        """Prepare matrix products of blocks without changing formats."""
        self.mm_init_short(in0, in1, transpose)
        self._block = (ct_dim, rt_dim, kt)

    @kernel_call(waits=True)
    def builtin_unpack_wait(self, number: int) -> bool:
        """Wait until a semaphore of the units is not zero."""
        return self.t6_semaphore_wait_on_zero(number)

    @kernel_call()
    def builtin_unpack_get(self, number: int) -> None:
        """Take one from it."""
        self.t6_semaphore_get(number)

    @kernel_call()
    def matmul_set_in1_column_stride(self, in1: int, stride: int) -> None:
        """Take tiles of in1 so many pages apart."""
        self._column_stride = stride
        self.reconfigured()

    @kernel_call()
    def mm_init_short_with_dt(self, in0: int, in1: int, old: int, transpose: int = 0) -> None:
        """Prepare matrix products, with the format of SrcA taken from in1."""
        self._source(old)
        self._format_a = self.cbs[in1].data_format
        self.mm_init_short(in0, in1, transpose)

    @kernel_call()
    def mm_block_init_short_with_dt(
        self,
        in0: int,
        in1: int,
        old: int,
        transpose: int = 0,
        ct_dim: int = 1,
        rt_dim: int = 1,
        kt_dim: int = 1,
    ) -> None:
        """Prepare matrix products of blocks, with the format of SrcA taken from in1."""
        self.mm_init_short_with_dt(in0, in1, old, transpose)
        self._block = (ct_dim, rt_dim, kt_dim)

    @kernel_call()
    def mm_block_init_short_with_both_dt(
        self,
        in0: int,
        in1: int,
        old_in0: int,
        old_in1: int,
        transpose: int = 0,
        ct_dim: int = 1,
        rt_dim: int = 1,
        kt_dim: int = 1,
    ) -> None:
        """Prepare matrix products of blocks, with both formats taken from in1 and in0."""
        self._source(old_in0)
        self._format_b = self.cbs[in0].data_format
        self.mm_block_init_short_with_dt(in0, in1, old_in1, transpose, ct_dim, rt_dim, kt_dim)

    @kernel_call()
    def reconfig_data_format(self, *buffers: int, template: Template = ()) -> None:
        """Take the formats of SrcA and SrcB from buffers: (a, b), or (old a, a, old b, b)."""
        a, b = buffers if len(buffers) == 2 else (buffers[1], buffers[3])
        self._format_a = self.cbs[a].data_format
        self._format_b = self.cbs[b].data_format
        self.reconfigured()

    @kernel_call()
    def reconfig_data_format_srca(self, *buffers: int, template: Template = ()) -> None:
        """Take the format of SrcA from a buffer, the last one given."""
        self._format_a = self.cbs[buffers[-1]].data_format
        self.reconfigured()

    @kernel_call()
    def reconfig_data_format_srcb(self, *buffers: int, template: Template = ()) -> None:
        """Take the format of SrcB from a buffer, the last one given."""
        self._format_b = self.cbs[buffers[-1]].data_format
        self.reconfigured()

    @kernel_call()
    def copy_tile_init(self, cb: int) -> None:
        """Prepare copies."""
        self._source(cb)
        self._transposed_copy = 0
        self.reconfigured()

    @kernel_call()
    def copy_tile_to_dst_init_short(
        self,
        cb: int = 0,
        transpose: int = 0,
        transpose_within_16x16_face: int = 0,
        call_line: int = 0,
    ) -> None:
        """Prepare copies, transposed if so asked."""
        self._source(cb)
        self._transposed_copy = _TRANSPOSED if transpose else 0
        self.reconfigured()

    @kernel_call()
    def copy_tile_to_dst_init_short_with_dt(self, old: int, cb: int, transpose: int = 0) -> None:
        """Prepare copies, with the format of SrcA taken from the second buffer."""
        self._source(old)
        self._format_a = self.cbs[cb].data_format
        self.copy_tile_to_dst_init_short(cb, transpose)

    @kernel_call()
    def tilize_init_short_with_dt(self, old: int, cb: int, tiles: int, out: int) -> None:
        """Prepare tilizing, with the format of SrcA taken from the second buffer."""
        self._check_tiles("tilize_block")
        self._strip_call, self._strip_tiles = "tilize_block", tiles
        self._format_a = self.cbs[cb].data_format
        self.reconfigured()

    @kernel_call()
    def tilize_uninit_with_dt(self, old: int, new: int, out: int) -> None:
        """End tilizing, with the format of SrcA taken from the second buffer."""
        self._strip_call = ""
        self._format_a = self.cbs[new].data_format
        self.reconfigured()

    @kernel_call()
    def _prepare(self, *buffers: int, template: Template = ()) -> None:
        """Choose the program of the unpackers."""
        for each in buffers:
            _ = self.cbs[each]  # which is an error for one that does not exist
        self.reconfigured()

    @kernel_call()
    def tilize_uninit(self, *buffers: int) -> None:
        """Unpack tiles again."""
        self._strip_call = ""
        self._prepare(*buffers)

    untilize_uninit = unpack_tilizeA_B_uninit = tilize_uninit

    @kernel_call()
    def fast_tilize_uninit(self, in_cb: int, out_cb: int, width: int = 0) -> None:
        """Unpack tiles again; kernels of 2026 also give the tiles of a row."""
        self._strip_call = ""
        self._prepare(in_cb, out_cb)

    @kernel_call()
    def add_tiles_init(
        self, in0: int = 0, in1: int = 1, acc_to_dest: int = 0, call_line: int = 0
    ) -> None:
        """Choose the program of the unpackers for tiles of these buffers."""
        self._source(in0)
        self._source(in1)
        self.reconfigured()

    sub_tiles_init = mul_tiles_init = add_tiles_init

    @kernel_call()
    def binary_tiles_init(
        self, in0: int, in1: int, acc_to_dest: int = 0, *, template: Template = ()
    ) -> None:
        """Choose the program of the unpackers, if so asked."""
        if template and template[0]:
            self.add_tiles_init(in0, in1)

    @kernel_call()
    def binary_op_specific_init(self, *, template: Template = ()) -> None:
        """Choose the program of the unpackers, if so asked."""
        self.reconfigured()

    @kernel_call()
    def tensix_sync(self) -> None:
        """Wait for nothing: what the thread asked for is done when a call returns."""

    binary_dest_reuse_tiles_init = _prepare
    add_bcast_rows_init_short = add_bcast_cols_init_short = add_bcast_scalar_init_short = _prepare
    sub_bcast_rows_init_short = sub_bcast_cols_init_short = _prepare
    sub_tiles_bcast_scalar_init_short = mul_tiles_bcast_scalar_init_short = _prepare
    mul_bcast_rows_init_short = mul_bcast_cols_init_short = _prepare
    transpose_wh_init_short = _prepare
    pack_untilize_uninit = pack_untilize_dest_init = _prepare
    bcast_init = unary_bcast_uninit = _prepare
    add_reuse_dest_init = sub_reuse_dest_init = mul_reuse_dest_init = _prepare

    @kernel_call()
    def reduce_init_delta(self, *buffers: int, template: Template = ()) -> None:
        """Choose the program of the unpackers."""
        self.reconfigured()

    # --- Calls that read tiles ------------------------------------------------------------------

    @kernel_call(waits=True)
    def copy_tile(self, cb: int, index: int, dst: int) -> bool:
        """A tile to SrcA."""
        return self._one(cb, index, self._transposed_copy)

    @kernel_call(waits=True)
    def triangle_solve_tile(
        self, cb: int, index: int, right: int, out: int, *, template: Template = ()
    ) -> bool:
        """A tile of numbers that the MATH thread reads, with all their bits."""
        if not self.src.can_fill(self.thread):
            return False
        buffer = self.cbs[cb]
        is_short = bool(template and template[0])
        if buffer.data_format is not (DataType.BF16 if is_short else DataType.F32):
            self.report(
                "format",
                f"circular buffer {cb} holds {buffer.data_format.schema_name}, which is not the "
                "format that triangle_solve_tile is called with",
            )
        source = self._new_source(buffer, Register.FP32)
        self._fill(self._tile(source, index, NUMBERS), None, 0)
        return True

    @kernel_call()
    def get_tile_l1_byte_address(self, cb: int, index: int) -> int:
        """Where in L1 a filled tile is."""
        return self._tile_address(cb, index, 0)

    @kernel_call(waits=True)
    def copy_block_matmul_partials(self, cb: int, index: int, dst: int, tiles: int) -> bool:
        """So many tiles to SrcA, one after another."""
        while self.done < tiles:
            if not self._one(cb, index + self.done):
                return False
            self.done += 1
        self.done = 0
        return True

    @kernel_call(waits=True)
    def transpose_wh_tile(self, cb: int, index: int, dst: int) -> bool:
        """A tile to SrcA, transposed."""
        return self._one(cb, index, _TRANSPOSED)

    @kernel_call(waits=True)
    def unary_bcast(self, cb: int, index: int, dst: int, *, template: Template = ()) -> bool:
        """A part of a tile, spread over SrcB."""
        (part,) = self.numbers_of("unary_bcast", template, 1)
        return self._one(cb, index, BROADCASTS[part])

    @kernel_call(waits=True)
    def add_tiles(self, in0: int, in1: int, index0: int, index1: int, dst: int) -> bool:
        """A tile of in0 to SrcA, one of in1 to SrcB."""
        return self._two(in0, in1, index0, index1)

    sub_tiles = mul_tiles = add_tiles

    @kernel_call(waits=True)
    def add_tiles_bcast(
        self,
        in0: int,
        in1: int,
        index0: int,
        index1: int,
        dst: int,
        row: int = 0,
        *,
        template: Template = (),
    ) -> bool:
        """A tile of in0 to SrcA, a part of one of in1, spread, to SrcB."""
        self._check_row("add_tiles_bcast", row)
        (part,) = self.numbers_of("add_tiles_bcast", template, 1)
        return self._two(in0, in1, index0, index1, BROADCASTS[part])

    sub_tiles_bcast = mul_tiles_bcast = add_tiles_bcast

    def _check_row(self, call: str, row: int) -> None:
        """Error for a row to spread that is not the first."""
        if row:
            raise self.thread.error(
                f"{call} of row {row}; of a tile row 0 alone is spread here", rule="arguments"
            )

    @kernel_call(waits=True)
    def add_tiles_bcast_rows(
        self, in0: int, in1: int, index0: int, index1: int, dst: int, row: int = 0
    ) -> bool:
        """A tile of in0 to SrcA, row 0 of one of in1 to all rows of SrcB."""
        self._check_row("add_tiles_bcast_rows", row)
        return self._two(in0, in1, index0, index1, Arrangement.ROW)

    @kernel_call(waits=True)
    def add_tiles_bcast_cols(self, in0: int, in1: int, index0: int, index1: int, dst: int) -> bool:
        """A tile of in0 to SrcA, column 0 of one of in1 to all columns of SrcB."""
        return self._two(in0, in1, index0, index1, Arrangement.COLUMN)

    @kernel_call(waits=True)
    def add_tiles_bcast_scalar(
        self, in0: int, in1: int, index0: int, index1: int, dst: int
    ) -> bool:
        """A tile of in0 to SrcA, the first number of one of in1 to all of SrcB."""
        return self._two(in0, in1, index0, index1, Arrangement.SCALAR)

    sub_tiles_bcast_rows = mul_tiles_bcast_rows = add_tiles_bcast_rows
    sub_tiles_bcast_cols = mul_tiles_bcast_cols = add_tiles_bcast_cols
    sub_tiles_bcast_scalar = mul_tiles_bcast_scalar = add_tiles_bcast_scalar

    @kernel_call(waits=True)
    def binary_dest_reuse_tiles(
        self, cb: int, index: int, dst: int, *, template: Template = ()
    ) -> bool:
        """A tile to the source register that DST does not move to."""
        return self._reused(cb, index)

    def _reused(self, cb: int, index: int) -> bool:
        if not self.src.can_fill(self.thread):
            return False
        source = self._source(cb)
        if source.data_type is not self._format_a:
            self._check_a(source)
        tile = self._tile(source, index, source.operands)
        self._fill(tile, None, unpack_cycles(source.data_type))
        return True

    @kernel_call(waits=True)
    def add_reuse_dest_tiles(
        self, cb: int, index: int, dst: int, *, template: Template = ()
    ) -> bool:
        """A tile to the source register that DST does not move to."""
        return self._reused(cb, index)

    sub_reuse_dest_tiles = mul_reuse_dest_tiles = add_reuse_dest_tiles

    @kernel_call(waits=True)
    def matmul_tiles(
        self, in0: int, in1: int, index0: int, index1: int, dst: int, transpose: int = 0
    ) -> bool:
        """A tile of in0 to SrcB, one of in1 to SrcA."""
        if not self.src.freed and not self.src.can_fill(self.thread):
            return False
        pair = self._pairs.get(FACTORS | in0 << 8 | in1)
        first, second, _, cycles = pair or self._pair(in0, in1, FACTORS)
        form = _FACTOR_A
        if transpose or self._transposed:
            form = self._form_of_factor("matmul_tiles", transpose)
        if self._strip_call:
            self._check_tiles()
        a = self._page(second, index1, form)
        b = self._page(first, index0, _FACTOR_B)
        self._fill(a, b, cycles)
        return True

    def _form_of_factor(self, call: str, transpose: int) -> int:
        """How in1 comes to SrcA: transposed if the unpacker was prepared for that."""
        if transpose and not self._transposed:
            self.report(
                "init",
                f"{call} with transpose, but the unpacker is prepared for tiles as they are; give "
                "the preparation the same",
            )
        return _FACTOR_A + (_TRANSPOSED if self._transposed else 0)

    @kernel_call(waits=True)
    def matmul_block(
        self,
        in0: int,
        in1: int,
        index0: int,
        index1: int,
        dst: int,
        transpose: int,
        ct_dim: int,
        rt_dim: int,
        kt_dim: int,
    ) -> bool:
        """`rt_dim` tiles of in0, `kt_dim` pages apart, to SrcB; `ct_dim` of in1 to SrcA."""
        banks = SOURCE_BANKS if rt_dim * ct_dim > 1 and self.timed else 1
        if not self.src.can_fill(self.thread, banks):
            return False
        if (ct_dim, rt_dim, kt_dim) != self._block:
            self.report(
                "init",
                f"matmul_block of ct_dim {ct_dim}, rt_dim {rt_dim}, kt_dim {kt_dim}, but the units "
                "are prepared for {}, {}, {}; call mm_block_init with the same".format(
                    *self._block
                ),
            )
        pair = self._pairs.get(FACTORS | in0 << 8 | in1)
        first, second, _, _ = pair or self._pair(in0, in1, FACTORS)
        form = self._form_of_factor("matmul_block", transpose)
        stride = self._column_stride
        a = [self._tile(second, index1 + each * stride, form) for each in range(ct_dim)]
        b = [self._tile(first, index0 + each * kt_dim, _FACTOR_B) for each in range(rt_dim)]
        types = first.data_type, second.data_type
        cycles = matmul_unpack_cycles(*types, rt_dim, ct_dim)
        self._fill(a, b, cycles, sum(map(streamed_cycles, types)), banks)
        return True

    @kernel_call(waits=True)
    def reduce_tile(
        self,
        cb: int,
        scaler: int,
        index: int,
        scaler_index: int,
        dst: int,
        *,
        template: Template = (),
    ) -> bool:
        """A tile to SrcA, transposed to reduce rows; the factors to SrcB."""
        if not self.src.can_fill(self.thread):
            return False
        first, second, _, _ = self._pair(cb, scaler, ELEMENTWISE)
        pool, dimension = self.numbers_of("reduce_tile", template, 2)
        form = NUMBERS if pool == POOL_MAX else _FACTOR_A
        if dimension == REDUCE_ROW:
            form += _TRANSPOSED
        if pool == POOL_MAX and dimension != REDUCE_ROW:
            self._check_whole(first, "reduce_tile of the largest number in a column")
        elif first.cb.tile.face_rows < 16:
            # tt-metal 0.81 adds up the first 16 columns alone.
            self._check_whole(first, "reduce_tile")
        a = self._tile(first, index, form)
        b = self._tile(second, scaler_index, _SCALER)
        self._fill(a, b, unpack_cycles(first.data_type, instructions=1))
        return True

    @kernel_call(waits=True)
    def get_tile_address(self, cb: int, index: int) -> bool:
        """Find the address of a filled tile and send it to the other threads."""
        return self._share(self._tile_address(cb, index, 0))

    @kernel_call(waits=True)
    def read_tile_value(self, cb: int, index: int, element: int) -> bool:
        """Read a word of a filled tile and send it to the other threads."""
        return self._share(self.load(self._tile_address(cb, index, 4 * element), 4, False))

    def _tile_address(self, cb: int, index: int, offset: int) -> int:
        buffer = self.cbs[cb]
        address = buffer.rd_ptr + index * buffer.page_size + offset
        if address >= buffer.limit:
            raise self._beyond(self._source(cb), index)
        return address

    def _share(self, value: int) -> bool:
        self._received = value
        for target in ("MATH", "PACK"):
            self.send_word(target, value)
        return True

    # --- Rows of numbers ------------------------------------------------------------------------

    @kernel_call(waits=True)
    def tilize_block(
        self, cb: int, tiles: int, out: int, input_tile_index: int = 0, output_tile_index: int = 0
    ) -> bool:
        """Tiles to SrcA, one after another, out of 32 rows that are `tiles` tiles long."""
        source = self._copy_source(cb)
        if source.data_type is not self._format_a:
            self._check_a(source)
        self._check_rows(source)
        if tiles != self._strip_tiles and self._strip_call:
            self.report(
                "init",
                f"tilize_block of rows of {tiles} tiles, but the unpackers are set up for "
                f"{self._strip_tiles}; call tilize_init(cb, {tiles}, out) before",
            )
        cycles = tilize_unpack_cycles(source.data_type, tiles)
        while self.done < tiles:
            if not self.src.can_fill(self.thread):
                return False
            self._fill(self._tilized(source, tiles, input_tile_index), None, cycles)
            self.done += 1
        self.done = 0
        return True

    fast_tilize_block = tilize_block

    @kernel_call()
    def tilizeA_B_reduce_init(
        self,
        cb: int,
        scaler: int,
        block: int,
        out: int = 0,
        faces: int = 4,
        face_rows: int = 16,
        *,
        template: Template = (),
    ) -> None:
        """Take the formats of SrcA and SrcB from the rows and the factors; make tiles of rows."""
        self._check_tiles("tilize_block")
        self._configure(cb, scaler)
        self._strip_call, self._strip_tiles = "tilize_block", block

    @kernel_call(waits=True)
    def unpack_tilizeA_B_block(
        self,
        cb: int,
        scaler: int,
        block: int,
        scaler_index: int,
        faces: int = 4,
        face_rows: int = 16,
        *,
        template: Template = (),
    ) -> bool:
        """Tiles to SrcA out of rows that are `block` tiles long, each with factors in SrcB.

        Without the lower faces (`faces` of 2) there are `face_rows` rows, else twice as many; what
        they do not fill is minus infinity, or zero if the template arguments say so.
        """
        source, factors, _, _ = self._pair(cb, scaler, ELEMENTWISE)
        self._check_rows(source)
        if (faces, face_rows) == (4, 16):
            faces, face_rows = source.cb.tile.faces, source.cb.tile.face_rows
        flags = [*template, *(True, True, False, False)[len(template) :]]
        rows = min(face_rows, 16) if faces <= 2 else 16 + min(face_rows, 16)
        is_infinite = bool(flags[0]) and not flags[2]
        cycles = tilize_unpack_cycles(source.data_type, block)
        while self.done < block:
            if not self.src.can_fill(self.thread):
                return False
            tile = self._filled(source, block, rows, is_infinite=is_infinite)
            self._fill(tile, self._page(factors, scaler_index, _SCALER), cycles)
            self.done += 1
        self.done = 0
        return True

    def _filled(self, source: Source, tiles: int, rows: int, *, is_infinite: bool) -> Any:
        """The next tile of some rows.

        To find the largest: numbers, then minus infinity; to add up: a factor, then zeros.
        """
        cb = source.cb
        row_bytes = tile_bytes(cb.data_format) // 32
        address, size = cb.rd_ptr, rows * tiles * row_bytes
        if address + size > cb.limit:
            raise self._beyond(source, -(-size // cb.page_size) - 1)
        memory = self.core.l1
        if self.watch is not None and self.done == 0:
            self.watch.read(memory, address, size, self.thread)
        memory.ensure(address, size)
        there = np.zeros((32, row_bytes), np.uint8)
        there[:rows] = memory.data[address : address + size].reshape(rows, tiles, -1)[:, self.done]
        self.tiles_unpacked += 1
        if not is_infinite:
            return source.reader.decode(_faces_of_bytes(there), _FACTOR_A)
        tile = source.reader.decode(_faces_of_bytes(there), NUMBERS)
        values = np.array(numerics.rows_of_faces(tile))
        values[rows:] = -np.inf
        return numerics.faces_of_rows(values)

    def _tilized(self, source: Source, tiles: int, start: int) -> Any:
        """The next tile of a strip of 32 rows, or of those that tiles of the buffer have."""
        strip = self._strip(source, tiles, start)
        height = source.cb.tile.rows
        rows = strip.reshape(height, tiles, -1)[:, self.done]
        if height < 32:
            rows = np.concatenate((rows, np.zeros((32 - height, rows.shape[1]), np.uint8)))
        self.tiles_unpacked += 1
        return source.reader.decode(_faces_of_bytes(rows), NUMBERS)

    def _strip(self, source: Source, tiles: int, start: int) -> Any:
        """The bytes of so many tiles, unchecked for what they are."""
        cb = source.cb
        address = cb.rd_ptr + start * cb.page_size
        size = tiles * source.size
        if address + size > cb.limit:
            raise self._beyond(source, start + tiles - 1)
        memory = self.core.l1
        if self.watch is not None and self.done == 0:
            self.watch.read(memory, address, size, self.thread)
        memory.ensure(address, size)
        return memory.data[address : address + size]

    def _check_rows(self, source: Source) -> None:
        if source.data_type in numerics.BLOCK_FLOATS:
            raise self.thread.error(
                f"circular buffer {source.cb.index} holds {source.data_type.schema_name}, which "
                "comes in tiles only; rows of numbers are floats or integers of one size",
                rule="format",
            )

    @kernel_call(waits=True)
    def untilize_block(self, cb: int, tiles: int, out: int, *, template: Template = ()) -> bool:
        """So many tiles to SrcA as 32 rows, 1024 numbers of these rows at a time."""
        source = self._copy_source(cb)
        if source.data_type is not self._format_a:
            self._check_a(source)
        self._check_whole(source, "untilize_block")
        cycles, _ = untilize_cycles(source.data_type, False)
        while self.done < tiles:
            if not self.src.can_fill(self.thread):
                return False
            if self.done == 0:
                self._rows = self._untilized(source, tiles)
            self._fill(self._rows[self.done], None, cycles)
            self.done += 1
        self.done = 0
        return True

    def _untilized(self, source: Source, tiles: int) -> Any:
        """The numbers of so many tiles as 32 rows, 1024 at a time."""
        rows = [numerics.rows_of_faces(self._page(source, each, NUMBERS)) for each in range(tiles)]
        if self._poison is not None:
            self._poison.tell()  # The numbers leave their places.
            self._poison = None
        return np.concatenate(rows, axis=1).reshape(tiles, -1)

    @kernel_call(waits=True)
    def pack_untilize_block(
        self, cb: int, rows: int, out: int, block_c_index: int = 0, *, template: Template = ()
    ) -> bool:
        """Rows of `block_ct_dim` tiles to SrcA, tile by tile."""
        width = int(template[0]) if template else 8
        source = self._copy_source(cb)
        if source.data_type is not self._format_a:
            self._check_a(source)
        cycles, _ = untilize_cycles(source.data_type, True)
        while self.done < rows * width:
            if not self.src.can_fill(self.thread):
                return False
            self._fill(self._tile(source, self.done, NUMBERS), None, cycles)
            self.done += 1
        self.done = 0
        return True


def _faces_of_bytes(rows: Any) -> Any:
    """The bytes of a tile in the order of memory, from those of its 32 rows."""
    width = rows.shape[1] // 2
    return rows.reshape(2, 16, 2, width).transpose(0, 2, 1, 3).reshape(-1)
