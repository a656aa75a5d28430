"""Run-time arguments in all forms of the host API, and global semaphores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ttmlir.metalium import (
    BufferType,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    CreateBuffer,
    CreateDevice,
    CreateGlobalSemaphore,
    CreateKernelFromString,
    CreateProgram,
    EnqueueProgram,
    GetCommonRuntimeArgs,
    GetRuntimeArgs,
    InterleavedBufferConfig,
    MetaliumError,
    Program,
    ReaderDataMovementConfig,
    SetCommonRuntimeArgs,
    SetRuntimeArgs,
    detail,
)
from ttmlir.sim.execution.program import Kernel

SHOW = """
#include "api/debug/dprint.h"
void kernel_main() {
    DPRINT << get_arg_val<uint32_t>(0) << ' ' << get_common_arg_val<uint32_t>(0) << ENDL();
}
"""
CORES = CoreRange((1, 0), (2, 1))


def make_program() -> tuple[Program, Kernel]:
    """A kernel on four cores that prints an argument and a common one."""
    program = CreateProgram()
    return program, CreateKernelFromString(program, SHOW, CORES, ReaderDataMovementConfig())


def test_each_form_sets_what_kernels_read() -> None:
    """A core, a range, a set, and lists of cores with lists of arguments."""
    device = CreateDevice(0)
    program, kernel = make_program()
    SetRuntimeArgs(program, kernel, CORES, [1, 100])
    SetRuntimeArgs(program, kernel, CoreRangeSet([CoreRange((2, 0)), CoreRange((2, 1))]), [2, 100])
    SetRuntimeArgs(program, kernel, CoreCoord(1, 1), [3, 100])
    SetCommonRuntimeArgs(program, kernel, [7])
    assert detail.LaunchProgram(device, program).num_cores == 4
    SetRuntimeArgs(program, kernel, [CoreCoord(1, 0), CoreCoord(2, 1)], [[10], [-1]])
    GetRuntimeArgs(program, kernel, CoreCoord(2, 0))[0] = 20
    GetRuntimeArgs(program, kernel)[1][1][0] = 30
    GetCommonRuntimeArgs(program, kernel)[0] = 8
    EnqueueProgram(device.command_queue(), program)
    printed = {
        (1, 0): ["1 7", "10 8"],
        (2, 0): ["2 7", "20 8"],
        (1, 1): ["3 7", "30 8"],
        (2, 1): ["2 7", "4294967295 8"],
    }
    lines = [
        f"core ({x}, {y}) NCRISC: {lines[run]}"
        for run in range(2)
        for (x, y), lines in printed.items()
    ]
    assert sorted(device.printed) == sorted(lines)
    assert GetRuntimeArgs(program, kernel, (2, 0)) == [20, 100]
    assert list(GetRuntimeArgs(program, kernel)[0][0]) == []
    assert (GetCommonRuntimeArgs(program, kernel).size(), len(GetRuntimeArgs(program, kernel))) == (
        1,
        3,
    )


WRONG: list[tuple[Callable[[Program, Kernel], object], str]] = [
    (
        lambda program, kernel: SetRuntimeArgs(program, kernel, [(1, 0), (1, 1)], [[1]]),
        "2 cores and 1 lists of run-time arguments; a list of cores takes a list of arguments",
    ),
    (
        lambda program, kernel: SetRuntimeArgs(program, kernel, [(1, 0), (0, 5)], [[1], [2]]),
        r"run-time arguments for core \(0, 5\), on which kernel kernel_0 does not run",
    ),
    (
        lambda program, kernel: SetRuntimeArgs(program, kernel, (1, 0), 5),
        "run-time arguments are given as a list, not as 5",
    ),
    (
        lambda program, kernel: SetRuntimeArgs(program, kernel, (1, 0), "12"),
        "run-time arguments are given as a list, not as '12'",
    ),
    (
        lambda program, kernel: SetRuntimeArgs(program, kernel, None, [1]),
        "cores are given as CoreCoord, CoreRange or CoreRangeSet, not as None",
    ),
    (
        lambda program, _: SetRuntimeArgs(program, 0, (1, 0), [1]),
        "0 is no kernel; give what CreateKernel returned",
    ),
    (
        lambda _, kernel: SetRuntimeArgs(CreateProgram(), kernel, (1, 0), [1]),
        "kernel kernel_0 is not one of this program's",
    ),
    (lambda _, kernel: SetRuntimeArgs(None, kernel, (1, 0), [1]), "None is no program"),
    (
        lambda program, kernel: GetRuntimeArgs(program, kernel, (0, 0)),
        r"kernel kernel_0 does not run on core \(0, 0\)",
    ),
    (
        lambda program, kernel: GetRuntimeArgs(program, kernel, (1, 0)).__setitem__(0, 1),
        "run-time argument 0 of 0; SetRuntimeArgs says how many there are",
    ),
]


@pytest.mark.parametrize(("case", "message"), WRONG)
def test_wrong_arguments(case: Callable[[Program, Kernel], object], message: str) -> None:
    """Nothing is set then."""
    program, kernel = make_program()
    with pytest.raises(MetaliumError, match=message):
        case(program, kernel)
    assert kernel.arguments == {}


PASS_ON = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    const uint32_t semaphore = get_arg_val<uint32_t>(0);
    auto word = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(semaphore);
    if (get_arg_val<uint32_t>(1)) {
        const uint32_t x = get_arg_val<uint32_t>(2), y = get_arg_val<uint32_t>(3);
        noc_semaphore_inc(get_noc_addr(x, y, semaphore), 2);
        noc_async_atomic_barrier();
    } else {
        noc_semaphore_wait(word, 5);
    }
}
"""


