"""Kernels that never end are stopped, with or without clocks, whatever their loops do."""

from __future__ import annotations

import re

import pytest

from ttmlir.metalium import (
    CoreCoord,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    EnqueueProgram,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
)
from ttmlir.sim.errors import CycleLimitError

BODIES = {
    "nothing": "while (true) {}",
    "barriers": "uint32_t i = 0;\nwhile (i < 1) { i += get_arg_val<uint32_t>(0); "
    "noc_async_read_barrier(); }",
    "many_numbers": "for (uint32_t i = 0; i < 4294967295; i++) { noc_async_read_barrier(); }",
    "loops_in_loops": "for (uint32_t i = 0; i < 9999; i++)\n"
    "for (uint32_t j = 0; j < 999; j++) { noc_async_read_barrier(); }",
    "printing": 'uint32_t i = 0;\nwhile (i != 1) { i += 2; DPRINT << "."; }',
    "helper": "while (get_arg_val<uint32_t>(0) == 0) { helper(); }",
}


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_endless_kernel(body: str, timed: bool) -> None:
    """The error says what limits it, and where the kernel was."""
    device, program = CreateDevice(0, cycle_limit=1000, timed=timed), CreateProgram()
    helper = "void helper() { for (uint32_t i = 0; i < 100; i++) noc_async_read_barrier(); }\n"
    core = CoreCoord(0, 0)
    text = f"{helper}void kernel_main() {{\n{body}\n}}"
    kernel = CreateKernelFromString(program, text, core, ReaderDataMovementConfig([]))
    SetRuntimeArgs(program, kernel, core, [0])
    with pytest.raises(CycleLimitError) as raised:
        EnqueueProgram(device.command_queue(), program)
    message = str(raised.value)
    assert "--cycle-limit of ttrt and ttmlir-kernel, or SimOptions.cycle_limit, sets" in message
    assert "kernel_0.cpp:" in message


def test_clocks_stop_loops_between_two_waits() -> None:
    """An iteration that takes cycles counts for as many, though nobody else runs meanwhile."""
    device, program = CreateDevice(0, cycle_limit=100_000), CreateProgram()
    text = """void kernel_main() { uint32_t sum = 0;
        for (uint32_t i = 0; i < 4294967295; i++) { sum += 7 / (i + 1); }
        DPRINT << sum << ENDL(); }"""
    CreateKernelFromString(program, text, CoreCoord(0, 0), ReaderDataMovementConfig([]))
    with pytest.raises(CycleLimitError, match="more than the 100000 cycles") as raised:
        EnqueueProgram(device.command_queue(), program)
    iterations = re.search(r"run more than (\d+) iterations", str(raised.value))
    assert iterations is not None
    assert int(iterations[1]) < 100_000 / 20 + 1024
