"""Chains of products of a group of cores, against the products of tiles one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ttmlir.layout.enums import Arch, DataType, MathFidelity
from ttmlir.sim.calls.unpack_api import Arrangement, TileReader, Use
from ttmlir.sim.groups import products, values
from ttmlir.sim.groups.values import Chain, Evaluation, Fetched, Operand, Pack, Packed
from ttmlir.sim.machine import numerics
from ttmlir.sim.machine.memory import Memory
from ttmlir.sim.machine.numerics import TILE_BYTES, TILE_VOLUME, Register

ROWS, COLUMNS, LENGTH = 2, 3, 18
"""Cores, and products of each: more than are added at once."""


def page_of(memory: Memory, tiles: list[int], data_type: DataType) -> Fetched:
    """A page that holds another tile of the memory on each core."""
    size = TILE_BYTES[data_type]
    return Fetched([memory] * len(tiles), [size * tile for tile in tiles], size)


@pytest.mark.parametrize(
    ("data_type", "is_transposed", "special", "is_grid", "together", "bits_of"),
    [
        pytest.param(DataType.BF16, False, 0.0, True, 2, None, id="matrices"),
        pytest.param(DataType.F32, True, 0.0, True, 2, None, id="transposed"),
        pytest.param(DataType.BFP_BF8, False, 0.0, True, 0, None, id="block floats"),
        pytest.param(DataType.BF16, False, np.inf, True, 0, None, id="infinity"),
        pytest.param(DataType.BF16, False, 0.0, False, 0, None, id="no grid"),
        pytest.param(DataType.BF16, False, np.inf, True, 2, Arch.BLACKHOLE, id="a card's bits"),
    ],
)
def test_chains_are_products_one_by_one(
    data_type: DataType,
    is_transposed: bool,
    special: float,
    is_grid: bool,
    together: int,
    bits_of: Arch | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of cores that share factors by rows and columns, and of others; counts what is together."""
    rng = np.random.default_rng(3)
    tiles = rng.normal(0, 1, (LENGTH * (ROWS + COLUMNS), TILE_VOLUME)).astype(np.float32)
    tiles[0, 7] = special
    pack = numerics.packer(Register.FP32, data_type)
    stored = [pack(tile).tobytes() for tile in tiles]
    memory = Memory("DRAM", 1 << 20)
    memory.write(0, b"".join(stored))
    cores = [(row, column) for row in range(ROWS) for column in range(COLUMNS)]
    if not is_grid:
        cores[-1] = (0, 0)
    source = Register.BF16 if data_type is DataType.BF16 else Register.TF32
    reader = TileReader(memory, data_type, source, exact=False, bits_of=bits_of)
    forms = Use.FACTOR_A + is_transposed * Arrangement.TRANSPOSED, int(Use.FACTOR_B)
    chain = Chain(None, MathFidelity.HIFI4, Register.FP32)
    for k in range(LENGTH):
        places = (
            [LENGTH * (ROWS + column) + k for _, column in cores],
            [LENGTH * row + k for row, _ in cores],
        )
        a, b = (
            Operand(page_of(memory, each, data_type), reader, form)
            for each, form in zip(places, forms, strict=True)
        )
        chain.add(a, b)
    found: list[Any] = []

    def add(*arguments: Any) -> Any:
        found.append(products.add_grid(*arguments))
        return found[-1]

    monkeypatch.setattr(values, "add_grid", add)
    keep = Pack(numerics.packer(Register.FP32, DataType.F32), DataType.F32, None, lambda each: each)
    result = Packed(chain, DataType.F32, keep, None)
    Evaluation(len(cores), is_exact=False).compute([result])
    assert sum(each is not None for each in found) == together
    for core, (row, column) in enumerate(cores):
        expected = np.zeros((32, 32), np.float32)
        for k in range(LENGTH):
            a, b = (
                reader.decode(np.frombuffer(stored[place], np.uint8), form)
                for place, form in zip(
                    (LENGTH * (ROWS + column) + k, LENGTH * row + k), forms, strict=True
                )
            )
            expected = numerics.matmul_onto(expected, a, b, MathFidelity.HIFI4, Register.FP32)
        got = result.read()[core].view(np.float32)
        np.testing.assert_array_equal(numerics.rows_of_faces(got), expected)


