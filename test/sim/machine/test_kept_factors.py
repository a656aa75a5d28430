"""Factors of products are made once of equal tiles, whichever core and address they are at."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import pytest
from running.randomness import TestGenerator

from ttmlir.layout.enums import DataType
from ttmlir.sim.calls import unpack_api
from ttmlir.sim.calls.unpack_api import TileReader, Use
from ttmlir.sim.machine.memory import Memory, MemoryBudget
from ttmlir.sim.machine.numerics import Register

RANDOM = TestGenerator(__name__)


def tile() -> bytes:
    """A tile of random bfloat16 numbers."""
    return RANDOM.standard_normal(1024).astype(ml_dtypes.bfloat16).tobytes()


def factor(memory: Memory, address: int, use: Use) -> Any:
    """A tile as a factor."""
    reader = TileReader(memory, DataType.BF16, Register.BF16, exact=False)
    return reader.read(address, use)


def test_copies_share_a_factor_until_their_bytes_differ() -> None:
    """The other factor of a product, and a tile of which a byte was written, are others."""
    budget = MemoryBudget(1 << 24)
    first, second = (Memory(f"L1 {index}", 1 << 20, budget) for index in range(2))
    first.write(64, tile())
    second.copy(4096, first, 64, 2048)
    found = factor(first, 64, Use.FACTOR_A)
    assert factor(second, 4096, Use.FACTOR_A) is found
    assert factor(second, 4096, Use.FACTOR_B) is not found
    second.write(4096, b"\x80\x3f")
    changed = factor(second, 4096, Use.FACTOR_A)
    parts = TileReader(second, DataType.BF16, Register.BF16, exact=False).decode(
        second.data[4096:6144], Use.FACTOR_A
    )
    assert (changed.parts == parts.parts).all()
    assert factor(first, 64, Use.FACTOR_A) is found


def test_few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest go first."""
    monkeypatch.setattr(unpack_api, "_KEPT_FACTORS", 2)
    memory = Memory("L1", 1 << 20)
    for index in range(5):
        memory.write(2048 * index, tile())
        factor(memory, 2048 * index, Use.FACTOR_B)
    kept = [data for _, data in memory.factors]
    assert kept == [memory.data[start : start + 2048].tobytes() for start in (6144, 8192)]
