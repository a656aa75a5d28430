"""What the host API and the simulator say about programs that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from weakref import WeakSet

import numpy as np
import pytest

from ttmlir.metalium import (
    NOC,
    BufferType,
    CircularBufferConfig,
    CloseDevice,
    ComputeConfig,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernel,
    CreateKernelFromString,
    CreateProgram,
    CreateSemaphore,
    DataFormat,
    DataMovementConfig,
    DataMovementProcessor,
    DeallocateBuffer,
    Device,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    InterleavedBufferConfig,
    MetaliumError,
    Program,
    ReaderDataMovementConfig,
    SetCommonRuntimeArgs,
    SetRuntimeArgs,
    ShardedBufferConfig,
    ShardSpecBuffer,
    TensorMemoryLayout,
    WriterDataMovementConfig,
    pack_bfloat16_vec_into_uint32_vec,
    pack_tiles,
    split_work_to_cores,
    tilize_nfaces,
)
from ttmlir.metalium import device as metalium_device
from ttmlir.sim.errors import AllocationError, CycleLimitError, DeadlockError, SimError
from ttmlir.sim.execution.program import Kernel

EMPTY = "void kernel_main() {}"
KERNELS = Path(__file__).resolve().parents[1] / "target" / "cpp" / "kernels"
MULTIPLY = KERNELS / "generated_multiply.cpp"


def dram(device: Device, size: int = 64, page_size: int = 64) -> InterleavedBufferConfig:
    """A small buffer."""
    return InterleavedBufferConfig(device=device, size=size, page_size=page_size)


def sharded(
    device: Device, tensor: tuple[int, int], cores: CoreRange | CoreRangeSet
) -> ShardedBufferConfig:
    """A buffer of single bytes per page, in shards of 2x2."""
    return ShardedBufferConfig(
        device=device,
        size=tensor[0] * tensor[1] * 16,
        page_size=16,
        buffer_layout=TensorMemoryLayout.BLOCK_SHARDED,
        shard_parameters=ShardSpecBuffer(cores, (2, 2), page_shape=(1, 1), tensor2d_shape=tensor),
    )


def with_kernel(*calls: Callable[[Program, Kernel], object]) -> Callable[[Device], object]:
    """What these calls do with a program that has a kernel on core (0, 0)."""

    def case(device: Device) -> object:
        program = CreateProgram()
        kernel = CreateKernelFromString(program, EMPTY, (0, 0), ReaderDataMovementConfig())
        return [call(program, kernel) for call in calls]

    return case


def closed(device: Device) -> object:
    """Use a device after it was closed."""
    CloseDevice(device)
    return CreateBuffer(dram(device))


def unfinished(device: Device) -> object:
    """Close a device with a read that was not waited for."""
    buffer = CreateBuffer(dram(device))
    EnqueueReadBuffer(device.command_queue(), buffer, blocking=False)
    return CloseDevice(device)


def freed(device: Device) -> object:
    """Use a buffer after it was given back."""
    buffer = CreateBuffer(dram(device))
    DeallocateBuffer(buffer)
    return EnqueueReadBuffer(device.command_queue(), buffer)


def test_a_read_that_is_refused_leaves_the_destination() -> None:
    """Only a read that is waited for later fills it beforehand."""
    device = CreateDevice(0)
    buffer = CreateBuffer(dram(device))
    destination = np.arange(buffer.size() // 4, dtype=np.uint32)
    expected = destination.copy()
    DeallocateBuffer(buffer)
    with pytest.raises(MetaliumError):
        EnqueueReadBuffer(device.command_queue(), buffer, destination)
    np.testing.assert_array_equal(destination, expected)


def twice(device: Device) -> object:
    """Create one circular buffer twice on a core."""
    program = CreateProgram()
    for cores in (CoreRange((0, 0), (1, 1)), CoreCoord(1, 1)):
        cb = CircularBufferConfig(64, {3: DataFormat.UInt8}).set_page_size(3, 64)
        CreateCircularBuffer(program, cores, cb)
    return program


WRONG: list[tuple[Callable[[Device], object], str]] = [
    (lambda _: CreateDevice(0, board="n160"), r"unknown board 'n160'; known are .*n150"),
    (lambda _: CreateDevice(1), r"board n150 has no device 1; its devices are numbered 0 to 0"),
    (
        lambda _: CreateDevice(0, cycle_limit=0),
        r"cycle_limit is 0; it has to be at least 1",
    ),
    (
        lambda device: CreateBuffer(dram(device, 100)),
        r"a buffer of 100 bytes is not made of pages of 64; the size has to be a multiple",
    ),
    (
        lambda device: CreateBuffer(dram(device, 2 << 30, 2 << 30)),
        r"bytes per bank do not fit into DRAM: the largest gap has",
    ),
    (
        lambda device: CreateBuffer(sharded(device, (6, 4), CoreRange((0, 0), (1, 1)))),
        r"3x2 shards need 2 columns and 3 rows of cores, but the rectangle has 2 columns and 2",
    ),
    (
        lambda device: CreateBuffer(
            sharded(
                device,
                (4, 4),
                CoreRangeSet([CoreRange((0, 0), (1, 0)), CoreRange((0, 2), (1, 2))]),
            )
        ),
        r"a block-sharded buffer takes one rectangle of cores",
    ),
    (closed, r"device 0 is closed"),
    (unfinished, r"closed while 1 reads are not finished; call Finish"),
    (freed, r"the buffer at 0x\w+ was deallocated"),
    (
        lambda device: EnqueueWriteBuffer(
            device.command_queue(), CreateBuffer(dram(device)), np.zeros(3, np.uint32)
        ),
        r"12 bytes are written to a buffer of 64; write all of it",
    ),
    (
        lambda device: EnqueueReadBuffer(
            device.command_queue(), CreateBuffer(dram(device)), np.zeros(3, np.uint32)
        ),
        r"dst has 12 bytes, the buffer 64",
    ),
    (
        lambda device: EnqueueReadBuffer(
            CreateDevice(0).command_queue(), CreateBuffer(dram(device))
        ),
        r"is on device 0, the command queue is that of device 0",
    ),
    (
        lambda _: CreateCircularBuffer(
            CreateProgram(), (0, 0), CircularBufferConfig(64, {0: DataFormat.UInt8})
        ),
        r"circular buffer 0 has no page size; call set_page_size\(0, \.\.\.\)",
    ),
    (
        lambda _: CircularBufferConfig(64, {0: DataFormat.UInt8}).set_page_size(1, 64),
        r"circular buffer 1 has no data format; the configuration has 0",
    ),
    (
        lambda _: CreateCircularBuffer(
            CreateProgram(),
            (0, 0),
            CircularBufferConfig(100, {0: DataFormat.UInt8}).set_page_size(0, 64),
        ),
        r"circular buffer 0: 100 bytes are not made of pages of 64",
    ),
    (
        lambda _: CreateCircularBuffer(
            CreateProgram(),
            (0, 0),
            CircularBufferConfig(64, {32: DataFormat.UInt8}).set_page_size(32, 64),
        ),
        r"circular buffer 32 does not exist; they are numbered 0 to 31",
    ),
    (twice, r"circular buffer 3 was already created on core \(1, 1\)"),
    (
        lambda _: CreateKernel(CreateProgram(), "nowhere.cpp", (0, 0), ComputeConfig()),
        r"cannot read kernel nowhere.cpp: No such file or directory",
    ),
    (
        with_kernel(
            lambda program, _: CreateKernelFromString(
                program, EMPTY, CoreRange((0, 0), (1, 0)), ReaderDataMovementConfig()
            )
        ),
        r"kernels kernel_0.cpp and kernel_1.cpp both run on NCRISC of core \(0, 0\)",
    ),
    (
        with_kernel(
            lambda program, _: CreateKernelFromString(
                program,
                EMPTY,
                (0, 0),
                DataMovementConfig(
                    processor=DataMovementProcessor.RISCV_0, noc=NOC.RISCV_0_default
                ),
            )
        ),
        r"both use network 0 on core \(0, 0\), whose counters only serve one processor; give one "
        r"of them network 1",
    ),
    (
        with_kernel(lambda program, kernel: SetRuntimeArgs(program, kernel, (1, 0), [1])),
        r"run-time arguments for core \(1, 0\), on which kernel kernel_0 does not run",
    ),
    (
        with_kernel(lambda program, kernel: SetRuntimeArgs(program, kernel, (0, 0), [1, 0.5])),
        r"run-time argument 1 is 0.5; arguments are integers of 32 bits; of a floating-point",
    ),
    (
        with_kernel(lambda program, kernel: SetRuntimeArgs(program, kernel, (0, 0), [1 << 32])),
        r"run-time argument 0 is 4294967296, which has more than 32 bits",
    ),
    (
        with_kernel(lambda program, kernel: SetCommonRuntimeArgs(program, kernel, [0] * 256)),
        r"256 run-time arguments; a kernel takes 255 at most, common ones included",
    ),
    (
        with_kernel(
            lambda program, kernel: SetRuntimeArgs(program, kernel, (0, 0), [0] * 200),
            lambda program, kernel: SetCommonRuntimeArgs(program, kernel, [0] * 56),
        ),
        r"256 run-time arguments; a kernel takes 255 at most, common ones included",
    ),
    (
        with_kernel(
            lambda program, kernel: SetCommonRuntimeArgs(program, kernel, [0] * 56),
            lambda program, kernel: SetRuntimeArgs(program, kernel, (0, 0), [0] * 200),
        ),
        r"256 run-time arguments; a kernel takes 255 at most, common ones included",
    ),
    (
        with_kernel(
            *(lambda program, _: CreateSemaphore(program, (0, 0), 0) for _ in range(17)),
        ),
        r"no semaphore is left: a core has 16",
    ),
    (
        lambda _: CoreRange((2, 2), (1, 3)),
        r"a range of cores goes from its first to its last corner",
    ),
    (
        lambda _: CoreRangeSet([CoreRange((0, 0), (1, 1)), CoreRange((1, 1))]),
        r"ranges of a CoreRangeSet must not overlap",
    ),
    (
        lambda device: device.worker_core_from_logical_core((8, 0)),
        r"core \(8, 0\) is outside of the 8x8 worker cores of n150",
    ),
    (lambda _: split_work_to_cores((8, 8), 0), r"0 units of work; there has to be at least one"),
    (
        lambda _: tilize_nfaces(np.zeros(1000), 20, 50),
        r"a matrix of 20x50 is not made of tiles of 32x32; pad it to multiples of 32",
    ),
    (lambda _: pack_tiles(np.zeros(5), DataFormat.UInt8), r"a matrix has two dimensions, not 1"),
    (
        lambda _: pack_bfloat16_vec_into_uint32_vec(np.zeros(5)),
        r"5 numbers do not fill words of two",
    ),
]


@pytest.mark.parametrize(("case", "message"), WRONG)
def test_wrong_calls_of_the_host(case: Callable[[Device], object], message: str) -> None:
    """Each is a ValueError that says what is allowed."""
    with pytest.raises(MetaliumError, match=message) as caught:
        case(CreateDevice(0))
    assert isinstance(caught.value, ValueError)


OUTSIDE: list[tuple[Callable[[Program], object], str]] = [
    (
        lambda program: CreateKernel(program, MULTIPLY, (2, 8), ComputeConfig()),
        "(2, 8)",
    ),
    (
        lambda program: CreateKernelFromString(
            program, EMPTY, CoreRange((7, 0), (8, 1)), DataMovementConfig()
        ),
        "(8, 0)",
    ),
    (
        lambda program: CreateCircularBuffer(
            program,
            (0, -1),
            CircularBufferConfig(64, {0: DataFormat.UInt8}).set_page_size(0, 64),
        ),
        "(0, -1)",
    ),
    (lambda program: CreateSemaphore(program, (9, 9), 0), "(9, 9)"),
]


@pytest.mark.parametrize(
    ("case", "core"), OUTSIDE, ids=["kernel", "string", "circular_buffer", "semaphore"]
)
def test_cores_outside_of_the_grid_are_refused_where_they_are_given(
    case: Callable[[Program], object], core: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the call that names them, with the grid; a core is fine if one open device has it."""
    monkeypatch.setattr(metalium_device, "_devices", WeakSet[Device]())
    case(CreateProgram())
    small = CreateDevice(0)
    program = CreateProgram()
    with pytest.raises(MetaliumError) as caught:
        case(program)
    assert str(caught.value) == (
        f"core {core} is outside of the 8x8 worker cores of n150; use other cores, or open the "
        "device that the program is for first"
    )
    assert not program.kernels
    assert not program.circular_buffers
    assert not program.semaphores
    large = CreateDevice(0, board="p150")
    if core == "(0, -1)":
        with pytest.raises(MetaliumError, match="of the 11x10 worker cores of p150 and of the 8x8"):
            case(program)
    else:
        case(program)
    CloseDevice(large)
    with pytest.raises(MetaliumError, match="is outside of the 8x8 worker cores of n150; use"):
        case(program)
    CloseDevice(small)


