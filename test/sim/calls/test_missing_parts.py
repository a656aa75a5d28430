"""Kernels of ttnn's factories name tensors and circular buffers that a program leaves out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from cores.compute_core import ComputeCore

from ttmlir.sim.errors import SimError
from ttmlir.sim.machine.address_generators import Interleaved


def test_what_is_known_of_a_circular_buffer_that_is_not_there() -> None:
    """What the build of tt-metal generates: the size of a tile of Bfp8_b, no format."""
    text = (
        "void kernel_main() { ASSERT(get_tile_size(9) == 1088); "
        "ASSERT(static_cast<uint32_t>(get_dataformat(9)) == 255); }"
    )
    ComputeCore().run_cpp(text)
    with pytest.raises(SimError, match="circular buffer 33 is not configured"):
        ComputeCore().run_cpp("void kernel_main() { ASSERT(get_tile_size(33) > 0); }")


def test_a_tensor_without_pages() -> None:
    """It may be made; an address of it is an error."""
    banks: Any = [SimpleNamespace(kind="dram")]
    made = Interleaved(banks, 32, 0, 0)
    with pytest.raises(SimError, match="a page of 0 bytes; an address generator needs at least"):
        made.locate(0)
    with pytest.raises(SimError, match="a page of -1 bytes"):
        Interleaved(banks, 32, 0, -1)
