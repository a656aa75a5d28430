"""Damaged `.ttm` files give a result or one of the runtime's errors, soon and in little memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from running.confinement import limited_memory
from samples.metal_examples import EXAMPLES

from ttmlir.errors import Error
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import MetalGolden, execute
from ttmlir.sim.options import SimOptions
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
FILES = {name: (GOLDEN / f"{name}.ttm").read_bytes() for name in ("multiply_3d", "dram_to_l1")}
FILES |= {
    name: ttmetal_to_flatbuffer(EXAMPLES[name]().module)
    for name in ("streamed_add", "sums_of_rows")
}
OPTIONS = SimOptions(
    timed=False, cycle_limit=10_000, leniencies=frozenset({"aliased-cbs", "pop-unfilled"})
)
MOST_ELEMENTS = 1 << 20
_MEMORY_LIMIT = 4096
"""Megabytes."""


@pytest.fixture(autouse=True, scope="module")
def little_memory() -> Iterator[None]:
    """Let allocations beyond a bound fail instead of taking the machine down."""
    with limited_memory(_MEMORY_LIMIT):
        yield


def run(data: bytes) -> None:
    """Run the programs of a file on ones; inputs that are too large for a test are not made."""
    binary = read_binary(data, "damaged.ttm")
    if not isinstance(binary, MetalBinary):
        return
    for program in binary.metal_programs:
        shapes = [tensor.ref.desc.shape for tensor in program.input_tensors]
        if any(np.prod(shape, dtype=float) > MOST_ELEMENTS for shape in shapes):
            continue
        values = [np.ones(shape, np.float32) for shape in shapes]
        execute(program, values, OPTIONS, observer=MetalGolden(program, list(values)))


def check(data: bytes) -> None:
    """A result or an error that says where."""
    message = "damaged.ttm"
    try:
        run(data)
    except Error as error:
        message = str(error)
    assert "damaged.ttm" in message


@pytest.mark.parametrize("name", FILES)
def test_undamaged_files_run(name: str) -> None:
    """What is damaged below is sound before."""
    run(FILES[name])


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=25, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_altered_bytes(name: str, data: st.DataObject) -> None:
    """Anywhere in the file: offsets, sizes, enumerators, addresses, the text of kernels."""
    altered = bytearray(FILES[name])
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(altered) - 1))
        altered[place] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF, altered[place] ^ 1]))
    check(bytes(altered))


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=10, derandomize=True, suppress_health_check=list(HealthCheck))
@given(share=st.floats(0, 1))
@example(share=0.0)
def test_truncated_files(name: str, share: float) -> None:
    """Cut off anywhere."""
    check(FILES[name][: int(share * len(FILES[name]))])
