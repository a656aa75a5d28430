"""Blocks that kernels load and store, from any buffer through any view, against NumPy."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running.pass_runner import lowered
from samples.d2m_programs import (
    ABS,
    ADD,
    EXP,
    NEGATIVE,
    Buffer,
    Operand,
    Program,
    check,
    loop,
    numbers,
)

from ttmlir.runtime.metal_session import MetalGolden, execute
from ttmlir.sim.options import SimOptions

Array = np.ndarray[Any, Any]


def tiles(array: Array) -> Array:
    """A tensor as tiles: the last two dimensions become four."""
    *outer, rows, columns = array.shape
    cut = array.reshape(*outer, rows // 32, 32, columns // 32, 32)
    return np.moveaxis(cut, -2, -3)


def whole(array: Array) -> Array:
    """The tensor that tiles are of."""
    back = np.moveaxis(array, -3, -2)
    *outer, rows, _, columns, _ = back.shape
    return back.reshape(*outer, rows * 32, columns * 32)


def unary(
    source: Buffer,
    operands: tuple[Operand, Operand],
    grid: Sequence[int],
    factors: Sequence[int],
    target: Buffer,
    body: str = ABS,
    reference: str = "",
) -> Program:
    """The program of one elementwise loop."""
    program = Program()
    program.buffer(source)
    program.buffer(target)
    program.write(source.name)
    rank = len(operands[0].block)
    program.generic(
        operands[:1],
        operands[1:],
        loop(body, 2, rank),
        grid=grid,
        factors=factors,
        iterators=["parallel"] * len(factors),
        reference=reference,
    )
    program.read(target.name)
    return program


def test_exp_of_blocks_in_dram() -> None:
    """8x4 blocks of 2x2 tiles on 4x4 cores."""
    operands = (Operand("x", (8, 4), (2, 2), "d0, d1"), Operand("y", (8, 4), (2, 2), "d0, d1"))
    x = numbers((512, 256))
    program = unary(
        Buffer("x", (16, 8)),
        operands,
        (4, 4),
        (2, 1),
        Buffer("y", (16, 8)),
        EXP,
        '{rows = [{mnemonic = "exp", operands = [0], type = tensor<512x256xbf16>}], '
        "outputs = [{buffer = 1, value = 2}]}",
    )
    check(program, np.exp(x.astype(np.float64)), x, atol=2**-7)
    golden = MetalGolden(program.compiled(), [x])
    execute(program.compiled(), [x], SimOptions(numerics="exact"), observer=golden)
    assert [each.passed for each in golden.results] == [True]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("grid", "factors"),
    [((2, 1), (3, 7)), ((5, 3), (1, 3)), ((2, 3), (3, 3)), ((4, 1), (2, 7)), ((3, 4), (2, 2))],
)
def test_blocks_that_cores_do_not_share_evenly(
    grid: tuple[int, int], factors: tuple[int, int]
) -> None:
    """5x7 blocks; the last cores have fewer or none."""
    operands = (Operand("x", (5, 7), (2, 1), "d0, d1"), Operand("y", (5, 7), (2, 1), "d0, d1"))
    x = numbers((320, 224))
    check(unary(Buffer("x", (10, 7)), operands, grid, factors, Buffer("y", (10, 7))), np.abs(x), x)


def test_grids_that_count_the_cores_row_by_row() -> None:
    """11 rows of cores, which are one whole row of the chip and three of the next."""
    operands = (Operand("x", (22, 1), (1, 3), "d0, d1"), Operand("y", (22, 1), (1, 3), "d0, d1"))
    x = numbers((704, 96))
    program = unary(Buffer("x", (22, 3)), operands, (11, 1), (2, 1), Buffer("y", (22, 3)))
    check(program, np.abs(x), x)


def test_grids_of_three_dimensions() -> None:
    """2x3x2 cores."""
    shape = (2, 3, 4)
    operands = tuple(Operand(name, shape, (1, 1, 1), "d0, d1, d2") for name in "xy")
    x = numbers((2, 96, 128))
    program = unary(
        Buffer("x", (2, 3, 4)),
        (operands[0], operands[1]),
        (2, 3, 2),
        (1, 1, 2),
        Buffer("y", (2, 3, 4)),
    )
    check(program, np.abs(x), x)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("space", ["l1", "dram"])
@pytest.mark.parametrize("target", ["l1", "dram"])
def test_shards_on_other_grids(space: str, target: str) -> None:
    """Shards of a 3x2 grid that are read in blocks of 2x2 tiles by 2x4 cores, into 2x1 shards."""
    # Tile r, c is in shard (r floordiv 2, c floordiv 4).
    read = "(d0 * 2 + d2) floordiv 2, (d1 * 2 + d3) floordiv 4, "
    read += "(d0 * 2 + d2) mod 2, (d1 * 2 + d3) mod 4"
    written = "(d0 * 2 + d2) floordiv 3, (d1 * 2 + d3) floordiv 8, "
    written += "(d0 * 2 + d2) mod 3, (d1 * 2 + d3) mod 8"
    operands = (
        Operand("x", (3, 4), (2, 2), "d0, d1", read),
        Operand("y", (3, 4), (2, 2), "d0, d1", written),
    )
    x = numbers((6 * 32, 8 * 32))
    program = unary(
        Buffer("x", (2, 4), (3, 2), space, sharded=True),
        operands,
        (2, 4),
        (2, 1),
        Buffer("y", (3, 8), (2, 1), target, sharded=True),
    )
    check(program, np.abs(x), x)


def test_shards_on_many_cores() -> None:
    """Shards of a 12x1 grid, which lie on two rows of the chip."""
    operands = (
        Operand("x", (6, 1), (2, 3), "d0, d1", "d0 * 2 + d2, d1, 0, d3"),
        Operand("y", (6, 1), (2, 3), "d0, d1"),
    )
    x = numbers((12 * 32, 96))
    program = unary(
        Buffer("x", (1, 3), (12, 1), "l1"), operands, (3, 1), (2, 1), Buffer("y", (12, 3))
    )
    check(program, np.abs(x), x)


def test_views_that_slice_and_reverse() -> None:
    """Rows 7, 5, 3, 1 of tiles, and columns from the third on."""
    operands = (
        Operand("x", (4, 3), (1, 2), "d0, d1", "0, 0, 7 - (d0 + d2) * 2, d1 * 2 + d3 + 2"),
        Operand("y", (4, 3), (1, 2), "d0, d1"),
    )
    x = numbers((8 * 32, 8 * 32))
    program = unary(Buffer("x", (8, 8)), operands, (4, 1), (1, 3), Buffer("y", (4, 6)))
    check(program, whole(np.abs(tiles(x))[7::-2, 2:]), x)


def test_views_that_reshape_and_transpose() -> None:
    """Tiles of 4x6 in the order of the columns, as rows of 8x3."""
    place = "(d0 * 2 + d2) * 3 + d1 * 3 + d3"
    view = f"0, 0, ({place}) mod 4, ({place}) floordiv 4"
    operands = (
        Operand("x", (4, 1), (2, 3), "d0, d1", view),
        Operand("y", (4, 1), (2, 3), "d0, d1"),
    )
    x = numbers((4 * 32, 6 * 32))
    expected = np.abs(tiles(x)).swapaxes(0, 1).reshape(8, 3, 32, 32)
    program = unary(Buffer("x", (4, 6)), operands, (2, 1), (2, 1), Buffer("y", (8, 3)))
    check(program, whole(expected), x)


def test_views_that_repeat() -> None:
    """A tensor twice below itself."""
    operands = (
        Operand("x", (4, 1), (1, 3), "d0, d1", "0, 0, (d0 + d2) mod 2, d3"),
        Operand("y", (4, 1), (1, 3), "d0, d1"),
    )
    x = numbers((64, 96))
    program = unary(Buffer("x", (2, 3)), operands, (4, 1), (1, 1), Buffer("y", (4, 3)))
    check(program, np.tile(np.abs(x), (2, 1)), x)


def test_writes_into_parts() -> None:
    """Two generics fill the halves of one buffer."""
    program = Program()
    for name in "xy":
        program.buffer(Buffer(name, (2, 3)))
    program.buffer(Buffer("z", (2, 6)))
    program.write("x")
    program.write("y")
    for number, name in enumerate("xy"):
        program.generic(
            [Operand(name, (2, 1), (1, 3), "d0, d1")],
            [Operand("z", (2, 1), (1, 3), "d0, d1", f"0, 0, d0 + d2, d1 * 3 + d3 + {3 * number}")],
            loop(ABS, 2),
            grid=(2, 1),
            factors=(1, 1),
            iterators=["parallel"] * 2,
        )
    program.read("z")
    x, y = numbers((64, 96)), numbers((64, 96))
    check(program, np.abs(np.concatenate([x, y], 1)), x, y)


@pytest.mark.parametrize(("view", "kernels"), [("", 3), ("0, 0, 1 - d0 - d2, d1 * 3 + d3", 6)])
def test_equal_generics_share_kernels(view: str, kernels: int) -> None:
    """Where only addresses differ."""
    program = Program()
    for name in "xyz":
        program.buffer(Buffer(name, (2, 3)))
    program.write("x")
    for source, target, seen in (("x", "y", ""), ("y", "z", view)):
        program.generic(
            [Operand(source, (2, 1), (1, 3), "d0, d1", seen)],
            [Operand(target, (2, 1), (1, 3), "d0, d1")],
            loop(NEGATIVE, 2),
            grid=(2, 1),
            factors=(1, 1),
            iterators=["parallel"] * 2,
        )
    program.read("z")
    module = lowered(program.text, "ttir-load-system-desc", "convert-d2m-to-ttkernel")
    assert sum("ttkernel.thread" in op.attributes for op in module.walk()) == kernels
    x = numbers((64, 96))
    check(program, whole(tiles(x)[::-1]) if view else x, x)


def test_operands_that_stay_over_inner_loops() -> None:
    """A row that all rows of blocks share is loaded once by each core, a column once per row."""
    program = Program()
    program.buffer(Buffer("x", (6, 4)))
    program.buffer(Buffer("row", (1, 4)))
    program.buffer(Buffer("y", (6, 4)))
    program.write("x")
    program.write("row")
    program.generic(
        [
            Operand("x", (6, 2), (1, 2), "d0, d1"),
            Operand("row", (1, 2), (1, 2), "0, d1", buffers=1),
        ],
        [Operand("y", (6, 2), (1, 2), "d0, d1")],
        loop(ADD, 3, maps=["d0, d1", "0, d1", "d0, d1"]),
        grid=(1, 2),
        factors=(6, 1),
        iterators=["parallel"] * 2,
    )
    program.read("y")
    x, row = numbers((192, 128)), numbers((32, 128))
    check(program, x + np.tile(row, (6, 1)), x, row, atol=2**-8)


@dataclass(frozen=True)
class View:
    """A view of a matrix of tiles."""

    source: tuple[int, int]
    row: str
    """The row of the tile that is seen at row p and column q."""
    column: str
    at: Array
    """The number of the tile that is seen at each place."""

    def through(self, row: str, column: str, at: Array) -> View:
        """The view of this one that sees its place (row, column)."""
        places = {"p": row, "q": column}
        row, column = (
            re.sub(r"\b[pq]\b", lambda match: places[match[0]], each)
            for each in (self.row, self.column)
        )
        return View(self.source, row, column, at)


@st.composite
def views(draw: st.DrawFn) -> View:
    """Slices, reversals, transpositions, reshapes and repetitions in any order."""
    source = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    view = View(source, "p", "q", np.arange(source[0] * source[1]).reshape(source))
    moves = st.sampled_from(["slice", "reverse", "transpose", "reshape", "repeat"])
    for move in draw(st.lists(moves, max_size=4)):
        at = view.at
        height, width = at.shape
        match move:
            case "slice":
                first, step = draw(st.integers(0, height - 1)), draw(st.integers(1, 3))
                view = view.through(f"(p * {step} + {first})", "q", at[first::step])
            case "reverse":
                view = view.through("p", f"({width - 1} - q)", at[:, ::-1])
            case "transpose":
                view = view.through("q", "p", at.T)
            case "reshape":
                rows = draw(st.sampled_from([n for n in range(1, at.size + 1) if not at.size % n]))
                place = f"(p * {at.size // rows} + q)"
                view = view.through(
                    f"({place} floordiv {width})", f"({place} mod {width})", at.reshape(rows, -1)
                )
            case _:
                view = view.through(f"(p mod {height})", "q", np.tile(at, (2, 1)))
    return view


def divisor(draw: st.DrawFn, number: int) -> int:
    """A number that divides another one."""
    return draw(st.sampled_from([each for each in range(1, number + 1) if not number % each]))


@settings(max_examples=25, deadline=None)
@given(views(), st.data())
def test_random_views(view: View, data: st.DataObject) -> None:
    """In blocks of any size, on any cores, from DRAM and from shards on any grid."""
    shape = view.at.shape
    block = tuple(divisor(data.draw, extent) for extent in shape)
    count = tuple(extent // each for extent, each in zip(shape, block, strict=True))
    grid = tuple(data.draw(st.integers(1, min(each, 8))) for each in count)
    factors = tuple(-(-blocks // cores) for blocks, cores in zip(count, grid, strict=True))
    cores = [-(-blocks // factor) for blocks, factor in zip(count, factors, strict=True)]
    places = {"p": f"(d0 * {block[0]} + d2)", "q": f"(d1 * {block[1]} + d3)"}
    row, column = (
        re.sub(r"\b[pq]\b", lambda match: places[match[0]], each)
        for each in (view.row, view.column)
    )
    on_cores = tuple(divisor(data.draw, extent) for extent in view.source)
    if math.prod(on_cores) > 1:
        height, width = (e // g for e, g in zip(view.source, on_cores, strict=True))
        space = data.draw(st.sampled_from(["l1", "dram"]))
        source = Buffer("x", (height, width), on_cores, space, sharded=True)
        where = f"{row} floordiv {height}, {column} floordiv {width}, "
        where += f"{row} mod {height}, {column} mod {width}"
    else:
        source = Buffer("x", view.source)
        where = f"0, 0, {row}, {column}"
    operands = (Operand("x", count, block, "d0, d1", where), Operand("y", count, block, "d0, d1"))
    program = unary(source, operands, cores, factors, Buffer("y", shape))
    x = numbers((view.source[0] * 32, view.source[1] * 32))
    flat = np.abs(tiles(x)).reshape(-1, 32, 32)
    [output] = program.run(x).outputs
    np.testing.assert_array_equal(output, whole(flat[view.at]))
