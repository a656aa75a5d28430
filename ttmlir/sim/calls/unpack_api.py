"""The calls of the UNPACK thread: tiles of circular buffers go to SrcA and SrcB.

Elementwise operations take in0 in SrcA and in1 in SrcB, matrix products the other way round; copies
and transpositions use SrcA alone. Source: tt-llk, llk_unpack_{A,AB,AB_matmul,tilize,untilize}.h.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ttmlir.sim.calls.compute_api import Template
from ttmlir.sim.calls.declaration import kernel_call
from ttmlir.sim.calls.unpack_unit import ELEMENTWISE, FACTORS, NUMBERS, Source, UnpackUnit
from ttmlir.sim.machine import numerics
from ttmlir.sim.machine.tile_reader import Arrangement, Use
from ttmlir.sim.timing.costs import (
    matmul_unpack_cycles,
    tilize_unpack_cycles,
    unpack_cycles,
    untilize_cycles,
)

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


class UnpackApi(UnpackUnit):
    """Calls of the UNPACK thread."""

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
    def unary_bcast_init(self, cb: int, out: int, *, template: Template = ()) -> None:
        """Take the format of SrcA and SrcB from one buffer."""
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
        self.reconfigured()

    @kernel_call()
    def mm_block_init_short(
        self, in0: int, in1: int, transpose: int = 0, ct_dim: int = 1, rt_dim: int = 1, kt: int = 1
    ) -> None:
        """Prepare matrix products of blocks without changing formats."""
        self.mm_init_short(in0, in1, transpose)
        self._block = (ct_dim, rt_dim, kt)

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
        self, cb: int = 0, transpose: int = 0, transpose_within_16x16_face: int = 0
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

    untilize_uninit = fast_tilize_uninit = unpack_tilizeA_B_uninit = tilize_uninit

    @kernel_call()
    def add_tiles_init(self, in0: int = 0, in1: int = 1, acc_to_dest: int = 0) -> None:
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
        self, in0: int, in1: int, index0: int, index1: int, dst: int, *, template: Template = ()
    ) -> bool:
        """A tile of in0 to SrcA, a part of one of in1, spread, to SrcB."""
        (part,) = self.numbers_of("add_tiles_bcast", template, 1)
        return self._two(in0, in1, index0, index1, BROADCASTS[part])

    sub_tiles_bcast = mul_tiles_bcast = add_tiles_bcast

    @kernel_call(waits=True)
    def add_tiles_bcast_rows(self, in0: int, in1: int, index0: int, index1: int, dst: int) -> bool:
        """A tile of in0 to SrcA, row 0 of one of in1 to all rows of SrcB."""
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
        if not self.src.can_fill(self.thread):
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
        a = [self._tile(second, index1 + each, form) for each in range(ct_dim)]
        b = [self._tile(first, index0 + each * kt_dim, _FACTOR_B) for each in range(rt_dim)]
        cycles = matmul_unpack_cycles(first.data_type, second.data_type, rt_dim, ct_dim)
        self._fill(a, b, cycles)
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
        out: int,
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
        row_bytes = source.size // 32
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
        """The next tile of a strip of 32 rows."""
        strip = self._strip(source, tiles, start)
        rows = strip.reshape(32, tiles, -1)[:, self.done]
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
