"""The calls of the PACK thread: tiles of DST go to circular buffers.

Source: tt-metal, compute_kernel_api/{pack,pack_untilize,reg_api}.h; tt-llk, llk_pack.h.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.layout.enums import DataType
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.calls.kernel_api import Template, kernel_call
from ttmlir.sim.calls.pack_vector_api import PackVectorApi
from ttmlir.sim.calls.unpack_api import REDUCE_COL, REDUCE_ROW, REDUCE_SCALAR
from ttmlir.sim.execution.scheduler import KernelThread
from ttmlir.sim.machine import numerics
from ttmlir.sim.machine.device import Core
from ttmlir.sim.machine.memory import CircularBuffer
from ttmlir.sim.machine.numerics import INTEGERS
from ttmlir.sim.machine.registers import Poison
from ttmlir.sim.machine.tile_shapes import TileShape
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.costs import pack_cycles, tile_bytes, untilize_cycles

Array = NDArray[Any]


def _kept(rows: slice, columns: slice) -> Array:
    """A part of a tile, in the order of memory."""
    kept = np.zeros((32, 32), bool)
    kept[rows, columns] = True
    return kept.reshape(2, 16, 2, 16).swapaxes(1, 2).ravel()


_ALL, _FIRST = slice(None), slice(1)
_KEPT = {
    REDUCE_ROW: _kept(_ALL, _FIRST),
    REDUCE_COL: _kept(_FIRST, _ALL),
    REDUCE_SCALAR: _kept(_FIRST, _FIRST),
}
"""What the masks of the packer leave of a tile that was reduced (tt-llk, llk_pack.h)."""


NO_RELU, ZERO_RELU, MIN_THRESHOLD_RELU, MAX_THRESHOLD_RELU = range(4)
"""Numbers of tt-metal's ReluType."""


