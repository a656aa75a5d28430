"""Calls and macros about time and debugging, which do as much as without a debugger."""

from __future__ import annotations

import pytest
from cores.compute_core import ComputeCore

from ttmlir.optable.kernel import Role
from ttmlir.sim.errors import SimError

_KERNEL = """
void kernel_main() {
  WATCHER_RING_BUFFER_PUSH(3);
  PAUSE();
  LLK_ASSERT(1 + 1 == 2, "a sum");
  const uint64_t before = get_timestamp();
  const uint32_t low = get_timestamp_32b();
  riscv_wait(250);
  ASSERT(get_timestamp() - before >= LEAST && get_timestamp_32b() - low < 2 * LEAST);
}
"""


def test_time_passes() -> None:
    """As many cycles as were waited for, on each thread."""
    threads = ComputeCore().run_cpp(_KERNEL, defines={"LEAST": "250"})
    assert {role for role, each in threads.items() if each.clock >= 250} == {
        *(Role.UNPACK, Role.MATH, Role.PACK)
    }
    with pytest.raises(SimError, match="get_timestamp"):
        ComputeCore().run_cpp(_KERNEL, defines={"LEAST": "1000"})


def test_the_registers_of_the_clock() -> None:
    """The lower and the upper half; other registers are no memory."""
    text = """
    void kernel_main() {
        auto low = reinterpret_cast<volatile uint32_t*>(RISCV_DEBUG_REG_WALL_CLOCK_L);
        auto high = reinterpret_cast<volatile uint32_t*>(RISCV_DEBUG_REG_WALL_CLOCK_H);
        const uint32_t before = low[0];
        riscv_wait(250);
        ASSERT(*low - before >= 250 && *low - before < 500 && *high == 0 && low[1] == 0);
        low[8];
    }"""
    with pytest.raises(SimError, match="bytes 0x12210 to 0x12214 are outside of"):
        ComputeCore().run_cpp(text)


def test_assertions_of_the_low_level_library() -> None:
    """They are those of kernels."""
    text = 'void kernel_main() { uint32_t x = 3; LLK_ASSERT(x == 4, "four"); }'
    with pytest.raises(SimError, match="x == 4"):
        ComputeCore().run_cpp(text)
