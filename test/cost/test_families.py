"""What operations do on the cores, against calculations by hand."""

from __future__ import annotations

import pytest

from ttmlir.cost.families.contraction import choose_subblock
from ttmlir.cost.machine import Machine
from ttmlir.cost.operations import cost_operation
from ttmlir.cost.tensors import make_desc, tile_count
from ttmlir.cost.work import Work
from ttmlir.cost.workload import Stage, Workload
from ttmlir.layout.enums import DataType, MathFidelity, MemorySpace, TensorMemoryLayout
from ttmlir.layout.system.boards import board

L1 = MemorySpace.DEVICE_L1
BLOCK = TensorMemoryLayout.BLOCK_SHARDED


def n150() -> Machine:
    """A Wormhole of 8x8 cores with 12 channels of DRAM, at 1 GHz."""
    return Machine.of("n150", board("n150"))


def test_a_pipeline_takes_its_first_step_and_its_longest_stage_for_the_others() -> None:
    """Four steps of 10, 30 and 20 cycles: 60, then 3 times 30; serially 4 times 60."""
    workload = Workload(
        cores=1,
        steps=4,
        read=Stage("DRAM", 10),
        compute=(Stage("compute", 30),),
        write=Stage("DRAM", 20),
    )
    assert workload.cycles.low == 120
    assert workload.cycles.mid == 150
    assert workload.cycles.high == 240
    assert workload.bound_by == "compute"


def test_tiles_count_their_padding() -> None:
    """3 matrices of 33x70 are 2x3 tiles each."""
    assert tile_count((3, 33, 70)) == 18
    assert tile_count((5,)) == 1
    assert tile_count(()) == 1


def test_elementwise_divides_tiles_over_the_cores() -> None:
    """70 tiles on 64 cores: two steps, of which the vector unit takes 1344 + 8 for exp."""
    desc = make_desc((70 * 32, 32))
    [program] = cost_operation(n150(), Work(mnemonic="exp", operands=(desc,), output=desc)).programs
    assert (program.cores, program.steps) == (64, 2)
    unpack, compute, pack = program.compute
    assert (unpack.cycles, compute.cycles, pack.cycles) == (40, 1352, 45)
    assert program.dram_bytes == 2 * 70 * 2048
    assert program.flops == 70 * 1024


def test_sharded_tensors_move_nothing() -> None:
    """Every core has its tiles already."""
    desc = make_desc((256, 256), memory=L1, layout=BLOCK, grid=(4, 8))
    [program] = cost_operation(
        n150(), Work(mnemonic="add", operands=(desc, desc), output=desc)
    ).programs
    assert (program.cores, program.steps) == (32, 2)
    assert program.dram_bytes == program.noc_bytes == 0
    # 64 cycles for the bytes of two tiles and 8 for the instructions, then 45 to pack.
    assert program.compute[0].cycles == 72
    assert program.cycles.mid == 2 * 72 + 8 + 45


@pytest.mark.parametrize(
    ("block", "expected"),
    [((2, 2), (2, 2)), ((8, 8), (2, 4)), ((1, 7), (1, 7)), ((3, 5), (1, 5)), ((16, 16), (2, 4))],
)
def test_subblocks_fill_half_of_dst(block: tuple[int, int], expected: tuple[int, int]) -> None:
    """At most 8 tiles, which divide the block."""
    chosen = choose_subblock(*block, wide=False)
    assert sorted(chosen) == sorted(expected)


def test_products_count_their_operations() -> None:
    """2 * M * K * N, without padding; HiFi2 for bf16, LoFi for block floats."""
    a, b, c = make_desc((100, 70)), make_desc((70, 50)), make_desc((100, 50))
    [program] = cost_operation(n150(), Work(mnemonic="matmul", operands=(a, b), output=c)).programs
    assert program.flops == 2 * 100 * 70 * 50
    assert program.fidelity is MathFidelity.HIFI2
    assert program.dram_bytes == (4 * 3 + 3 * 2 + 4 * 2) * 2048
    short = [make_desc(shape, DataType.BFP_BF8) for shape in ((100, 70), (70, 50), (100, 50))]
    [program] = cost_operation(
        n150(), Work(mnemonic="matmul", operands=(short[0], short[1]), output=short[2])
    ).programs
    assert program.fidelity is MathFidelity.LOFI
