"""The hand-overs through SrcA, SrcB and DST: capacity, order, times, who waits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cores.compute_core import ComputeCore, call
from cores.tile_bytes import core_of, eighths

from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.optable.kernel import Role
from ttmlir.sim.errors import DeadlockError
from ttmlir.sim.execution.scheduler import KernelSource, KernelThread, Scheduler
from ttmlir.sim.machine.device import Core, SimChip
from ttmlir.sim.machine.numerics import Register, faces_of_rows, factor_a, factor_b
from ttmlir.sim.machine.registers import DestinationRegisters, Products, SourceRegisters
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.costs import UNITS, pack_cycles, unpack_cycles


def thread(role: Role = Role.MATH) -> KernelThread:
    """A thread that can be made to wait."""
    core = Core(SimChip.of_board("n150"), (0, 0))
    return KernelThread(core, role, KernelSource("k", "k.cpp"), scheduler=Scheduler(SimOptions()))


@pytest.mark.parametrize(
    ("register", "full_sync", "capacity"),
    [
        (Register.BF16, False, 8),
        (Register.FP16, True, 16),
        (Register.FP32, False, 4),
        (Register.FP32, True, 8),
    ],
)
def test_capacity_of_dst(register: Register, full_sync: bool, capacity: int) -> None:
    """16 tiles of 16 bits or 8 of 32, halved unless it is handed over whole."""
    assert DestinationRegisters(register, full_sync=full_sync).capacity == capacity


def test_products_of_several_cores_are_added_together() -> None:
    """However many each tile has, and whoever looks first; what was cleared stays so."""
    factors = np.arange(2048, dtype=np.float64).reshape(2, 32, 32) % 5 - 1
    product = factor_a(factors[1]), factor_b(factors[0])
    once = (factors[0] @ factors[1]).astype(np.float32)
    products = Products(Register.FP32, MathFidelity.HIFI4)
    halves = [DestinationRegisters(Register.FP32, products=products).math for _ in range(11)]
    for number, half in enumerate(halves):
        for _ in range(number % 4 + 1):
            half.add_product(number % 3, product)
    halves[1].clear()
    assert (halves[5].rows(2) == 2 * once).all()
    assert not products.waiting
    for number, half in enumerate(halves):
        count = 0 if number == 1 else number % 4 + 1
        assert (half.rows(number % 3) == count * once).all()


def test_products_are_there_when_somebody_looks() -> None:
    """In any order of memory, behind what was there, and gone with what overwrites the tile."""
    factors = np.arange(2048, dtype=np.float64).reshape(2, 32, 32) % 3
    product = factor_a(factors[1]), factor_b(factors[0])
    once = (factors[0] @ factors[1]).astype(np.float32)
    dst = DestinationRegisters(Register.FP32).math
    for index in (0, 0, 1, 2, 3):
        dst.add_product(index, product)
    assert all(dst.written(index) for index in range(4))
    dst.forget(2)
    dst.new_rows(3)[:] = 1
    assert not dst.written(2)
    assert (dst.faces(0) == faces_of_rows(2 * once)).all()
    assert (dst.rows(1) == once).all()
    assert (dst.rows(2) == 0).all()
    dst.add_product(3, product)
    assert (dst.rows(3) == once + 1).all()
    dst.add_product(3, product)
    dst.clear()
    assert not dst.written(3)


def test_rows_are_added_to_tiles_that_were_written() -> None:
    """To consecutive ones; those that were not are overwritten, so that -0 stays -0."""
    numbers = np.full((3, 32, 32), -0.0, np.float32)
    numbers[:, 1] = np.arange(96).reshape(3, 32)
    dst = DestinationRegisters(Register.BF16).math
    dst.new_faces(2)[:] = 5
    dst.add_rows(1, numbers)
    assert np.signbit(dst.rows(1)[0]).all()
    assert (dst.rows(2) == numbers[1] + 5).all()
    dst.faces(1)
    dst.add_rows(1, numbers[:2])
    assert (dst.rows(1) == 2 * numbers[0]).all()
    assert (dst.rows(2) == 2 * numbers[1] + 5).all()
    assert (dst.rows(3) == numbers[2]).all()


@pytest.mark.parametrize(("full_sync", "parts"), [(False, 2), (True, 1)])
def test_math_waits_while_all_parts_are_committed(full_sync: bool, parts: int) -> None:
    """And goes on when one is released."""
    dst = DestinationRegisters(Register.BF16, full_sync=full_sync)
    math, pack = thread(), thread(Role.PACK)
    for _ in range(parts):
        assert dst.acquire(math)
        assert dst.acquired
        dst.commit(5)
        assert not dst.acquired
    assert not dst.acquire(math)
    assert math.waiting_for is not None
    assert math.waiting_for.describe(math)[0] == "a free part of DST"
    assert dst.wait(pack)
    assert (dst.waited, dst.pack.time) == (True, 5)
    dst.release(9)
    assert math.waiting_for is None
    assert dst.acquire(math)
    assert dst.math.time == 9


def test_pack_waits_for_a_commit() -> None:
    """And takes halves in the order of their commits."""
    dst = DestinationRegisters(Register.BF16)
    math, pack = thread(), thread(Role.PACK)
    assert not dst.wait(pack)
    assert pack.waiting_for is not None
    for value in (1, 2):
        dst.acquire(math)
        dst.math.new_faces(0).fill(value)
        dst.commit(0)
    assert pack.waiting_for is None
    for value in (1, 2):
        assert dst.wait(pack)
        assert (dst.pack.faces(0) == value).all()
        dst.release(0)


def test_the_semaphore_of_dst_stays_in_its_range() -> None:
    """A release too many does not let math have a half more, nor a commit too many pack."""
    dst = DestinationRegisters(Register.BF16, full_sync=True)
    math, pack = thread(), thread(Role.PACK)
    dst.release(0)
    dst.commit(0)
    assert not dst.acquire(math)
    dst.commit(0)
    dst.release(0)
    assert not dst.wait(pack)


def test_released_tiles_read_as_zeros() -> None:
    """In either order of numbers."""
    dst = DestinationRegisters(Register.BF16, full_sync=True)
    dst.math.new_faces(3).fill(1)
    dst.commit(0)
    dst.release(0)
    assert not dst.math.written(3)
    assert (dst.math.rows(3) == 0).all()
    assert (dst.math.faces(3) == 0).all()


def test_tiles_change_their_order_when_read_in_the_other() -> None:
    """Rows of 32 to faces of 16x16 and back, in place."""
    dst = DestinationRegisters(Register.BF16)
    rows = np.arange(1024, dtype=np.float32).reshape(32, 32)
    dst.math.new_rows(0)[:] = rows
    faces = dst.math.faces(0)
    assert faces[16] == rows[1, 0]
    assert faces[256] == rows[0, 16]
    assert faces[512] == rows[16, 0]
    np.testing.assert_array_equal(dst.math.rows(0), rows)


def test_two_banks_of_source_registers() -> None:
    """The unpacker waits for a third; times of filling and freeing are handed over."""
    src = SourceRegisters()
    unpack, math = thread(Role.UNPACK), thread()
    assert not src.can_use(math)
    assert math.waiting_for is not None
    for time in (10, 20):
        assert src.can_fill(unpack)
        src.fill("a", "b", time, time)
    assert math.waiting_for is None
    assert not src.can_fill(unpack)
    assert unpack.waiting_for is not None
    assert src.can_use(math)
    assert src.banks[0] == ("a", "b", 10, 10, None)
    src.free(30)
    assert unpack.waiting_for is None
    assert src.can_fill(unpack)
    assert src.freed[0] == 30


def _clocks(core: ComputeCore, calls: list[Any]) -> dict[Role, int]:
    return {role: each.clock for role, each in core.run(calls).items()}


def test_clocks_of_one_tile() -> None:
    """Unpacking, the sum (8 cycles) and packing come one after another."""
    core = core_of((eighths(1, 8), DataType.BF16))
    calls = [call("binary_op_init_common", 0, 0, 16), call("add_tiles_init", 0, 0)]
    calls += [call("tile_regs_acquire"), call("add_tiles", 0, 0, 0, 0, 0)]
    calls += [call("tile_regs_commit"), call("tile_regs_wait"), call("pack_tile", 0, 16)]
    calls += [call("tile_regs_release")]
    unpacked = 2 * UNITS.reconfigure + unpack_cycles(DataType.BF16, DataType.BF16)
    assert _clocks(core, calls) == {
        Role.UNPACK: unpacked,
        Role.MATH: unpacked + 8 + UNITS.dst_handover,
        Role.PACK: unpacked + 8 + pack_cycles(DataType.BF16),
    }
    assert core.threads[Role.MATH].stalls == {"src": unpacked - 2 * UNITS.reconfigure}
    assert core.threads[Role.PACK].stalls == {"dst": unpacked + 8 - UNITS.reconfigure}


def test_steady_state_is_that_of_the_slowest_unit() -> None:
    """Many sums: the unpacker (136 cycles for two tiles) sets the pace, the others follow."""
    core = core_of((eighths(1, 8), DataType.F32), out_pages=40)
    calls = [call("binary_op_init_common", 0, 0, 16), call("add_tiles_init", 0, 0)]
    for _ in range(40):
        calls += [call("tile_regs_acquire"), call("add_tiles", 0, 0, 0, 0, 0)]
        calls += [call("tile_regs_commit"), call("tile_regs_wait"), call("pack_tile", 0, 16)]
        calls += [call("tile_regs_release")]
    clocks = _clocks(core, calls)
    unpacked = 2 * UNITS.reconfigure + 40 * unpack_cycles(DataType.F32, DataType.F32)
    assert clocks[Role.UNPACK] == unpacked
    assert clocks[Role.PACK] == unpacked + 8 + pack_cycles(DataType.BF16)


def test_a_slow_packer_holds_everyone_back() -> None:
    """Float32 tiles take longer to pack than bfp_bf2 tiles to unpack and copy."""
    core = core_of((eighths(1, 8), DataType.BFP_BF4), out=DataType.F32, out_pages=20)
    calls = [call("unary_op_init_common", 0, 16)]
    for _ in range(20):
        calls += [call("tile_regs_acquire"), call("copy_tile", 0, 0, 0)]
        calls += [call("tile_regs_commit"), call("tile_regs_wait"), call("pack_tile", 0, 16)]
        calls += [call("tile_regs_release")]
    clocks = _clocks(core, calls)
    first = UNITS.reconfigure + unpack_cycles(DataType.BFP_BF4) + 8
    assert clocks[Role.PACK] == first + 20 * pack_cycles(DataType.F32)
    # Tile 19 is computed when tile 17 has been packed.
    assert clocks[Role.MATH] == first + 18 * pack_cycles(DataType.F32) + 8 + UNITS.dst_handover


def test_blocks_of_products_stream_through_both_banks() -> None:
    """Products begin with the first two of three tiles (37 cycles each), and take 67 at HiFi4."""
    two = np.stack([eighths(2, 8), eighths(3, 8)])
    core = core_of((eighths(1, 8), DataType.BF16), (two, DataType.BF16))
    calls = [call("mm_block_init", 0, 1, 16, 0, 2, 1, 1), call("tile_regs_acquire")]
    calls += 3 * [call("matmul_block", 0, 1, 0, 0, 0, 0, 2, 1, 1)]
    clocks = _clocks(core, calls)
    begin = UNITS.reconfigure + 2 * 37
    assert clocks[Role.MATH] == begin + 3 * 2 * 67
    # The third block is unpacked when the second one has a product, and a tile, left.
    assert clocks[Role.UNPACK] == begin + 2 * 2 * 67 - 67 - 37 + 3 * 37


def test_networks_take_banks_of_l1_from_the_unpackers() -> None:
    """Of 100 times 32 bytes 60 moved while the unpackers waited; 40 cost 0.225 cycles each."""
    core = core_of((eighths(1, 8), DataType.BF16))
    calls = [call("binary_op_init_common", 0, 0, 16), call("add_tiles_init", 0, 0)]
    assert UNITS.reconfigure == 30
    core.core.passed = 100 * 32
    clocks = _clocks(core, [*calls, call("tile_regs_acquire"), call("add_tiles", 0, 0, 0, 0, 0)])
    assert clocks[Role.UNPACK] == 60 + unpack_cycles(DataType.BF16, DataType.BF16) + 9
    assert core.core.passed == (100 - unpack_cycles(DataType.BF16, DataType.BF16)) * 32


def test_processors_run_ahead_of_their_units() -> None:
    """Instructions pass while a unit works, unless the processor waits."""
    math = thread()
    math.occupy(50)
    math.step(20)
    assert (math.clock, math.ahead) == (50, 30)
    math.step(40)
    assert (math.clock, math.ahead) == (60, 0)
    math.occupy(50)
    math.wait_until(90, "cb_wait_front")
    assert (math.clock, math.ahead, math.stalls) == (110, 20, {})
    math.wait_until(115, "cb_wait_front")
    math.step(3)
    assert (math.clock, math.stalls) == (118, {"cb_wait_front": 5})


def test_without_clocks_no_time_passes() -> None:
    """All clocks stay 0."""
    core = core_of((eighths(1, 8), DataType.BF16), timed=False)
    calls = [call("unary_op_init_common", 0, 16), call("tile_regs_acquire")]
    calls += [call("copy_tile", 0, 0, 0), call("tile_regs_commit"), call("tile_regs_wait")]
    calls += [call("pack_tile", 0, 16), call("tile_regs_release")]
    assert set(_clocks(core, calls).values()) == {0}


def test_a_missing_commit_is_a_deadlock_that_says_so() -> None:
    """PACK waits for results that MATH never hands over."""
    core = core_of((eighths(1, 8), DataType.BF16))
    calls = [call("unary_op_init_common", 0, 16), call("tile_regs_acquire")]
    calls += [call("copy_tile", 0, 0, 0), call("tile_regs_wait")]
    with pytest.raises(DeadlockError) as caught:
        core.run(calls)
    text = str(caught.value)
    assert "core (0, 0) PACK waits for results in DST" in text
    assert "the math thread hands them over with tile_regs_commit" in text


def test_a_missing_release_is_a_deadlock_that_says_so() -> None:
    """MATH waits for a third half."""
    core = core_of((eighths(1, 8), DataType.BF16))
    calls = [call("unary_op_init_common", 0, 16)]
    for _ in range(3):
        calls += [call("tile_regs_acquire"), call("copy_tile", 0, 0, 0), call("tile_regs_commit")]
    with pytest.raises(DeadlockError, match="MATH waits for a free part of DST"):
        core.run(calls)