def run(
    readers: str, writers: str = "", *, pages: Sequence[int] = (), cycle_limit: int = 10**9
) -> None:
    """Run one or two kernels on core (1, 0), with circular buffers of 64-byte pages."""
    device = CreateDevice(0, cycle_limit=cycle_limit)
    program, core = CreateProgram(), CoreCoord(1, 0)
    for index, count in enumerate(pages):
        cb = CircularBufferConfig(64 * count, {index: DataFormat.UInt8})
        CreateCircularBuffer(program, core, cb.set_page_size(index, 64))
    CreateSemaphore(program, core, 2)
    CreateKernelFromString(program, readers, core, ReaderDataMovementConfig())
    if writers:
        CreateKernelFromString(program, writers, core, WriterDataMovementConfig())
    EnqueueProgram(device.command_queue(), program)


def test_deadlock_shows_each_thread() -> None:
    """Two kernels that wait for each other, each with its line and the state that it waits on."""
    reader = """#include "dataflow_api.h"
void kernel_main() {
    for (uint32_t i = 0; i < 5; i++) {
        cb_reserve_back(0, 2);
        cb_push_back(0, 2);
    }
}
"""
    writer = """#include "dataflow_api.h"
void kernel_main() {
    cb_wait_front(0, 2);
    cb_pop_front(0, 2);
    auto word = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(0));
    noc_semaphore_wait(word, 3);
}
"""
    with pytest.raises(DeadlockError) as caught:
        run(reader, writer, pages=[4])
    assert str(caught.value).splitlines() == [
        "kernel_0.cpp:4:9: error: deadlock: 2 threads wait, and nothing is left that could wake "
        "them [deadlock]",
        "          cb_reserve_back(0, 2);",
        "          ^",
        "kernel_0.cpp:4:9: note: core (1, 0) NCRISC waits for 2 free pages of circular buffer 0; "
        "it has 0",
        "  note: on core (1, 0) NCRISC",
        "  note: circular buffer 0: 4 pages of 64 bytes, received 6, acked 2, 0 free; pushed by "
        "NCRISC, popped by BRISC",
        "kernel_1.cpp:6:5: note: core (1, 0) BRISC waits for semaphore 0 to be 3; it is 2",
        "      noc_semaphore_wait(word, 3);",
        "      ^",
        "  note: on core (1, 0) BRISC",
    ]


