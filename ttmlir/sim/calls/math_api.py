"""The calls of the MATH thread on the matrix unit, and on DST as a whole.

What a call finds in SrcA and SrcB was put there by the same call on the UNPACK thread. In device
numerics results are rounded to the format of DST by each instruction; in exact numerics they are
float32. Calls on the vector unit are in `ttmlir.sim.calls.lanes_api`. Source: tt-llk,
llk_math_{eltwise_binary,eltwise_unary_datacopy,matmul,reduce,transpose_dest}.h.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ttmlir.optable.kernel import find_call
from ttmlir.sim.calls.compute_api import ComputeSettings, math_cost
from ttmlir.sim.calls.kernel_api import Template, kernel_call
from ttmlir.sim.calls.late_columns_api import LateColumnsApi
from ttmlir.sim.calls.unpack_api import POOL_MAX, REDUCE_COL, REDUCE_ROW
from ttmlir.sim.execution.scheduler import KernelThread
from ttmlir.sim.machine import numerics
from ttmlir.sim.machine.device import Core
from ttmlir.sim.machine.numerics import Register
from ttmlir.sim.machine.registers import Half, Poison, join_poison
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.costs import UNITS, block_end, fidelity_phases, matmul_math_cycles

Array = NDArray[Any]

MULTIPLY, ADD, SUBTRACT = 0, 2, 3
"""Numbers of tt-metal's EltwiseBinaryType."""

_OPERATIONS = {ADD: "add", SUBTRACT: "sub", MULTIPLY: "mul"}
_FUNCTIONS: dict[str, Callable[..., Array]] = {"add": np.add, "sub": np.subtract}
_PARTS = {"rows": "ROW", "cols": "COL", "scalar": "SCALAR"}
_PART_NAMES = ("NONE", "COL", "ROW", "SCALAR")
_DEST_TO_SRCA = 1
_INT32 = np.dtype(np.int32)


def _spread(operation: str, part: str) -> str:
    """What is prepared for an elementwise operation with a part of the second tile."""
    return f"{operation}_tiles_bcast {part}"


def _binary_call(operation: str) -> Callable[..., bool]:
    name = f"{operation}_tiles"

    @kernel_call(waits=True)
    def call(self: MathApi, in0: int, in1: int, index0: int, index1: int, dst: int) -> bool:
        return self.binary(operation, name, name, dst)

    return call


def _broadcast_call(operation: str) -> Callable[..., bool]:
    name = f"{operation}_tiles_bcast"
    prepared = tuple(_spread(operation, part) for part in _PART_NAMES)

    @kernel_call(waits=True)
    def call(
        self: MathApi,
        in0: int,
        in1: int,
        index0: int,
        index1: int,
        dst: int,
        row: int = 0,
        *,
        template: Template = (),
    ) -> bool:
        (part,) = self.numbers_of(name, template, 1)
        return self.binary(operation, name, prepared[part], dst)

    return call


def _part_call(operation: str, part: str) -> Callable[..., bool]:
    name = f"{operation}_tiles_bcast_{part}"
    prepared = _spread(operation, _PARTS[part])

    @kernel_call(waits=True)
    def call(
        self: MathApi, in0: int, in1: int, index0: int, index1: int, dst: int, row: int = 0
    ) -> bool:
        return self.binary(operation, name, prepared, dst)

    return call


def _part_preparation(operation: str, part: str) -> Callable[..., None]:
    prepared = _spread(operation, _PARTS[part])

    @kernel_call()
    def call(self: MathApi, *buffers: int) -> None:
        self.prepare(prepared)

    return call


def _reuse_preparation(operation: int) -> Callable[..., None]:
    name = f"{_OPERATIONS[operation]}_reuse_dest_init"

    @kernel_call()
    def call(self: MathApi, cb: int, *, template: Template = ()) -> None:
        (register,) = self.numbers_of(name, template, 1)
        self.prepare(f"binary_dest_reuse_tiles {(operation, register)}")

    return call


def _reuse_call(operation: int) -> Callable[..., bool]:
    word = _OPERATIONS[operation]
    names = f"{word}_reuse_dest_tiles", f"{word}_reuse_dest_init"

    @kernel_call(waits=True)
    def call(self: MathApi, cb: int, index: int, dst: int, *, template: Template = ()) -> bool:
        (register,) = self.numbers_of(names[0], template, 1)
        return self.reuse(operation, register, dst, names)

    return call


