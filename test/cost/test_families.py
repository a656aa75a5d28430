"""What operations do on the cores, against calculations by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ttmlir.cost.families.contraction import choose_subblock
from ttmlir.cost.families.movement import count_lines
from ttmlir.cost.machine import Machine
from ttmlir.cost.times import cost_operation
from ttmlir.cost.work import MatmulConfig, Work, function_cycles, make_desc, tile_count
from ttmlir.cost.workload import PROCESSOR, Stage, Workload
from ttmlir.layout.enums import Arch, DataType, MathFidelity, MemorySpace, TensorMemoryLayout
from ttmlir.layout.system import board

L1 = MemorySpace.DEVICE_L1
BLOCK, HEIGHT = TensorMemoryLayout.BLOCK_SHARDED, TensorMemoryLayout.HEIGHT_SHARDED
WIDTH = TensorMemoryLayout.WIDTH_SHARDED


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


@pytest.mark.parametrize(("name", "cycles"), [("n150", 360), ("p150", 430 * 1.35)])
def test_windows_of_pools_take_what_was_measured(name: str, cycles: float) -> None:
    """tt-metal issue 27922: 360 ns on Wormhole and 430 ns on Blackhole for up to 256 channels."""
    work = Work(
        mnemonic="max_pool2d",
        operands=(make_desc((1, 1, 4096, 64)),),
        output=make_desc((1, 1, 1024, 64)),
        parameters={"kernel_height": 2, "kernel_width": 2},
    )
    programs = cost_operation(Machine.of(name, board(name)), work).programs
    found = [stage.cycles for program in programs for stage in program.compute]
    assert pytest.approx(cycles) in found


@pytest.mark.parametrize(("block_rows", "processors"), [(None, 2), (7, 2), (2, 1)])
def test_windows_of_rows_are_gathered_by_two_processors(
    block_rows: int | None, processors: int
) -> None:
    """Of 16 images of 112x56 pixels of 8 channels a core has 28 rows: 4 transfers of 25.5 cycles
    for each of 28 x 56 windows of 4x7, by one processor where ttnn 0.81 splits no blocks. Before
    that each row is written to its place in 39.2 cycles, and 16 bytes a pixel at 28 a cycle."""
    cores, pixels = 64, 16 * 112 * 56
    source, output = (
        make_desc((1, 1, pixels, channels), memory=L1, layout=HEIGHT, grid=(cores, 1), tiled=tiled)
        for channels, tiled in ((8, False), (64, True))
    )
    sides = {"height": 4, "width": 7}
    work = Work(
        mnemonic="conv2d",
        operands=(source, make_desc((8 * 4 * 7, 64))),
        output=output,
        parameters={
            **{f"kernel_{side}": extent for side, extent in sides.items()},
            **{"in_channels": 8, "out_channels": 64, "groups": 1, "input_width": 56},
        },
        matmul=MatmulConfig(block_rows=block_rows),
    )
    edges, product = cost_operation(n150(), work).programs
    assert edges.compute == ()
    copied = edges.once[0].cycles
    assert copied == pytest.approx(344 + 28 * 39.2 + 28 * 56 * 16 / 28, rel=0.05)
    gathered = [stage.cycles for stage in product.stages if stage.kind == PROCESSOR]
    expected = 28 * 56 * 4 * 25.5 / processors
    assert max(gathered) * product.steps == pytest.approx(expected, rel=0.05)


def test_sorting_merges_in_every_round() -> None:
    """A row of 4 tiles: 2 pairs of tiles are sorted in 3600 cycles, then merged, in 1090.

    One round of merges for a sort of two pairs, 28 more for 256 tiles; the k largest are merged
    once.
    """
    cycles: list[float] = []
    for mnemonic, columns in (("sort", 128), ("sort", 256 * 32), ("topk", 256 * 32)):
        desc = make_desc((32, columns))
        work = Work(mnemonic=mnemonic, operands=(desc,), output=desc)
        [workload] = cost_operation(n150(), work).programs
        assert workload.cores == 1
        assert workload.steps == columns // 32
        cycles.append(workload.compute[-1].cycles)
    assert cycles == [(3600 + 1090) / 2, (3600 + 28 * 1090) / 2, (3600 + 1090) / 2]


@pytest.mark.parametrize(
    ("mnemonic", "shape", "cores", "tiles"),
    [
        ("tilize", (32, 4096), 64, 2),
        ("tilize", (64, 1280), 40, 2),
        ("tilize", (32, 1024), 1, 32),
        ("tilize", (96, 72), 3, 3),
        ("untilize", (32, 4096), 64, 2),
        ("untilize", (128, 256), 32, 1),
        ("untilize", (70 * 32, 96), 64, 3),
    ],
)
def test_layouts_change_in_parts_of_rows(
    mnemonic: str, shape: tuple[int, int], cores: int, tiles: int
) -> None:
    """ttnn 0.81 tilizes rows of more than 32 tiles in blocks, and untilizes all by parts of rows,
    where rows of tiles are fewer than cores."""
    rows, made = make_desc(shape, tiled=False), make_desc(shape)
    source, output = (rows, made) if mnemonic == "tilize" else (made, rows)
    work = Work(mnemonic=mnemonic, operands=(source,), output=output)
    [program] = cost_operation(n150(), work).programs
    assert (program.cores, program.tiles_per_step) == (cores, tiles)


def test_lines_that_are_padding_are_not_moved() -> None:
    """3 x 5 rows of 40 numbers are 45 lines of 16; a number is one."""
    assert (count_lines((3, 5, 40)), count_lines((7,)), count_lines(())) == (45, 1, 1)


def test_permutation_writes_its_lines_one_by_one() -> None:
    """256 x 8 rows of 72 numbers: 10,240 lines in 768 tiles, 12 of which a core has. A line takes
    39.2 cycles to issue and two divisions of 25; a write alone 413."""
    source, output = make_desc((1, 8, 256, 72)), make_desc((1, 256, 8, 72))
    work = Work(
        mnemonic="permute",
        operands=(source,),
        output=output,
        parameters={"permutation": (0, 2, 1, 3)},
    )
    [program] = cost_operation(n150(), work).programs
    assert (program.cores, program.steps) == (64, 12)
    assert program.write.cycles == pytest.approx(413 + 10_240 / 768 * (39.2 + 2 * 25))


def test_permutation_of_columns_gathers_lines_and_writes_whole_tiles() -> None:
    """21 x 40 rows of 72 numbers are 4,200 lines, of 32 bytes each, which become 72 x 40 rows of 21
    numbers: 144 tiles, each written as 64 lines with its padding."""
    work = Work(
        mnemonic="permute",
        operands=(make_desc((1, 21, 40, 72)),),
        output=make_desc((1, 72, 40, 21)),
        parameters={"permutation": (0, 3, 2, 1)},
    )
    [program] = cost_operation(n150(), work).programs
    assert (program.cores, program.steps) == (64, 3)
    # A read takes 389 cycles alone; it and its place are a division of 25 each, and issuing it.
    lines, issue = 4200 / 144, n150().figures.read_issue
    assert program.read.cycles == pytest.approx(389 + (lines - 1) * (issue + 25) + lines * 25)
    assert program.write.cycles == pytest.approx(413 + 64 * (39.2 + 2 * 25))


@pytest.mark.parametrize("tiled", [False, True])
def test_rows_of_a_table_are_read_one_by_one(tiled: bool) -> None:
    """37 rows of 640 bfloat16 numbers: a core for each, or, in tiles, for each 32 of them."""
    work = Work(
        mnemonic="rows_gather",
        operands=(make_desc((5000, 640), tiled=False), make_desc((1, 37), DataType.U32)),
        output=make_desc((1, 37, 640), tiled=tiled),
    )
    [program] = cost_operation(n150(), work).programs
    assert (program.cores, program.steps) == ((2, 1) if tiled else (37, 1))
    # 1280 bytes at 22.2 per cycle behind 389 cycles of latency.
    assert tiled or program.read.cycles == pytest.approx(389 + 1280 / 22.2)
    assert tiled or program.dram_bytes == 2 * 37 * 1280


@pytest.mark.parametrize(
    ("mnemonic", "shape", "output", "parameters", "programs"),
    [
        # What ttnn 0.81 launches on a mock card.
        ("repeat", (8, 2, 40, 96), (8, 2, 160, 96), {"repeat_dimensions": (1, 1, 4, 1)}, 3),
        ("repeat", (8, 2, 64, 96), (8, 2, 64, 192), {"repeat_dimensions": (1, 1, 1, 2)}, 1),
        ("repeat_interleave", (8, 2, 64, 96), (24, 2, 64, 96), {"dim": 0}, 1),
        ("repeat_interleave", (8, 2, 64, 96), (8, 2, 192, 96), {"dim": 2}, 3),
        ("repeat_interleave", (8, 2, 64, 96), (8, 2, 64, 288), {"dim": -1}, 5),
        (
            *("slice", (8, 2, 64, 96), (8, 2, 40, 55)),
            *({"begins": (0, 0, 5, 7), "step": (1, 1, 1, 1)}, 3),
        ),
    ],
)
def test_parts_of_tiles_move_as_rows(
    mnemonic: str,
    shape: tuple[int, ...],
    output: tuple[int, ...],
    parameters: dict[str, object],
    programs: int,
) -> None:
    """Out of their tiles, one by one, and into tiles again; columns are transposed around that."""
    work = Work(
        mnemonic=mnemonic,
        operands=(make_desc(shape),),
        output=make_desc(output),
        parameters=parameters,
    )
    found = cost_operation(n150(), work).programs
    assert len(found) == programs
    if programs > 1:
        size = 2 * math.prod(output)
        assert found[programs // 2].dram_bytes == 2 * size


def test_rows_of_few_numbers_are_written_alone() -> None:
    """40 matrices of 3 x 5 numbers become rows: a core writes 3 rows of 10 bytes, not 32."""
    source, output = make_desc((40, 3, 5)), make_desc((40, 3, 5), tiled=False)
    work = Work(mnemonic="untilize", operands=(source,), output=output)
    [program] = cost_operation(n150(), work).programs
    assert program.write == n150().write_dram(3, 10, 40)


def test_transposed_operands_have_the_extents_of_the_product() -> None:
    """160x96 times 96x224, either operand given the other way round: the same steps, blocks and
    FLOP; tiles of the first operand are turned, in 72 + 66 cycles each, by who multiplies them."""
    plain = Work(
        mnemonic="matmul",
        operands=(make_desc((160, 96)), make_desc((96, 224))),
        output=make_desc((160, 224)),
        fidelity=MathFidelity.HIFI2,
    )
    turned = replace(
        plain,
        operands=(make_desc((96, 160)), plain.operands[1]),
        parameters={"transpose_a": True},
    )
    second = replace(
        plain,
        operands=(plain.operands[0], make_desc((224, 96))),
        parameters={"transpose_b": True},
    )
    [expected], [first], [other] = (
        cost_operation(n150(), each).programs for each in (plain, turned, second)
    )
    assert other == expected
    assert (first.cores, first.steps, first.flops) == (35, expected.steps, 2.0 * 160 * 96 * 224)
    longer = [
        one.cycles - two.cycles for one, two in zip(first.compute, expected.compute, strict=True)
    ]
    assert longer == pytest.approx([72 + 66] * 3)


def test_elementwise_divides_tiles_over_the_cores() -> None:
    """70 tiles on 64 cores: two steps, of which the vector unit takes 672 + 8 for exp."""
    desc = make_desc((70 * 32, 32))
    [program] = cost_operation(n150(), Work(mnemonic="exp", operands=(desc,), output=desc)).programs
    assert (program.cores, program.steps) == (64, 2)
    unpack, compute, pack = program.compute
    assert (unpack.cycles, compute.cycles, pack.cycles) == (40, 680, 45)
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


@pytest.mark.parametrize("data_type", [DataType.BF16, DataType.BFP_BF8])
@pytest.mark.parametrize(("depth", "columns", "block"), [(64, 256, 4), (256, 64, 4)])
def test_products_beside_the_banks_read_at_the_rate_of_dram(
    data_type: DataType, depth: int, columns: int, block: int
) -> None:
    """tt-metal's report of language models: about 240 GB/s of weights that are sharded over DRAM,
    where interleaved ones come at about 190. Here 264 of 256, or 72 of 64, columns are read."""
    rows, weight, result = (
        make_desc((32, 32 * depth), memory=L1, layout=WIDTH, grid=(1, 16)),
        make_desc((32 * depth, 32 * columns), data_type, layout=WIDTH, grid=(1, 12)),
        make_desc((32, 32 * columns), memory=L1, layout=WIDTH, grid=(1, 16)),
    )
    config = MatmulConfig(grid=(1, 12), block_depth=block, at_banks=True)
    work = Work(
        mnemonic="matmul",
        operands=(rows, weight),
        output=result,
        fidelity=MathFidelity.LOFI,
        matmul=config,
    )
    [program] = cost_operation(n150(), work).programs
    assert program.cores == -(-columns // -(-columns // 12))
    size = depth * columns * (1088 if data_type is DataType.BFP_BF8 else 2048)
    assert size / program.cycles.mid == pytest.approx(240, rel=0.15)


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


@pytest.mark.parametrize(
    ("function", "arch", "exact", "fast"),
    [
        # tt-metal PR 26946 and 55061; 49926; 0.81's instructions and 29495; 48925 and 49926.
        ("sigmoid", Arch.WORMHOLE_B0, 1394, 198),
        ("sigmoid", Arch.BLACKHOLE, 1247, 221),
        ("exp", Arch.WORMHOLE_B0, 1376, 128),
        ("exp", Arch.BLACKHOLE, 1344, 52),
        ("floor", Arch.WORMHOLE_B0, 520, 520),
        ("floor", Arch.BLACKHOLE, 476, 476),
    ],
)
def test_functions_have_costs_by_chip_and_form(
    function: str, arch: Arch, exact: int, fast: int
) -> None:
    """Those that were published; one without a fast form takes the same."""
    assert function_cycles(arch, function) == exact
    assert function_cycles(arch, function, approximate=True) == fast


@pytest.mark.parametrize(("arch", "narrow"), [(Arch.WORMHOLE_B0, 672), (Arch.BLACKHOLE, 482)])
def test_exponentials_of_16_bits_take_less(arch: Arch, narrow: int) -> None:
    """20 instructions of tt-metal 0.81 for each vector on Wormhole, tt-metal PR 54318."""
    assert function_cycles(arch, "exp", (DataType.BF16,)) == narrow
    assert function_cycles(arch, "exp", (DataType.F32,)) > 2 * narrow


@pytest.mark.parametrize(("destinations", "rate"), [(7, 30.4), (63, 25.2)])
def test_each_receiver_acknowledges_a_packet(destinations: int, rate: float) -> None:
    """8 KiB are 257 flits of 1.02 cycles; 25.6 bytes per cycle were measured with 63 receivers."""
    machine = n150()
    sent = machine.multicast_cycles(2**20, destinations) - machine.multicast_cycles(0, destinations)
    assert 2**20 / sent == pytest.approx(rate, rel=0.01)


@pytest.mark.parametrize(("destinations", "cycles"), [(63, 710), (24, 470)])
def test_multicasts_wait_for_their_path_and_for_answers(destinations: int, cycles: int) -> None:
    """One of 32 bytes, as measured by tt-low-level-documentation: within 15 %."""
    assert n150().multicast_delay(destinations) == pytest.approx(cycles, rel=0.15)