def test_spinning_on_a_word_that_nobody_writes_is_a_deadlock() -> None:
    """A loop over volatile memory lets others run, and ends when nobody is left."""
    spinner = """#include "dataflow_api.h"
void kernel_main() {
    auto word = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(0));
    while (*word != 9) {
    }
}
"""
    with pytest.raises(DeadlockError, match="looks at memory that does not change") as caught:
        run(spinner)
    assert "kernel_0.cpp:4:" in str(caught.value)


@pytest.mark.parametrize(
    "loop",
    [
        "while (true) {\n    }",
        "for (;;) {\n    }",
        "for (volatile int x = 0;;) {\n      x++;\n    }",
        "do {\n    } while (true);",
    ],
)
def test_a_loop_without_end_is_shown_where_it_stands(loop: str) -> None:
    """The error begins with the place of the loop, its line and a caret; nobody waits."""
    with pytest.raises(DeadlockError) as caught:
        run(f'#include "dataflow_api.h"\nvoid kernel_main() {{\n    {loop}\n}}\n')
    assert "memory" not in str(caught.value)
    assert "is in a loop that never ends" in str(caught.value)
    assert str(caught.value).splitlines()[:3] == [
        "kernel_0.cpp:3:5: error: a loop never ends: nothing in it leaves it [deadlock]",
        f"      {loop.splitlines()[0]}",
        "      ^",
    ]