class MathApi(LateColumnsApi):
    """Calls of the MATH thread."""

    def __init__(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> None:
        """The matrix unit, not yet prepared for anything."""
        super().__init__(core, thread, options, settings)
        self._fidelity = settings.fidelity
        self._product_cycles = matmul_math_cycles(settings.fidelity)
        self._phases = fidelity_phases(settings.fidelity)
        self._set_source()
        self._prepared = ""
        """What the last `_init` call prepared."""
        self._accumulates = False
        self._product = np.empty((32, 32), np.float32)

    # --- DST ------------------------------------------------------------------------------------

    def _set_source(self) -> None:
        register = self.dst.register
        self._source = Register.TF32 if register is Register.FP32 else register
        """The format of numbers that move from DST to a source register."""

    def change_width(self, *, wide: bool) -> bool:
        """Wait for the other threads, change the width of DST, and let them go on."""
        others = ("UNPACK", "PACK")
        while self.done < len(others):
            if not self.receive_word(others[self.done]):
                return False
            self.done += 1
        self.done = 0
        if not self.dst.set_width(wide=wide):
            raise self.thread.error(
                "the width of DST changes while the kernel holds tiles of it; make the call before "
                "tile_regs_acquire",
                rule="dst-acquire",
            )
        self._set_source()
        self.reconfigured()
        for each in others:
            self.send_word(each, 1)
        return True

    @kernel_call(waits=True)
    def tile_regs_acquire(self) -> bool:
        """Take a free half of DST."""
        dst = self.dst
        if not dst.acquire(self.thread):
            return False
        if self.timed and dst.math.time > self.thread.clock:
            self.thread.wait_until(dst.math.time, "dst")
        if self.watch is not None:
            self.watch.acquire(self.thread, self.release_key)
        return True

    @kernel_call()
    def tile_regs_commit(self) -> None:
        """Hand the half over to the pack thread."""
        if self.watch is not None:
            self.watch.put(self.thread, self.commit_key)
        if not self.dst.acquired:
            self.report(
                "dst-acquire", "DST is committed without being acquired; call tile_regs_acquire"
            )
        self.dst.commit(self.thread.clock)
        self.spend(UNITS.dst_handover)

    @kernel_call()
    def dprint_tensix_dest_reg(self, tile: int = 0, *, template: Template = ()) -> None:
        """Print a tile of DST in the order of memory, 16 numbers in a line.

        With 32 bits they are printed as floating point, whatever they are, with 16 as the unpackers
        have brought them. Source: tt-metal, debug/dprint_tensix.h.
        """
        lines, values = [f"Tile ID = {tile}\n"], self.tile(tile)
        words = values.view(np.uint32)
        # No number of a floating-point format of 16 bits is as small as these bits would be.
        if self.dst.register is not Register.FP32 and words.max() < 1 << 16:
            values = words
        for number, row in enumerate(values.reshape(64, 16).tolist(), 1):
            lines.append("".join(f"{value:g} " for value in row) + "\n")
            if template and template[0] and number % 16 == 0:
                lines.append("\n")
        self.dprint(*lines)

    @kernel_call(waits=True)
    def acquire_dst(self, mode: int = 0) -> bool:
        """Take a free half; the mode of 2024 has no effect."""
        return self.tile_regs_acquire()

    @kernel_call()
    def release_dst(self, mode: int = 0) -> None:
        """Hand the half over."""
        self.tile_regs_commit()

    def _half(self, index: int, kind: Literal["read", "write"] = "write") -> Half:
        """The half that the thread works on, which has a tile of this index."""
        self.check_tile(index, kind)
        return self.dst.math

    # --- Preparation ----------------------------------------------------------------------------

    def prepare(self, name: str, *, accumulates: bool = False) -> None:
        """Choose the operation that the matrix unit does next."""
        self._prepared = name
        self._accumulates = accumulates
        self.reconfigured()

    @kernel_call()
    def _configured(self, *arguments: int, template: Template = ()) -> None:
        """Configure formats; chooses no operation."""
        self.reconfigured()

    compute_kernel_hw_startup = binary_op_init_common = _configured
    reconfig_data_format = reconfig_data_format_srca = reconfig_data_format_srcb = _configured
    reduce_uninit = tilize_uninit = tilize_uninit_with_dt = untilize_uninit = _configured
    pack_untilize_uninit = _configured
    pack_untilize_dest_init = llk_math_reconfig_remap = _configured
    reduce_revert_delta = unary_bcast_uninit = fast_tilize_uninit = tensix_sync = _configured

    def _check_prepared(self, name: str, remedy: str) -> None:
        """Find fault with an operation that the unit was not prepared for."""
        there = f"for {self._prepared}" if self._prepared else "for nothing"
        self.report(
            "init", f"the matrix unit is not prepared for {name} but {there}; call {remedy} before"
        )

    @kernel_call()
    def add_tiles_init(
        self, in0: int = 0, in1: int = 1, acc_to_dest: int = 0, call_line: int = 0
    ) -> None:
        """Prepare sums, onto DST if so asked."""
        self.prepare("add_tiles", accumulates=bool(acc_to_dest))

    @kernel_call()
    def sub_tiles_init(
        self, in0: int = 0, in1: int = 1, acc_to_dest: int = 0, call_line: int = 0
    ) -> None:
        """Prepare differences, onto DST if so asked."""
        self.prepare("sub_tiles", accumulates=bool(acc_to_dest))

    @kernel_call()
    def mul_tiles_init(
        self, in0: int = 0, in1: int = 1, acc_to_dest: int = 0, call_line: int = 0
    ) -> None:
        """Prepare products, which are always added to DST."""
        self.prepare("mul_tiles")

    @kernel_call()
    def binary_tiles_init(
        self, in0: int, in1: int, acc_to_dest: int = 0, *, template: Template = ()
    ) -> None:
        """Prepare sums, differences or products: (whether of the unpacker too, operation)."""
        operation = self._operation_of("binary_tiles_init", template)
        self.prepare(f"{operation}_tiles", accumulates=bool(acc_to_dest))

    @kernel_call()
    def binary_op_specific_init(self, *, template: Template = ()) -> None:
        """Prepare sums, differences or products: (whether of the unpacker too, operation)."""
        self.prepare(f"{self._operation_of('binary_op_specific_init', template)}_tiles")

    def _operation_of(self, call: str, template: Template) -> str:
        _, operation = self.numbers_of(call, template, 2)
        if operation not in _OPERATIONS:
            raise self.thread.error(
                f"{call} of operation {operation}; there are ELWADD, ELWSUB and ELWMUL",
                rule="template",
            )
        return _OPERATIONS[operation]

    @kernel_call()
    def bcast_init(self, in0: int, in1: int, *, template: Template = ()) -> None:
        """Prepare an operation with a part of the second tile spread: (operation, part)."""
        operation, part = self.numbers_of("bcast_init", template, 2)
        self.prepare(_spread(_OPERATIONS[operation], _PART_NAMES[part]))

    add_bcast_rows_init_short = _part_preparation("add", "rows")
    add_bcast_cols_init_short = _part_preparation("add", "cols")
    add_bcast_scalar_init_short = _part_preparation("add", "scalar")
    sub_bcast_rows_init_short = _part_preparation("sub", "rows")
    sub_bcast_cols_init_short = _part_preparation("sub", "cols")
    sub_tiles_bcast_scalar_init_short = _part_preparation("sub", "scalar")
    mul_bcast_rows_init_short = _part_preparation("mul", "rows")
    mul_bcast_cols_init_short = _part_preparation("mul", "cols")
    mul_tiles_bcast_scalar_init_short = _part_preparation("mul", "scalar")

    @kernel_call()
    def init_bcast(self, in0: int, in1: int, out: int, *, template: Template = ()) -> None:
        """Prepare an operation with a part of the second tile spread: (operation, part)."""
        operation, part = self.numbers_of("init_bcast", template, 2)
        self.prepare(_spread(_OPERATIONS[operation], _PART_NAMES[part]))

    @kernel_call()
    def binary_dest_reuse_tiles_init(self, *cb: int, template: Template = ()) -> None:
        """Prepare an operation on a tile and DST."""
        kind = self.numbers_of("binary_dest_reuse_tiles_init", template, 2)
        self.prepare(f"binary_dest_reuse_tiles {kind}")

    @kernel_call()
    def unary_op_init_common(self, cb: int, out: int) -> None:
        """Prepare copies."""
        self.prepare("copy_tile")

    init_sfpu = unary_op_init_common

    @kernel_call()
    def copy_tile_init(self, cb: int) -> None:
        """Prepare copies."""
        self.prepare("copy_tile")

    @kernel_call()
    def copy_tile_to_dst_init_short(
        self,
        cb: int = 0,
        transpose: int = 0,
        transpose_within_16x16_face: int = 0,
        call_line: int = 0,
    ) -> None:
        """Prepare copies."""
        self.prepare("copy_tile")

    @kernel_call()
    def copy_tile_to_dst_init_short_with_dt(self, old: int, cb: int, transpose: int = 0) -> None:
        """Prepare copies."""
        self.prepare("copy_tile")

    @kernel_call()
    def unary_bcast_init(self, cb: int, out: int = 0, *, template: Template = ()) -> None:
        """Prepare copies of a part of a tile, spread."""
        (part,) = self.numbers_of("unary_bcast_init", template, 1)
        self.prepare(f"unary_bcast {_PART_NAMES[part]}")

    @kernel_call()
    def transpose_wh_init(self, *buffers: int) -> None:
        """Prepare transposed copies."""
        self.prepare("transpose_wh_tile")

    transpose_wh_init_short = transpose_wh_init

    @kernel_call()
    def mm_init(self, *arguments: int) -> None:
        """Prepare matrix products."""
        self.prepare("matmul_tiles")

    mm_init_short = mm_init_short_with_dt = mm_init

    @kernel_call()
    def mm_block_init(self, *arguments: int) -> None:
        """Prepare matrix products of blocks."""
        self.prepare("matmul_block")

    mm_block_init_short = mm_block_init_short_with_dt = mm_block_init
    mm_block_init_short_with_both_dt = mm_block_init

    @kernel_call()
    def reduce_init(self, cb: int, scaler: int, out: int, *, template: Template = ()) -> None:
        """Prepare reductions of a kind: (PoolType, ReduceDim)."""
        self.prepare(f"reduce_tile {self.numbers_of('reduce_init', template, 2)}")

    @kernel_call()
    def reduce_init_delta(self, *buffers: int, template: Template = ()) -> None:
        """Prepare reductions of a kind: (at_start, PoolType, ReduceDim)."""
        self.prepare(f"reduce_tile {self.numbers_of('reduce_init_delta', template, 3)[1:]}")

    @kernel_call()
    def tilizeA_B_reduce_init(
        self, cb: int, scaler: int, block: int, out: int = 0, *faces: int, template: Template = ()
    ) -> None:
        """Prepare reductions of tiles that are made of rows."""
        self.prepare("reduce_tile_math")

    @kernel_call()
    def tilize_init(self, *arguments: int) -> None:
        """Prepare tilizing."""
        self.prepare("tilize_block")

    tilize_init_short_with_dt = fast_tilize_init = fast_tilize_init_with_dt = tilize_init

    @kernel_call()
    def untilize_init(self, *buffers: int) -> None:
        """Prepare untilizing."""
        self.prepare("untilize_block")

    @kernel_call()
    def pack_untilize_init(self, cb: int, out: int, *, template: Template = ()) -> None:
        """Prepare untilizing in the packer."""
        self.prepare("pack_untilize_block")

    # --- Operands -------------------------------------------------------------------------------

    def _use(self, cycles: int) -> tuple[Any, Any]:
        """SrcA and SrcB of a call that takes so long; frees the bank."""
        src = self.src
        a, b, ready, _, poison = src.banks[0]
        if poison is not None:
            poison.tell()
        thread = self.thread
        if self.timed:
            if ready > thread.clock:
                thread.wait_until(ready, "src")
            thread.occupy(cycles)
        src.free(thread.clock)
        if self.watch is not None:
            self.watch.take(thread, self.src_key)
        return a, b

    def _use_block(self, count: int) -> tuple[Any, Any]:
        """SrcA and SrcB of a call that multiplies so many pairs of tiles."""
        if count == 1 or not self.timed:
            return self._use(self._product_cycles * count)
        src, thread, product = self.src, self.thread, self._product_cycles
        a, b, first, last, poison = src.banks[0]
        if poison is not None:
            poison.tell()
        if first > thread.clock:
            thread.wait_until(first, "src")
        begin = thread.clock
        end, free = block_end(begin, first, last, count, product)
        thread.stalls["src"] = thread.stalls.get("src", 0) + end - begin - count * product
        thread.occupy(end - begin)
        src.free(free, end)
        if self.watch is not None:
            self.watch.take(thread, self.src_key)
        return a, b

    # --- Copies ---------------------------------------------------------------------------------

    def _copy(self, name: str, remedy: str, dst: int, prepared: str = "") -> bool:
        """SrcA to a tile of DST; `prepared` is what the unit is prepared for, the name if empty."""
        if not self.src.banks and not self.src.can_use(self.thread):
            return False
        if self._prepared != (prepared or name):
            self._check_prepared(prepared or name, remedy)
        half = self._half(dst)
        poison = self.src.take_poison()
        tile, _ = self._use(math_cost(name, self._phases))
        self._store(half.new_faces(dst), tile)
        half.put_poison(dst, poison)
        return True

    def _store(self, place: Array, tile: Array) -> None:
        """Put what a source register holds into DST."""
        if tile.dtype == _INT32:
            place.view(np.int32)[:] = tile
        else:
            place[:] = tile

    @kernel_call(waits=True)
    def copy_tile(self, cb: int, index: int, dst: int) -> bool:
        """SrcA to a tile of DST."""
        return self._copy("copy_tile", "copy_tile_init", dst)

    @kernel_call(waits=True)
    def copy_block_matmul_partials(self, cb: int, index: int, dst: int, tiles: int) -> bool:
        """SrcA to so many tiles of DST, one after another."""
        while self.done < tiles:
            if not self._copy("copy_tile", "copy_tile_to_dst_init_short", dst + self.done):
                return False
            self.done += 1
        self.done = 0
        return True

    @kernel_call(waits=True)
    def transpose_wh_tile(self, cb: int, index: int, dst: int) -> bool:
        """SrcA, transposed by the unpacker, to a tile of DST."""
        return self._copy("transpose_wh_tile", "transpose_wh_init", dst)

    @kernel_call()
    def transpose_wh_dest_init_short(self, operand: int = 0, *, template: Template = ()) -> None:
        """Prepare transpositions within DST."""
        self.prepare("transpose_wh_dest")

    @kernel_call()
    def transpose_wh_dest(self, dst: int, *, template: Template = ()) -> None:
        """Transpose a tile of DST; with the second flag false each of its faces by itself."""
        if self._prepared != "transpose_wh_dest":
            self._check_prepared("transpose_wh_dest", "transpose_wh_dest_init_short")
        tile = self._half(dst).rows(dst)
        if len(template) > 1 and not template[1]:
            faces = tile.reshape(2, 16, 2, 16)
            faces[:] = faces.transpose(0, 3, 2, 1).copy()
        else:
            tile[:] = tile.T.copy()
        self.spend(math_cost("transpose_wh_dest", 1))

    @kernel_call(waits=True)
    def triangle_solve_tile(
        self, cb: int, index: int, right: int, out: int, *, template: Template = ()
    ) -> bool:
        """X of L X = R by forward substitution; L, without its diagonal, is what UNPACK read."""
        if not (self.on_blackhole and self.dst.register is Register.FP32):
            raise self.thread.error(
                "triangle_solve_tile runs on Blackhole, in kernels with fp32_dest_acc_en",
                rule="arguments",
            )
        if not self.src.banks and not self.src.can_use(self.thread):
            return False
        definition = find_call("triangle_solve_tile")
        self.check_vector_prepared(definition)
        tile, _ = self._use(definition.cost.math)
        lower = numerics.rows_of_faces(tile)
        if len(template) > 1 and template[1]:
            lower = -lower
        self.check_tile(right, "read")
        self.check_tile(out, "write")
        found = np.array(self.dst.math.rows(right))
        for row in range(1, len(found)):
            for column in range(row):
                found[row] -= lower[row, column] * found[column]
        self.dst.math.new_rows(out)[:] = found
        return True

    @kernel_call(waits=True)
    def unary_bcast(self, cb: int, index: int, dst: int, *, template: Template = ()) -> bool:
        """A part of a tile, spread, to a tile of DST."""
        (part,) = self.numbers_of("unary_bcast", template, 1)
        prepared = f"unary_bcast {_PART_NAMES[part]}"
        return self._copy("unary_bcast", "unary_bcast_init", dst, prepared)

    # --- Elementwise operations -----------------------------------------------------------------

    def binary(self, operation: str, name: str, prepared: str, dst: int) -> bool:
        """SrcA and SrcB combined into a tile of DST; products, and sums if so asked, onto it."""
        if not self.src.banks and not self.src.can_use(self.thread):
            return False
        if self._prepared != prepared:
            self._check_prepared(prepared, find_call(name).init)
        half = self._half(dst)
        poison = self.src.take_poison()
        if half.poisons and (operation == "mul" or self._accumulates):
            poison = join_poison(poison, half.poisons.pop(dst, None))
        a, b = self._use(math_cost(name, self._phases))
        if operation == "mul":
            self._multiply(half, dst, a, b)
        else:
            self._add(half, dst, _FUNCTIONS[operation], a, b)
        half.put_poison(dst, poison)
        return True

    add_tiles = _binary_call("add")
    sub_tiles = _binary_call("sub")
    mul_tiles = _binary_call("mul")
    add_tiles_bcast = _broadcast_call("add")
    sub_tiles_bcast = _broadcast_call("sub")
    mul_tiles_bcast = _broadcast_call("mul")
    add_tiles_bcast_rows = _part_call("add", "rows")
    add_tiles_bcast_cols = _part_call("add", "cols")
    add_tiles_bcast_scalar = _part_call("add", "scalar")
    sub_tiles_bcast_rows = _part_call("sub", "rows")
    sub_tiles_bcast_cols = _part_call("sub", "cols")
    sub_tiles_bcast_scalar = _part_call("sub", "scalar")
    mul_tiles_bcast_rows = _part_call("mul", "rows")
    mul_tiles_bcast_cols = _part_call("mul", "cols")
    mul_tiles_bcast_scalar = _part_call("mul", "scalar")

    def _add(
        self, half: Half, dst: int, function: Callable[..., Array], a: Array, b: Array
    ) -> None:
        if self._accumulates and half.written(dst):
            self._add_onto(half, dst, function, a, b)
        elif a.dtype == _INT32:
            function(a, b, half.new_faces(dst).view(np.int32))
        elif self.exact:
            function(a, b, half.new_faces(dst))
        else:
            numerics.combine(function, a, b, self.dst.register, half.new_faces(dst))

    def _add_onto(
        self, half: Half, dst: int, function: Callable[..., Array], a: Array, b: Array
    ) -> None:
        tile = half.faces(dst)
        if a.dtype == _INT32:
            whole = tile.view(np.int32)
            whole += function(a, b)
        elif self.exact:
            tile += function(a, b)
        else:
            tile[:] = numerics.combine_onto(function, tile, a, b, self.dst.register)

    def _multiply(self, half: Half, dst: int, a: Array, b: Array) -> None:
        fresh = not half.written(dst)
        if a.dtype == _INT32:
            whole = half.faces(dst).view(np.int32)
            whole += a * b
        elif self.exact and fresh:
            np.multiply(a, b, half.new_faces(dst))
        elif self.exact:
            tile = half.faces(dst)
            tile += a * b
        else:
            tile, register = half.faces(dst), self.dst.register
            if fresh:
                tile[:] = numerics.multiply(a, b, self._fidelity, register)
            else:
                tile[:] = numerics.multiply_onto(tile, a, b, self._fidelity, register)

    @kernel_call(waits=True)
    def binary_dest_reuse_tiles(
        self, cb: int, index: int, dst: int, *, template: Template = ()
    ) -> bool:
        """A tile of DST, moved to a source register, and the tile in the other one, combined."""
        operation, register = self.numbers_of("binary_dest_reuse_tiles", template, 2)
        init = "binary_dest_reuse_tiles_init"
        return self.reuse(operation, register, dst, ("binary_dest_reuse_tiles", init))

    def reuse(self, operation: int, register: int, dst: int, names: tuple[str, str]) -> bool:
        """Combine a tile of DST, moved to a source register, with the tile in the other one.

        `names` are those of the call and of what prepares it.
        """
        if not self.src.banks and not self.src.can_use(self.thread):
            return False
        prepared = f"binary_dest_reuse_tiles {(operation, register)}"
        if self._prepared != prepared:
            self._check_prepared(*names)
        half = self._half(dst)
        poison = join_poison(self.src.take_poison(), half.poisons.pop(dst, None))
        tile, _ = self._use(math_cost("binary_dest_reuse_tiles", self._phases))
        moved = self._moved(half.faces(dst).copy(), tile)
        a, b = (moved, tile) if register == _DEST_TO_SRCA else (tile, moved)
        half.forget(dst)
        if operation == MULTIPLY:
            self._multiply(half, dst, a, b)
        else:
            self._add(half, dst, _FUNCTIONS[_OPERATIONS[operation]], a, b)
        half.put_poison(dst, poison)
        return True

    def _moved(self, values: Array, like: Array) -> Array:
        """Numbers of DST as they arrive in a source register."""
        if like.dtype == _INT32:
            return values.view(np.int32)
        if self.exact:
            return values
        return numerics.to_source(values, self._source)

    add_reuse_dest_init = _reuse_preparation(ADD)
    sub_reuse_dest_init = _reuse_preparation(SUBTRACT)
    mul_reuse_dest_init = _reuse_preparation(MULTIPLY)
    add_reuse_dest_tiles = _reuse_call(ADD)
    sub_reuse_dest_tiles = _reuse_call(SUBTRACT)
    mul_reuse_dest_tiles = _reuse_call(MULTIPLY)

    # --- Matrix products ------------------------------------------------------------------------

    @kernel_call(waits=True)
    def matmul_tiles(
        self, in0: int, in1: int, index0: int, index1: int, dst: int, transpose: int = 0
    ) -> bool:
        """SrcB @ SrcA onto a tile of DST."""
        if not self.src.banks and not self.src.can_use(self.thread):
            return False
        if self._prepared != "matmul_tiles":
            self._check_prepared("matmul_tiles", "mm_init")
        half = self._half(dst)
        poisons = self._poisons_of_products(half, dst, 1)
        a, b = self._use(self._product_cycles)
        self._matmul(half, dst, a, b)
        for index, poison in poisons.items():
            half.put_poison(index, poison)
        return True

    def _poisons_of_products(self, half: Half, dst: int, count: int) -> dict[int, Poison | None]:
        """Which numbers of so many tiles nobody wrote, if products are added to them."""
        poison = self.src.take_poison()
        if poison is None and not half.poisons:
            return {}
        there = half.poisons
        return {
            each: join_poison(poison, there.pop(each, None)) for each in range(dst, dst + count)
        }

    def _matmul(self, half: Half, dst: int, a: Any, b: Any) -> None:
        if isinstance(a, numerics.Factor):
            half.add_product(dst, (a, b))
        elif a.dtype == _INT32:
            tile = half.rows(dst).view(np.int32)
            tile += b @ a
        elif half.written(dst):
            tile = half.rows(dst)
            np.add(tile, np.dot(b, a, self._product), tile)
        else:
            np.dot(b, a, half.new_rows(dst))

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
        """Each tile of SrcB @ each of SrcA, onto `rt_dim` rows of `ct_dim` tiles of DST."""
        if not self.src.banks and not self.src.can_use(self.thread):
            return False
        if self._prepared != "matmul_block":
            self._check_prepared("matmul_block", "mm_block_init")
        count = rt_dim * ct_dim
        half = self._half(dst + count - 1)
        poisons = self._poisons_of_products(half, dst, count)
        a, b = self._use_block(count)
        self._multiply_block(half, dst, a, b)
        for index, poison in poisons.items():
            half.put_poison(index, poison)
        return True

    def _multiply_block(self, half: Half, dst: int, a: Any, b: Any) -> None:
        """Each of some tiles by each of others, onto consecutive tiles of DST."""
        rt_dim, ct_dim = len(b), len(a)
        count = rt_dim * ct_dim
        if count > 1 and dst >= 0 and self.exact and a[0].dtype != _INT32:
            # NumPy takes longer to call than to multiply two tiles.
            left = np.concatenate(b).reshape(rt_dim, 1, 32, 32)
            products = np.matmul(left, np.concatenate(a).reshape(1, ct_dim, 32, 32))
            half.add_rows(dst, products.reshape(count, 32, 32))
            return
        for row, left in enumerate(b):
            for column, right in enumerate(a):
                self._matmul(half, dst + row * ct_dim + column, right, left)

    # --- Reductions -----------------------------------------------------------------------------

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
        """SrcA reduced over rows, columns or both, onto column 0, row 0 or the first number."""
        if not self.src.banks and not self.src.can_use(self.thread):
            return False
        pool, dimension = self.numbers_of("reduce_tile", template, 2)
        if self._prepared != f"reduce_tile {(pool, dimension)}":
            self._check_prepared("reduce_tile", "reduce_init with the same template arguments")
        self._reduce_onto(self._half(dst), dst, pool, dimension, "reduce_tile")
        return True

    @kernel_call(waits=True)
    def reduce_tile_math(self, dst: int, faces: int = 4, *, template: Template = ()) -> bool:
        """SrcA, a tile made of rows, reduced as by `reduce_tile`."""
        if not self.src.banks and not self.src.can_use(self.thread):
            return False
        pool, dimension = self.numbers_of("reduce_tile_math", template, 2)
        if self._prepared not in ("reduce_tile_math", f"reduce_tile {(pool, dimension)}"):
            self._check_prepared("reduce_tile_math", "tilizeA_B_reduce_init")
        self._reduce_onto(self._half(dst), dst, pool, dimension, "reduce_tile_math")
        return True

    def reduction_cycles(self, largest: bool, call: str) -> int:
        """What reducing a tile takes, to the largest number or to a sum."""
        return UNITS.reduce_max if largest else math_cost(call, self._phases)

    def _reduce_onto(self, half: Half, dst: int, pool: int, dimension: int, call: str) -> None:
        poison = self.src.take_poison() if call == "reduce_tile" else None
        if poison is not None:
            poison = poison.reduced(partial(_reduced_lanes, dimension=dimension))
        poison = join_poison(poison, half.poisons.pop(dst, None))
        a, b = self._use(self.reduction_cycles(pool == POOL_MAX, call))
        self._pool(half, dst, pool, dimension, a, b)
        half.put_poison(dst, poison)

    def _pool(self, half: Half, dst: int, pool: int, dimension: int, a: Any, b: Any) -> None:
        """See `_reduce_onto`: the numbers alone."""
        first = not half.written(dst)
        tile = half.rows(dst)
        if pool == POOL_MAX:
            self._reduce_max(tile, numerics.rows_of_faces(a), dimension, first=first)
        else:
            self._reduce_sum(tile, a, b, dimension)

    def _reduce_max(self, tile: Array, rows: Array, dimension: int, *, first: bool) -> None:
        """The largest number of each column of `rows`, which hold the transpose to reduce rows.

        GMPOOL takes what was cleared in DST for minus infinity.
        """
        largest = rows.max(axis=0)
        place = _reduce(tile, dimension)
        if dimension not in (REDUCE_ROW, REDUCE_COL):
            largest = largest.max(keepdims=True)
        place[:] = largest if first else np.maximum(place, largest)

    def _reduce_sum(self, tile: Array, a: Any, b: Any, dimension: int) -> None:
        """The factors in row 0 of SrcB times SrcA; for both dimensions, once more the same."""
        place = _reduce(tile, dimension)
        register = self.dst.register
        if isinstance(a, numerics.Factor) and register is not Register.FP16:
            place[:] = self.pool_onto(place[None], a.values[None], b, dimension)[0]
            return
        if dimension in (REDUCE_ROW, REDUCE_COL):
            start = np.zeros((32, 32), np.float32)
            start[0] = place
            place[:] = self._pooled(start, a, b)[0]
            return
        sums = self._pooled(np.zeros((32, 32), np.float32), a, b)
        column = np.zeros((32, 32), np.float32)
        column[:, 0] = sums[0]
        again: Any = column
        if not self.exact:
            moved = numerics.to_source(column, self._source)
            again = numerics.factor_a(numerics.operand(moved, self._source))
        start = np.zeros((32, 32), np.float32)
        start[0, 0] = place[0]
        place[:] = self._pooled(start, again, b)[0, :1]

    def pool_onto(self, start: Array, a: Array, b: numerics.Factor, dimension: int) -> Array:
        """See `numerics.pool_onto`; what is added up by the number of a ReduceDim."""
        return numerics.pool_onto(
            *(start, a, b, _POOLS.get(dimension, numerics.Pool.ALL)),
            *(self._fidelity, self.dst.register),
            source=self._source,
            wormhole=not self.on_blackhole,
        )

    def _pooled(self, start: Array, a: Any, b: Any) -> Array:
        if isinstance(a, numerics.Factor):
            return numerics.matmul_onto(start, a, b, self._fidelity, self.dst.register)
        return (start + b.astype(np.float64) @ a).astype(np.float32)

    # --- Rows of numbers ------------------------------------------------------------------------

    def _copy_each(self, name: str, remedy: str, count: int) -> bool:
        """Copy SrcA to tile 0 of a DST of its own, so many times."""
        while self.done < count:
            if not (self.dst.acquired or self.tile_regs_acquire()):
                return False
            if not self._copy(name, remedy, 0):
                return False
            self.tile_regs_commit()
            self.done += 1
        self.done = 0
        return True

    @kernel_call(waits=True)
    def tilize_block(
        self, cb: int, tiles: int, out: int, input_tile_index: int = 0, output_tile_index: int = 0
    ) -> bool:
        """Copy each tile, in a half of DST of its own."""
        return self._copy_each("tilize_block", "tilize_init", tiles)

    fast_tilize_block = tilize_block

    @kernel_call(waits=True)
    def untilize_block(self, cb: int, tiles: int, out: int, *, template: Template = ()) -> bool:
        """Copy each 1024 numbers, in a half of DST of its own."""
        return self._copy_each("untilize_block", "untilize_init", tiles)

    @kernel_call(waits=True)
    def pack_untilize_block(
        self, cb: int, rows: int, out: int, block_c_index: int = 0, *, template: Template = ()
    ) -> bool:
        """Copy rows of `block_ct_dim` tiles, each row in a half of DST of its own."""
        width = int(template[0]) if template else 8
        while self.done < rows * width:
            if not (self.dst.acquired or self.tile_regs_acquire()):
                return False
            if not self._copy("pack_untilize_block", "pack_untilize_init", self.done % width):
                return False
            self.done += 1
            if self.done % width == 0:
                self.tile_regs_commit()
        self.done = 0
        return True


_POOLS = {REDUCE_ROW: numerics.Pool.ROWS, REDUCE_COL: numerics.Pool.COLUMNS}


def _reduced_lanes(rows: Array, *, dimension: int) -> Array:
    """Which numbers of a reduction nobody wrote, if nobody wrote these of SrcA or SrcB."""
    found = np.zeros_like(rows)
    columns = rows.any(axis=0)
    _reduce(found, dimension)[:] = columns if dimension in _POOLS else columns.any()
    return found


def _reduce(tile: Array, dimension: int) -> Array:
    """The part of a tile that a reduction writes: column 0, row 0 or the first number."""
    if dimension == REDUCE_ROW:
        return tile[:, 0]
    return tile[0] if dimension == REDUCE_COL else tile[0, :1]