@pytest.mark.parametrize(("is_grid", "calls"), [(True, 1), (False, 3)])
def test_many_pages_are_computed_together(
    is_grid: bool, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that lie in a grid at once; without one, some at a time."""
    cores = [(row, column) for row in range(ROWS) for column in range(COLUMNS)]
    if not is_grid:
        cores[-1] = (0, 0)
    count = 13
    rng = np.random.default_rng(8)
    tiles = rng.integers(-8, 9, (ROWS + count * COLUMNS, 32, 32)).astype(np.float32)
    memory = Memory("DRAM", 1 << 20)
    memory.write(0, b"".join(numerics.faces_of_rows(tile).tobytes() for tile in tiles))
    reader = TileReader(memory, DataType.F32, Register.TF32, exact=False)
    keep = Pack(numerics.packer(Register.FP32, DataType.F32), DataType.F32, None, lambda each: each)
    pages: list[Packed] = []
    for place in range(count):
        columns = [ROWS + place * COLUMNS + column for _, column in cores]
        chain = Chain(None, MathFidelity.HIFI4, Register.FP32)
        chain.add(
            Operand(page_of(memory, columns, DataType.F32), reader, Use.FACTOR_A),
            Operand(page_of(memory, [row for row, _ in cores], DataType.F32), reader, Use.FACTOR_B),
        )
        pages.append(Packed(chain, DataType.F32, keep, None))
    tried: list[object] = []

    def add(*arguments: Any) -> Any:
        tried.append(arguments)
        return products.add_grid(*arguments)

    monkeypatch.setattr(values, "add_grid", add)
    Evaluation(len(cores), is_exact=False).compute(pages)
    assert len(tried) == calls
    for place, page in enumerate(pages):
        for (row, column), data in zip(cores, page.read(), strict=True):
            got = numerics.rows_of_faces(data.view(np.float32))
            np.testing.assert_array_equal(got, tiles[row] @ tiles[ROWS + place * COLUMNS + column])


@pytest.mark.parametrize("is_new", [True, False])
def test_products_of_floats_are_those_of_tiles(is_new: bool) -> None:
    """Bit by bit: those of each step along the inner dimension by themselves, then their sum."""
    rng = np.random.default_rng(5)
    in0, in1, start = (
        rng.standard_normal((32 * rows, 32 * columns), np.float32) * 2.0 ** rng.integers(-9, 9)
        for rows, columns in ((5, 3), (3, 6), (5, 6))
    )
    in0, in1, start = (each.astype(np.float32) for each in (in0, in1, start))
    got = products.multiply_floats(start, in0, in1, is_new=is_new)
    for top in range(0, len(start), 32):
        for left in range(0, start.shape[1], 32):
            steps = [
                np.dot(in0[top : top + 32, k : k + 32].copy(), in1[k : k + 32, left : left + 32])
                for k in range(0, len(in1), 32)
            ]
            total = steps.pop(0) if is_new else start[top : top + 32, left : left + 32]
            for step in steps:
                total = total + step
            np.testing.assert_array_equal(got[top : top + 32, left : left + 32], total)


def test_factors_that_are_not_used_any_more_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is kept, the tiles of a call are there."""
    monkeypatch.setattr(products, "_KEPT", 3)
    memory = Memory("DRAM", 1 << 16)
    numbers = np.arange(8, dtype=np.float32)
    memory.write(0, np.repeat(numbers, TILE_VOLUME).tobytes())
    reader = TileReader(memory, DataType.F32, Register.TF32, exact=False)
    factors = products.Factors(reader, Use.FACTOR_A)
    for tiles in ([0, 1], [1, 2], [2, 3], [1, 0], [7, 6]):
        places = factors.find([page_of(memory, tiles, DataType.F32)])
        assert places is not None
        assert factors.tiles(places)[0, :, 5, 7].tolist() == tiles
    assert factors.find([page_of(memory, [0, 1, 2, 3], DataType.F32)]) is None
