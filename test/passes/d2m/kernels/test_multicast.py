"""Products whose operands are multicast along rows and columns of cores, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from running.pass_runner import lowered
from samples.d2m_programs import MATMUL, Buffer, Operand, Program, check, numbers

from ttmlir.passes.d2m.kernels.movement import block_copy

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
    check(product(block, grid), a.astype(np.float64) @ b, a, b, atol=0.1)


@pytest.mark.parametrize(
    ("block", "grid"), [((4, 1, 1), (1, 2)), ((4, 2, 3), (1, 2)), ((2, 2, 6), (1, 2))]
)
def test_blocks_that_are_stored_while_the_next_is_computed(
    block: tuple[int, int, int], grid: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In chunks, where the writer multicasts and there are steps to do it in."""
    monkeypatch.setattr(block_copy, "CHUNK_TILES", 2)
    program = product(block, grid)
    assert ("memref.alloca" in kernels(program)) == (block[2] < 6)
    a, b = numbers((M, K)), numbers((K, N))
    check(program, a.astype(np.float64) @ b, a, b, atol=0.1)


@pytest.mark.parametrize(("element", "space"), [("f32", "dram"), ("bf16", "l1")])
def test_operands(element: str, space: str) -> None:
    """Numbers of 32 bits, and operands that lie in shards."""
    a, b = numbers((M, K)), numbers((K, N))
    program = product((2, 1, 2), (4, 4), element, space)
    check(program, a.astype(np.float64) @ b, a, b, atol=0.1 if element == "bf16" else 0.05)


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
    check(program, a.astype(np.float64) @ b, a, b, atol=0.1)


def kernels(program: Program) -> str:
    """The text of the kernels."""
    return str(lowered(program.text, "ttir-load-system-desc", "convert-d2m-to-ttkernel"))


def test_who_multicasts() -> None:
    """The writer along rows, the reader along columns, where all cores have as many blocks."""
    assert kernels(product((2, 1, 1), (4, 4))).count("noc_async_write_multicast") == 2
    assert kernels(product((2, 1, 2), (1, 4))).count("noc_async_write_multicast") == 1
    assert kernels(product((2, 1, 6), (4, 1))).count("noc_async_write_multicast") == 1
    assert kernels(product((2, 1, 2), (3, 4))).count("noc_async_write_multicast") == 0
