"""Products whose operands are multicast along rows and columns of cores, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from running.pass_runner import lowered
from samples.d2m_programs import (
    MATMUL,
    Buffer,
    Operand,
    Program,
    check,
    numbers,
    product_error,
    rounding,
)
from samples.d2m_stages import MATMUL as STAGE_MATMUL
from samples.d2m_stages import Region, Tensor

from ttmlir.dialects.d2m.structure import STORED_BY_READER
from ttmlir.passes.d2m.kernels import block_copy

M, K, N = 256, 192, 128
"""8, 6 and 4 tiles."""


def product(
    block: tuple[int, int, int], grid: tuple[int, int], element: str = "bf16", space: str = "dram"
) -> Program:
    """A product in blocks of so many tiles along M, N and K."""
    program = Program()
    for name, shape in (("a", (8, 6)), ("b", (6, 4)), ("c", (8, 4))):
        if space == "l1" and name != "c":
            rows, columns = shape
            buffer = Buffer(name, (rows // 2, columns // 2), (2, 2), space, element)
        else:
            buffer = Buffer(name, shape, element=element)
        program.buffer(buffer)
    program.write("a")
    program.write("b")
    m, n, k = (extent // each for extent, each in zip((8, 4, 6), block, strict=True))
    bm, bn, bk = block
    views = ("", "")
    if space == "l1":
        views = tuple(
            f"(d0 * {rows} + d2) floordiv {height}, (d1 * {columns} + d3) floordiv {width}, "
            f"(d0 * {rows} + d2) mod {height}, (d1 * {columns} + d3) mod {width}"
            for rows, columns, height, width in ((bm, bk, 4, 3), (bk, bn, 3, 2))
        )
    program.generic(
        [
            Operand("a", (m, k), (bm, bk), "d0, d2", views[0]),
            Operand("b", (k, n), (bk, bn), "d2, d1", views[1]),
        ],
        [Operand("c", (m, n), (bm, bn), "d0, d1")],
        MATMUL,
        grid=grid,
        factors=(-(-m // grid[0]), -(-n // grid[1]), k),
        iterators=["parallel", "parallel", "reduction"],
    )
    program.read("c")
    return program


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("block", "grid"),
    [
        ((2, 1, 1), (4, 4)),
        ((1, 1, 2), (8, 2)),
        ((2, 2, 3), (2, 2)),
        ((2, 1, 2), (1, 4)),
        ((2, 1, 6), (4, 1)),
        ((2, 1, 2), (3, 4)),
        ((4, 1, 2), (2, 3)),
    ],
)
def test_products(block: tuple[int, int, int], grid: tuple[int, int]) -> None:
    """Also on one row or column, and where the last cores have fewer blocks."""
    a, b = numbers((M, K)), numbers((K, N))
    error = product_error(a, b, 6 // block[2])
    check(product(block, grid), a.astype(np.float64) @ b, a, b, atol=error)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("block", "grid"), [((4, 1, 1), (1, 2)), ((4, 2, 3), (1, 2)), ((2, 2, 6), (1, 2))]
)
def test_blocks_that_are_stored_while_the_next_is_computed(
    block: tuple[int, int, int], grid: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In chunks, where the writer multicasts and there are steps to do it in."""
    monkeypatch.setattr(block_copy, "CHUNK_TILES", 2)
    program = product(block, grid)
    # One variable says whether a block is on its way, others what is left to be stored.
    assert kernels(program).count("memref.alloca") == (2 if block[2] < 6 else 1)
    a, b = numbers((M, K)), numbers((K, N))
    error = product_error(a, b, 6 // block[2])
    check(program, a.astype(np.float64) @ b, a, b, atol=error)


@pytest.mark.parametrize(("element", "space"), [("f32", "dram"), ("bf16", "l1")])
def test_operands(element: str, space: str) -> None:
    """Numbers of 32 bits, and operands that lie in shards."""
    a, b = numbers((M, K)), numbers((K, N))
    program = product((2, 1, 2), (4, 4), element, space)
    check(program, a.astype(np.float64) @ b, a, b, atol=product_error(a, b, 3, element))


def test_batches() -> None:
    """3 products of 64x96 and 96x64, one after the other on 2x2 cores."""
    program = Program()
    for name, shape in (("a", (3, 2, 3)), ("b", (3, 3, 2)), ("c", (3, 2, 2))):
        program.buffer(Buffer(name, shape))
    program.write("a")
    program.write("b")
    body = MATMUL.replace("(d0, d1, d2)", "(z, d0, d1, d2)").replace("-> (d", "-> (z, d")
    body = body.replace('["parallel"', '["parallel", "parallel"').replace("z", "d3")
    program.generic(
        [
            Operand("a", (3, 2, 3), (1, 1, 1), "d0, d1, d3"),
            Operand("b", (3, 3, 2), (1, 1, 1), "d0, d3, d2"),
        ],
        [Operand("c", (3, 2, 2), (1, 1, 1), "d0, d1, d2")],
        body,
        grid=(1, 2, 2),
        factors=(3, 1, 1, 3),
        iterators=["parallel", "parallel", "parallel", "reduction"],
    )
    program.read("c")
    a, b = numbers((3, 64, 96)), numbers((3, 96, 64))
    assert "noc_async_write_multicast" in kernels(program)
    check(program, a.astype(np.float64) @ b, a, b, atol=product_error(a, b, 3))


def kernels(program: Program) -> str:
    """The text of the kernels."""
    return str(lowered(program.text, "ttir-load-system-desc", "convert-d2m-to-ttkernel"))


def product_of_sums(grid: tuple[int, int]) -> Program:
    """(x + y) @ b in steps of 2 tiles along K: x and y travel along the same rows."""
    left = Tensor((8, 6), (8 // grid[0], 2), "d0, d2")
    region = Region(
        [left, left, Tensor((6, 4), (2, 4 // grid[1]), "d2, d1")],
        [Tensor((8, 4), (8 // grid[0], 4 // grid[1]), "d0, d1")],
        "ppr",
        (1, 1, 3),
    )
    x, y, b, c = map(region.block, range(4))
    total = region.local("total", left.block)
    add = '%e = "d2m.tile_add"(%t0, %t1) : (!t0, !t1) -> !t2'
    region.add([(x, "d0, d1"), (y, "d0, d1")], (total, "d0, d1"), "pp", add)
    region.add([(total, "d0, d2"), (b, "d2, d1")], (c, "d0, d1"), "ppr", STAGE_MATMUL)
    return region.program(grid)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("grid", [(2, 4), (4, 1), (1, 2)])
def test_kernels_that_multicast_two_inputs(grid: tuple[int, int]) -> None:
    """The flag of one is sent before the kernel waits for room, or receivers, of the other."""
    program = product_of_sums(grid)
    x, y, b = numbers((M, K)), numbers((M, K)), numbers((K, N))
    total = x.astype(np.float64) + y
    of_sums = rounding(total) @ np.abs(b)
    check(program, total @ b, x, y, b, atol=of_sums + product_error(total, b, 3))
    expected = 2 * (grid[1] > 1) + (grid[0] > 1)
    assert kernels(program).count("cb_pages_reservable_at_back") == expected


def shared_product(grid: tuple[int, int], rows: int, last: int) -> Program:
    """|a @ b| in blocks of 3 columns, of whose rows the reader stores the last."""
    columns = 3
    region = Region(
        [
            Tensor((rows * grid[0], 4), (rows, 2), "d0, d2"),
            Tensor((4, columns * grid[1]), (2, columns), "d2, d1"),
        ],
        [Tensor((rows * grid[0], columns * grid[1]), (rows, columns), "d0, d1")],
        "ppr",
        (1, 1, 2),
    )
    a, b, c = map(region.block, range(3))
    total = region.local("total", (rows, columns))
    region.stages.append(
        f"%last = memref.alloc() {{address = {0x70000} : i64, {STORED_BY_READER} = 2 : i64}} : "
        f"memref<{last}x{columns}x{c.tile}, #ttcore.memory_space<l1>>"
    )
    region.add([(a, "d0, d2"), (b, "d2, d1")], (total, "d0, d1"), "ppr", STAGE_MATMUL)
    body = '%e = "d2m.tile_abs"(%t0) : (!t0) -> !t1'
    region.add([(total, "d0, d1")], (c, "d0, d1"), "pp", body)
    return region.program(grid)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("grid", "rows", "last"), [((2, 3), 5, 2), ((1, 2), 4, 2), ((2, 1), 7, 3), ((1, 1), 2, 1)]
)
def test_blocks_that_both_kernels_store(grid: tuple[int, int], rows: int, last: int) -> None:
    """Each waits for its own part, in a circular buffer of its own."""
    program = shared_product(grid, rows, last)
    a, b = numbers((rows * grid[0] * 32, 128)), numbers((128, 96 * grid[1]))
    # DST holds 8 tiles: for larger blocks the packer adds, which rounds what it adds as well.
    error = product_error(a, b, 2, packed=rows * 3 > 8)
    check(program, np.abs(a.astype(np.float64) @ b), a, b, atol=error)
    reader, writer = kernels(program).split("func.func private")[1:3]
    assert "noc_async_write_tile" in reader
    assert "noc_async_write_tile" in writer


def sums_in_output(
    grid: tuple[int, int], rounds: tuple[int, int], rows: int, last: int, buffers: int
) -> Program:
    """a @ b in blocks of 8 columns and 6 steps, of whose rows the reader stores the last."""
    m, n = (cores * blocks for cores, blocks in zip(grid, rounds, strict=True))
    region = Region(
        [
            Tensor((rows * m, 6), (rows, 1), "d0, d2", buffers=buffers),
            Tensor((6, 8 * n), (1, 8), "d2, d1", buffers=buffers),
        ],
        [Tensor((rows * m, 8 * n), (rows, 8), "d0, d1")],
        "ppr",
        (*rounds, 6),
    )
    a, b, c = map(region.block, range(3))
    if last:
        region.stages.append(
            f"%last = memref.alloc() {{address = {0x90000} : i64, {STORED_BY_READER} = 2 : i64}} : "
            f"memref<{last}x8x{c.tile}, #ttcore.memory_space<l1>>"
        )
    region.add([(a, "d0, d2"), (b, "d2, d1")], (c, "d0, d1"), "ppr", STAGE_MATMUL)
    return region.program(grid)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("grid", "rounds", "rows", "last", "buffers", "loop"),
    [
        ((2, 2), (1, 1), 4, 2, 3, 4),
        ((1, 2), (1, 1), 3, 1, 2, 5),
        ((2, 1), (2, 1), 2, 0, 6, 1),
        ((1, 1), (1, 2), 2, 0, 3, 4),
        ((2, 2), (1, 1), 4, 2, 4, 5),
    ],
)
def test_rows_that_are_stored_in_the_last_steps(
    grid: tuple[int, int], rounds: tuple[int, int], rows: int, last: int, buffers: int, loop: int
) -> None:
    """As many of these are one as have room side by side; the others are a loop.

    Blocks that all have room, and come again, are loaded once.
    """
    program = sums_in_output(grid, rounds, rows, last, buffers)
    m, n = (cores * blocks for cores, blocks in zip(grid, rounds, strict=True))
    a, b = numbers((rows * m * 32, 192)), numbers((192, 256 * n))
    error = product_error(a, b, 6, packed=True)
    check(program, a.astype(np.float64) @ b, a, b, atol=error)
    compute = kernels(program).split("func.func private")[3]
    assert f"arith.constant {loop} : i32" in compute
    assert compute.count("matmul_block") == 2 * (1 + (last > 0))


def products_of_heads(grid: tuple[int, int], factors: tuple[int, int], block: int) -> Program:
    """Products of 96 rows for each of 4 heads; cores of one head are several rows of the chip."""
    heads, rows = grid[0] * factors[0], grid[1] * factors[1] * block
    program = Program()
    for name, shape in (("a", (heads, rows, 2)), ("b", (heads, 2, 3)), ("c", (heads, rows, 3))):
        program.buffer(Buffer(name, shape))
    program.write("a")
    program.write("b")
    body = MATMUL.replace("(d0, d1, d2)", "(z, d0, d1, d2)").replace("-> (d", "-> (z, d")
    body = body.replace('["parallel"', '["parallel", "parallel"').replace("z", "d3")
    program.generic(
        [
            Operand("a", (heads, rows // block, 2), (1, block, 1), "d0, d1, d3"),
            Operand("b", (heads, 2, 1), (1, 1, 3), "d0, d3, d2"),
        ],
        [Operand("c", (heads, rows // block, 1), (1, block, 3), "d0, d1, d2")],
        body,
        grid=(*grid, 1),
        factors=(*factors, 1, 2),
        iterators=["parallel", "parallel", "parallel", "reduction"],
    )
    program.read("c")
    return program


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("grid", "factors", "block", "count"),
    [
        ((2, 16), (2, 1), 1, 1),
        ((4, 16), (1, 1), 2, 1),
        ((1, 24), (3, 2), 1, 1),
        ((2, 12), (2, 1), 1, 0),
        ((3, 4), (1, 2), 1, 0),
    ],
)
def test_cores_of_several_rows(
    grid: tuple[int, int], factors: tuple[int, int], block: int, count: int
) -> None:
    """The first of them sends to a rectangle; cores of no whole rows read for themselves."""
    program = products_of_heads(grid, factors, block)
    assert kernels(program).count("noc_async_write_multicast") == count
    heads, rows = grid[0] * factors[0], 32 * grid[1] * factors[1] * block
    a, b = numbers((heads, rows, 64)), numbers((heads, 64, 96))
    check(program, a.astype(np.float64) @ b, a, b, atol=product_error(a, b, 2))


def test_rows_that_are_added_to_products() -> None:
    """What all cores of a column add is multicast, too: behind all steps, where it is read."""
    region = Region(
        [
            Tensor((6, 4), (3, 2), "d0, d2"),
            Tensor((4, 4), (2, 2), "d2, d1"),
            Tensor((1, 4), (1, 2), "0, d1"),
        ],
        [Tensor((6, 4), (3, 2), "d0, d1")],
        "ppr",
        (1, 1, 2),
    )
    a, b, bias, c = map(region.block, range(4))
    total = region.local("total", (3, 2))
    region.add([(a, "d0, d2"), (b, "d2, d1")], (total, "d0, d1"), "ppr", STAGE_MATMUL)
    body = """%r = "d2m.tile_bcast"(%t1) <{bcast_type = #d2m<tile_bcast_type row>}> : (!t1) -> !t1
%e = "d2m.tile_add"(%t0, %r) : (!t0, !t1) -> !t2"""
    region.add([(total, "d0, d1"), (bias, "0, d1")], (c, "d0, d1"), "pp", body)
    program = region.program((2, 2))
    reader, _, compute = kernels(program).split("func.func private")[1:]
    assert kernels(program).count("noc_async_write_multicast") == 3
    for kernel, call in ((reader, "noc_async_write_multicast"), (compute, "cb_wait_front")):
        steps = kernel.index("scf.for")
        assert kernel.count(call, 0, steps) == 0
        assert kernel.rindex(call) > kernel.rindex("matmul" if kernel is compute else "scf.yield")
    x, y, z = numbers((192, 128)), numbers((128, 128)), numbers((32, 128))
    expected = x.astype(np.float64) @ y + z[:1]
    error = product_error(x, y, 2)
    check(program, expected, x, y, z, atol=error + rounding(np.abs(expected) + error))


@pytest.mark.exhaustive
def test_who_multicasts() -> None:
    """The writer along rows, the reader along columns, where all cores have as many blocks."""
    assert kernels(product((2, 1, 1), (4, 4))).count("noc_async_write_multicast") == 2
    assert kernels(product((2, 1, 2), (1, 4))).count("noc_async_write_multicast") == 1
    assert kernels(product((2, 1, 6), (4, 1))).count("noc_async_write_multicast") == 1
    assert kernels(product((2, 1, 2), (3, 4))).count("noc_async_write_multicast") == 0
