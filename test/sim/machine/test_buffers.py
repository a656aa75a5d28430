"""What the host writes to interleaved buffers and reads from them, page by page and at once."""

from __future__ import annotations

import numpy as np
import pytest

from ttmlir.sim.machine.address_generators import Buffer
from ttmlir.sim.machine.device import SimChip, SimDevice
from ttmlir.sim.machine.memory import POISON
from ttmlir.sim.options import SimOptions


@pytest.mark.parametrize("page_size", [pytest.param(96, id="aligned"), pytest.param(80, id="not")])
@pytest.mark.parametrize("pages", [range(29), range(5, 22), range(7), range(4, 4)])
@pytest.mark.parametrize("sanitize", [True, False])
def test_pages_are_where_kernels_look_for_them(
    page_size: int, pages: range, sanitize: bool
) -> None:
    """In turn over the 12 channels of DRAM; other pages stay as they were."""
    device = SimDevice(SimChip.of_board("n150"), SimOptions(sanitize=sanitize))
    buffer = Buffer(device, 29 * page_size, page_size)
    data = np.random.default_rng(2).integers(0, 256, (len(pages), page_size)).astype(np.uint8)
    buffer.write(data.tobytes(), pages=pages)
    assert buffer.read(pages=pages) == data.tobytes()
    for page in range(29):
        bank, address = device.dram[page % 12], buffer.address + page // 12 * 96
        expected = data[pages.index(page)] if page in pages else np.full(page_size, POISON)
        np.testing.assert_array_equal(
            np.frombuffer(bank.read(address, page_size), np.uint8), expected
        )


def test_parts_of_pages_are_written_and_read() -> None:
    """The rest of each page stays."""
    device = SimDevice(SimChip.of_board("n150"), SimOptions())
    buffer = Buffer(device, 14 * 96, 96)
    buffer.write(bytes(range(14)) * 96)
    buffer.write(bytes([99]) * (14 * 32), page_bytes=32)
    assert buffer.read(page_bytes=64)[:64] == bytes([99]) * 32 + (bytes(range(14)) * 7)[32:64]
    assert buffer.read()[96:192] == bytes([99]) * 32 + (bytes(range(14)) * 14)[128:192]