def test_global_semaphores_outlive_programs() -> None:
    """A core adds to the word of another one, which waits for it."""
    device = CreateDevice(0)
    program = CreateProgram()
    cores = CoreRange((0, 0), (1, 0))
    semaphore = CreateGlobalSemaphore(device, cores, 3)
    kernel = CreateKernelFromString(program, PASS_ON, cores, ReaderDataMovementConfig())
    place = device.worker_core_from_logical_core((1, 0))
    SetRuntimeArgs(program, kernel, (0, 0), [semaphore, 1, *place])
    SetRuntimeArgs(program, kernel, (1, 0), [semaphore.address(), 0, 0, 0])
    for _ in range(2):
        detail.LaunchProgram(device, program)
        words = [detail.ReadFromDeviceL1(device, each, semaphore.address(), 4) for each in cores]
        assert [int(each[0]) for each in words] == [3, 5]
        semaphore.reset_semaphore_value(3)
    assert semaphore.device() is device
    with pytest.raises(MetaliumError, match="a semaphore is set to -1; it has 32 bits, no sign"):
        semaphore.reset_semaphore_value(-1)
    with pytest.raises(MetaliumError, match=r"core \(9, 0\) is outside of the 8x8 worker cores"):
        CreateGlobalSemaphore(device, (9, 0), 0)
    with pytest.raises(MetaliumError, match="a semaphore is in L1, not in DRAM"):
        CreateGlobalSemaphore(device, cores, 0, BufferType.DRAM)


def test_memory_without_a_queue() -> None:
    """Words of L1 and of channels of DRAM, and whole buffers."""
    device = CreateDevice(0)
    config = InterleavedBufferConfig(
        device=device, size=128, page_size=32, buffer_type=BufferType.DRAM
    )
    buffer = CreateBuffer(config)
    detail.WriteToBuffer(buffer, np.arange(32, dtype=np.uint32))
    found: list[int] = []
    detail.ReadFromDeviceDRAMChannel(device, 2, buffer.address(), 32, found)
    assert found == list(range(16, 24))
    detail.WriteToDeviceDRAMChannel(device, 0, buffer.address(), [99])
    assert detail.ReadFromBuffer(buffer, dtype=np.int32)[:2].tolist() == [99, 1]
    local = CreateBuffer(
        InterleavedBufferConfig(device=device, size=64, page_size=64, buffer_type=BufferType.L1)
    )
    detail.WriteToDeviceL1(device, (0, 0), local.address() + 4, [5, -1])
    assert detail.ReadFromDeviceL1(device, (0, 0), local.address() + 4, 8).tolist() == [
        5,
        0xFFFF_FFFF,
    ]
    with pytest.raises(MetaliumError, match="memory is written and read in words of 4 bytes"):
        detail.WriteToDeviceL1(device, (0, 0), 0x20002, [5])
    with pytest.raises(
        MetaliumError, match=r"8 bytes from address 0x16dffc on are not in 0x16e000"
    ):
        detail.ReadFromDeviceL1(device, (0, 0), 0x16E000 - 4, 8)
    with pytest.raises(MetaliumError, match="channel 12 of DRAM; device 0 has channels 0 to 11"):
        detail.WriteToDeviceDRAMChannel(device, 12, 0, [5])