ENDLESS = [
    "noc_semaphore_inc(get_noc_addr(get_semaphore(0)), 1); noc_async_atomic_barrier();",
    "cb_reserve_back(0, 1); cb_push_back(0, 1); cb_wait_front(0, 1); cb_pop_front(0, 1);",
]


@pytest.mark.parametrize("calls", ENDLESS)
def test_cycle_limit_names_who_still_runs(calls: str) -> None:
    """A program that takes longer than it may, although none of its calls has to wait."""
    endless = f"void kernel_main() {{\n    for (;;) {{\n        {calls}\n    }}\n}}\n"
    with pytest.raises(CycleLimitError, match="takes more than 50000 cycles") as caught:
        run(endless, pages=[1], cycle_limit=50_000)
    assert "kernel_0.cpp:3:" in str(caught.value)
    assert "note: core (1, 0) NCRISC runs, at cycle 5" in str(caught.value)


def test_errors_of_the_text_are_errors_of_the_program() -> None:
    """A kernel that is no C++ is refused with its place."""
    with pytest.raises(SimError) as caught:
        run("void kernel_main() {\n    cb_push_bakc(0, 1);\n}\n")
    text = str(caught.value)
    assert text.startswith("kernel_0.cpp:2:5: error: ")
    assert "cb_push_back" in text
    assert "      cb_push_bakc(0, 1);\n      ^" in text