class PackApi(PackVectorApi):
    """Calls of the PACK thread."""

    def __init__(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> None:
        """The packer, not yet configured."""
        super().__init__(core, thread, options, settings)
        self._format: DataType | None = None
        self._packers: dict[DataType, Callable[[Array], Array]] = {}
        self._accumulates = False
        self._width = 0
        """Tiles in a row of numbers that `pack_untilize_init` configured."""
        self.tiles_packed = 0
        self._kept: Array | None = None
        """Which numbers of a tile `reduce_init` leaves; the packer makes the others zero."""
        self._at_once = 1
        """Tiles that the packer takes at once."""
        self._relu = NO_RELU
        self._threshold = np.float32(0)

    def counters(self) -> dict[str, int]:
        """What the thread has done."""
        return {**super().counters(), "tiles packed": self.tiles_packed}

    # --- DST ------------------------------------------------------------------------------------

    @kernel_call(waits=True)
    def tile_regs_wait(self) -> bool:
        """Wait for a half of DST with results."""
        dst = self.dst
        if not dst.wait(self.thread):
            return False
        if self.timed and dst.pack.time > self.thread.clock:
            self.thread.wait_until(dst.pack.time, "dst")
        if self.watch is not None:
            self.watch.take(self.thread, self.commit_key)
        return True

    @kernel_call()
    def tile_regs_release(self) -> None:
        """Give the half back, cleared."""
        if not self.dst.waited:
            self.report("dst-wait", "DST is released without being waited for; call tile_regs_wait")
        if self.watch is not None:
            self.watch.release(self.thread, self.release_key)
        self.dst.release(self.thread.clock)

    @kernel_call(waits=True)
    def acquire_dst(self, mode: int = 0) -> bool:
        """Wait for a half of DST with results; the mode of 2024 has no effect."""
        return self.tile_regs_wait()

    @kernel_call()
    def release_dst(self, mode: int = 0) -> None:
        """Give the half back, cleared."""
        self.tile_regs_release()

    def change_width(self, *, wide: bool) -> bool:
        """As the MATH thread changes it; what is packed is another format then."""
        self._packers.clear()
        return super().change_width(wide=wide)

    # --- Configuration --------------------------------------------------------------------------

    def _configure(self, out: int) -> None:
        self._kept, self._at_once = None, 1
        self._take_format(out)

    def _take_format(self, out: int) -> None:
        self._format = self.cbs[out].data_format
        self.reconfigured()

    @kernel_call()
    def compute_kernel_hw_startup(
        self, in0: int, in1: int, out: int | None = None, *, template: Template = ()
    ) -> None:
        """Take the format from the last buffer."""
        self._configure(in1 if out is None else out)

    @kernel_call()
    def binary_op_init_common(self, in0: int, in1: int, out: int) -> None:
        """Take the format from `out`."""
        self._configure(out)

    @kernel_call()
    def init_bcast(self, in0: int, in1: int, out: int, *, template: Template = ()) -> None:
        """Take the format from `out`."""
        self._configure(out)

    @kernel_call()
    def reduce_init(self, cb: int, scaler: int, out: int, *, template: Template = ()) -> None:
        """Take the format from `out`; only what was reduced to is packed, zeros elsewhere."""
        self._configure(out)
        self._kept = _KEPT.get(int(template[1])) if len(template) > 1 else None

    @kernel_call()
    def reduce_uninit(self, cb: int = 0, *, template: Template = ()) -> None:
        """Pack whole tiles again."""
        self._kept = None
        self.reconfigured()

    @kernel_call()
    def llk_pack_init(self, cb: int, tiles: int = 1, *, template: Template = ()) -> None:
        """Take so many tiles at once."""
        if template and (template[0] or (len(template) > 1 and template[1])):
            raise self.thread.error(
                "llk_pack_init prepares the packer for tiles; call pack_untilize_init for rows",
                rule="template",
            )
        self._at_once = tiles
        self.reconfigured()

    @kernel_call()
    def llk_pack_reduce_mask_config(self, cb: int, *, template: Template = ()) -> None:
        """Pack only what a reduction gives, zeros elsewhere; the format stays."""
        (dimension,) = self.numbers_of("llk_pack_reduce_mask_config", template, 1)
        self._kept = _KEPT.get(dimension)
        self.reconfigured()

    @kernel_call()
    def llk_pack_reduce_mask_clear(self) -> None:
        """Pack whole tiles again."""
        self.reduce_uninit()

    @kernel_call()
    def reduce_init_delta(self, *buffers: int, template: Template = ()) -> None:
        """Pack only what was reduced to, zeros elsewhere; the format stays."""
        self._kept = _KEPT.get(int(template[2])) if len(template) > 2 else None
        self.reconfigured()

    @kernel_call()
    def reduce_revert_delta(self, out: int = 16, *, template: Template = ()) -> None:
        """Pack whole tiles again."""
        self._kept = None
        self.reconfigured()

    @kernel_call()
    def tilizeA_B_reduce_init(
        self,
        cb: int,
        scaler: int,
        block: int,
        out: int | None = None,
        *faces: int,
        template: Template = (),
    ) -> None:
        """Take the format from `out`; since late 2026 it stays as it is."""
        if out is not None:
            self._configure(out)

    @kernel_call()
    def llk_pack_relu_config(self, config: int) -> None:
        """Apply ReLU to packed numbers: how in bits 0 and 1, a threshold in the upper half."""
        self._relu = config & 3
        self._threshold = np.uint32(config & 0xFFFF_0000).view(np.float32)
        self.reconfigured()

    @kernel_call()
    def unary_op_init_common(self, cb: int, out: int) -> None:
        """Take the format from `out`."""
        self._configure(out)

    init_sfpu = transpose_wh_init = unary_op_init_common

    @kernel_call()
    def unary_bcast_init(self, cb: int, out: int | None = None, *, template: Template = ()) -> None:
        """Take the format from `out`; since 2026 it stays as it is."""
        if out is not None:
            self._configure(out)

    @kernel_call()
    def mm_init(self, in0: int, in1: int, out: int = 16, transpose: int = 0) -> None:
        """Take the format from `out`."""
        self._configure(out)

    @kernel_call()
    def mm_block_init(self, in0: int, in1: int, out: int = 16, *sizes: int) -> None:
        """Take the format from `out`."""
        self._configure(out)

    @kernel_call()
    def tilize_init(self, cb: int, tiles: int, out: int) -> None:
        """Take the format from `out`."""
        self._configure(out)

    @kernel_call()
    def tilize_init_short_with_dt(self, old: int, cb: int, tiles: int, out: int) -> None:
        """Nothing: the format of the output stays."""

    @kernel_call()
    def untilize_init(self, cb: int, out: int | None = None) -> None:
        """Take the format from `out`; without it, as since 2025, one that was taken stays."""
        if out is not None or self._format is None:
            self._configure(16 if out is None else out)

    @kernel_call()
    def pack_untilize_init(self, cb: int, out: int, *, template: Template = ()) -> None:
        """Take the format from `out`; pack rows of so many tiles."""
        self._width = _widths(template)[0]
        self._configure(out)

    @kernel_call()
    def pack_untilize_dest_init(self, out: int, *, template: Template = ()) -> None:
        """Take the format from `out`; pack rows of so many tiles."""
        self._width = _widths(template)[0]
        self._configure(out)

    @kernel_call()
    def pack_untilize_uninit(self, out: int = 16) -> None:
        """Pack tiles again."""
        self._width = 0
        self.reconfigured()

    @kernel_call()
    def pack_reconfig_data_format(self, *buffers: int) -> None:
        """Take the format from a buffer, the last one given."""
        self._take_format(buffers[-1])

    @kernel_call()
    def pack_reconfig_l1_acc(self, enabled: int) -> None:
        """Add packed tiles to what is in L1, or replace it."""
        self._accumulates = bool(enabled)
        self.reconfigured()

    @kernel_call()
    def _undo(self, *arguments: int, template: Template = ()) -> None:
        """Account for a call that resets configuration which nothing here depends on."""
        self.reconfigured()

    tilize_uninit = tilize_uninit_with_dt = untilize_uninit = fast_tilize_uninit = _undo
    fast_tilize_init = fast_tilize_init_with_dt = tensix_sync = _undo

    # --- Packing --------------------------------------------------------------------------------

    def _buffer(self, index: int) -> CircularBuffer:
        cb = self.cbs[index]
        if self._format is not cb.data_format:
            self.check_format(cb, self._format, "the packer", "pack_reconfig_data_format")
        return cb

    @kernel_call()
    def pack_tile(self, dst: int, cb: int, index: int = 0, *, template: Template = ()) -> None:
        """A tile of DST to a buffer: the next page, or with `out_of_order` page `index`.

        Pages count from the write pointer; the next page is the one after the page that was packed
        last since the last push, whatever `index` says.
        """
        if self._at_once > 1:
            count, self._at_once = self._at_once, 1
            for each in range(count):
                self.pack_tile(dst + each, cb, index + each, template=template)
            self._at_once = count
            return
        buffer = self.cbs[cb]
        if self._format is not buffer.data_format:
            self.check_format(buffer, self._format, "the packer", "pack_reconfig_data_format")
        if self._width:
            self._check_untilizing("pack_tile", "pack_untilize_uninit")
        if template and template[0]:
            page = index
        else:
            page = buffer.pack_offset
            buffer.pack_offset = page + 1
        self.check_tile(dst, "read")
        half = self.dst.pack
        poison = half.poisons.pop(dst, None) if half.poisons else None
        self._write(buffer, page, self._bytes(half.faces(dst), buffer.data_format))
        if poison is not None:
            self._leave(poison, buffer, page)
            half.put_poison(dst, poison)
        if self.timed:
            self.thread.occupy(pack_cycles(buffer.data_format, self._accumulates))

    def _leave(self, poison: Poison, cb: CircularBuffer, page: int) -> None:
        """A tile was packed of which nobody wrote some numbers: in a tensor they are a result."""
        if cb.aliased or cb.data_format in numerics.BLOCK_FLOATS:
            poison.tell()
        elif cb.tile.is_whole:
            size = tile_bytes(cb.data_format)
            poison.leave(self.l1, cb.wr_ptr + page * cb.page_size, size)

    @kernel_call()
    def pack_tile_block(self, dst: int, cb: int, tiles: int) -> None:
        """So many tiles of DST to the next pages of a buffer."""
        for each in range(tiles):
            self.pack_tile(dst + each, cb)

    def _check_untilizing(self, call: str, remedy: str) -> None:
        self.report(
            "init", f"the packer is prepared to pack rows of numbers; call {remedy} before {call}"
        )

    def _bytes(self, tile: Array, data_type: DataType) -> Array:
        """What the packer makes of the numbers of DST."""
        self.tiles_packed += 1
        if self._kept is not None:
            tile = np.where(self._kept.reshape(tile.shape), tile, 0).astype(tile.dtype)
        if self._relu != NO_RELU:
            tile = rectify(tile, self._relu, self._threshold)
        pack = self._packers.get(data_type)
        if pack is None:
            pack = self._packers[data_type] = self._packer(data_type)
        return pack(tile)

    def _packer(self, data_type: DataType) -> Callable[[Array], Array]:
        if not self.exact:
            return numerics.packer(self.dst.register, data_type)
        pack = numerics.ieee_packer(data_type)
        if data_type not in INTEGERS:
            return pack
        return lambda tile: pack(tile.view(np.int32))

    def _write(self, cb: CircularBuffer, page: int, data: Array) -> None:
        """The bytes of a tile to a page, counted from the write pointer."""
        if not cb.tile.is_whole:
            data = cb.tile.narrow(data)
        address = cb.wr_ptr + page * cb.page_size
        size = data.size
        if address + size > cb.limit or address < cb.address:
            raise self._beyond(cb, page)
        memory = self.l1
        if self.watch is not None:
            self.watch.write(memory, address, size, self.thread)
        if self._accumulates:
            there = np.frombuffer(memory.read(address, size), np.uint8)
            data = accumulate(there, data, cb.data_format)
        memory.write(address, data.data)

    def _beyond(self, cb: CircularBuffer, page: int) -> Exception:
        ahead = (cb.limit - cb.wr_ptr) // cb.page_size
        return self.thread.error(
            f"a tile is packed to page {page} of circular buffer {cb.index}, past its end: "
            f"{ahead} of its {cb.num_pages} pages of {cb.page_size} bytes are left after the "
            f"write pointer, and a tile of {cb.data_format.schema_name} takes "
            f"{tile_bytes(cb.data_format)} bytes",
            rule="cb-bounds",
            detail=(cb.state(),),
        )

    # --- Rows of numbers ------------------------------------------------------------------------

    def _pack_each(self, cb: int, count: int, cycles: int) -> bool:
        """Pack tile 0 of so many DSTs, one after another."""
        while self.done < count:
            if not (self.dst.waited or self.tile_regs_wait()):
                return False
            buffer = self._buffer(cb)
            self.check_tile(0, "read")
            page = buffer.pack_offset
            buffer.pack_offset = page + 1
            self._write(buffer, page, self._bytes(self.dst.pack.faces(0), buffer.data_format))
            self.spend(cycles)
            self.tile_regs_release()
            self.done += 1
        self.done = 0
        return True

    @kernel_call(waits=True)
    def tilize_block(
        self, cb: int, tiles: int, out: int, input_tile_index: int = 0, output_tile_index: int = 0
    ) -> bool:
        """Pack each tile, from a half of DST of its own."""
        return self._pack_each(out, tiles, pack_cycles(self.cbs[out].data_format))

    fast_tilize_block = tilize_block

    @kernel_call(waits=True)
    def untilize_block(self, cb: int, tiles: int, out: int, *, template: Template = ()) -> bool:
        """Pack each 1024 numbers, from a half of DST of its own."""
        _, cycles = untilize_cycles(self.cbs[out].data_format, False)
        return self._pack_each(out, tiles, cycles)

    @kernel_call(waits=True)
    def pack_untilize_block(
        self, cb: int, rows: int, out: int, block_c_index: int = 0, *, template: Template = ()
    ) -> bool:
        """Pack rows of `block_ct_dim` tiles as rows of numbers, `full_ct_dim` tiles long."""
        while self.done < rows:
            if not (self.dst.waited or self.tile_regs_wait()):
                return False
            self._pack_rows(out, self.done, block_c_index, template, 0, self.cbs[out].tile)
            self.tile_regs_release()
            self.done += 1
        self.done = 0
        return True

    @kernel_call()
    def pack_untilize_dest(
        self,
        out: int,
        block_rt_dim: int = 1,
        block_c_index: int = 0,
        face_r_dim: int = 16,
        num_faces: int = 4,
        tile_dst_offset: int = 0,
        *,
        template: Template = (),
    ) -> None:
        """Pack tiles of DST as rows of numbers, `full_ct_dim` tiles long."""
        width, _ = _widths(template)
        tile = self.cbs[out].tile
        if (num_faces, face_r_dim) != (4, 16):
            tile = TileShape(num_faces, face_r_dim)
        for row in range(block_rt_dim):
            first = tile_dst_offset + row * width
            self._pack_rows(out, row, block_c_index, template, first, tile)

    def _pack_rows(
        self, out: int, row: int, column: int, template: Template, first: int, tile: TileShape
    ) -> None:
        """Pack `block_ct_dim` tiles of DST to the rows of numbers that tiles of a shape have."""
        cb = self._buffer(out)
        data_type = cb.data_format
        width, full = _widths(template)
        if self._width != width:
            self._check_untilizing_prepared(width)
        if data_type in numerics.BLOCK_FLOATS:
            raise self.thread.error(
                f"circular buffer {out} holds {data_type.schema_name}, which comes in tiles only; "
                "rows of numbers are floats or integers of one size",
                rule="format",
            )
        size = numerics.scalar_dtype(data_type).itemsize
        rows, columns = tile.rows, tile.columns
        stride = full * columns * size
        start = cb.wr_ptr + row * rows * stride + column * width * columns * size
        if start + (rows - 1) * stride + width * columns * size > cb.limit:
            raise self._beyond(cb, (row + 1) * full - 1)
        tiles: list[Array] = []
        for index in range(first, first + width):
            self.check_tile(index, "read")
            data = self._bytes(self.dst.pack.faces(index), data_type)
            tiles.append(numerics.rows_of_faces(data.view(f"V{size}"))[:rows, :columns])
        lines = np.ascontiguousarray(np.concatenate(tiles, axis=1)).view(np.uint8)
        self._write_lines(start, stride, lines)
        self.spend(width * untilize_cycles(data_type, True)[1])

    def _write_lines(self, start: int, stride: int, lines: Array) -> None:
        memory = self.l1
        for line in lines:
            if self.watch is not None:
                self.watch.write(memory, start, line.size, self.thread)
            memory.write(start, line.data)
            start += stride

    def _check_untilizing_prepared(self, width: int) -> None:
        there = f"rows of {self._width} tiles" if self._width else "tiles"
        self.report(
            "init",
            f"the packer is prepared to pack {there}, not rows of {width} tiles; call "
            "pack_untilize_init or pack_untilize_dest_init with the same template arguments before",
        )


def rectify(tile: Array, relu: int, threshold: np.float32) -> Array:
    """Numbers as the packer's ReLU leaves them (tt-isa-documentation, Packers/ReLU.md)."""
    if relu == NO_RELU:
        return tile
    lowest = threshold if relu == MIN_THRESHOLD_RELU else np.float32(0)
    kept = np.where(tile <= lowest, np.float32(0), tile)
    return np.minimum(kept, threshold) if relu == MAX_THRESHOLD_RELU else kept


def accumulate(there: Array, data: Array, data_type: DataType) -> Array:
    """The bytes in L1 plus a packed tile, as the packer's accumulation rounds it."""
    values = numerics.ieee_reader(data_type)
    return numerics.ieee_packer(data_type)(values(there) + values(data))


def _widths(template: Template) -> tuple[int, int]:
    """Tiles in a block and in a whole row of numbers: (block_ct_dim, full_ct_dim)."""
    width = int(template[0]) if template else 8
    return width, int(template[1]) if len(template) > 1 else width