def test_circular_buffers_that_overflow_l1_come_with_a_map() -> None:
    """The error lists everything in L1 in the order of addresses."""
    device = CreateDevice(0)
    page = 400_000
    buffer = CreateBuffer(
        InterleavedBufferConfig(
            device=device, size=64 * page, page_size=page, buffer_type=BufferType.L1
        )
    )
    program = CreateProgram()
    for index in range(3):
        cb = CircularBufferConfig(page, {index: DataFormat.UInt8}).set_page_size(index, page)
        CreateCircularBuffer(program, CoreRange((0, 0), (index, 0)), cb)
    CreateKernelFromString(program, EMPTY, (0, 0), ReaderDataMovementConfig())
    with pytest.raises(AllocationError) as caught:
        EnqueueProgram(device.command_queue(), program)
    assert str(caught.value).splitlines() == [
        "error: the circular buffers of core (0, 0) reach to 0x13b480, but the lowest buffer in "
        "L1 begins at 0x10c580: 192256 bytes too many; use fewer pages, or put buffers into DRAM "
        "[cb-overflow]",
        "  note: on core (0, 0)",
        "  note: L1 of core (0, 0): 0x0 to 0x16500: reserved",
        "  note: L1 of core (0, 0): 0x16500 to 0x77f80, 400000 bytes: circular buffer 0",
        "  note: L1 of core (0, 0): 0x77f80 to 0xd9a00, 400000 bytes: circular buffer 1",
        "  note: L1 of core (0, 0): 0xd9a00 to 0x13b480, 400000 bytes: circular buffer 2",
        "  note: L1: 0x10c580 to 0x16e000, 400000 bytes: buffer",
        "  note: L1 of core (0, 0): ends at 0x16e000",
    ]
    DeallocateBuffer(buffer)
    EnqueueProgram(device.command_queue(), program)


def test_a_program_without_kernels_is_refused() -> None:
    """Nothing to run is most likely a mistake."""
    with pytest.raises(SimError, match="the program has no kernels"):
        EnqueueProgram(CreateDevice(0).command_queue(), CreateProgram())


def test_a_kernel_file_that_is_no_text(tmp_path: Path) -> None:
    """Its name and the reason are in the message."""
    file = tmp_path / "binary.cpp"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(MetaliumError, match=r"cannot read kernel .*binary.cpp: it is no UTF-8"):
        CreateKernel(CreateProgram(), file, (0, 0), ReaderDataMovementConfig())
