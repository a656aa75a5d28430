"""Arguments of the wrong kind: each is an error of the host API that says what is meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ttmlir.metalium import (
    CircularBufferConfig,
    ComputeConfig,
    CreateBuffer,
    CreateDevice,
    CreateGlobalSemaphore,
    CreateKernel,
    CreateKernelFromString,
    CreateProgram,
    CreateSemaphore,
    DataMovementConfig,
    Device,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    InterleavedBufferConfig,
    MetaliumError,
    ReaderDataMovementConfig,
    TensorAccessorArgs,
    detail,
    split_work_to_cores,
)
from ttmlir.metalium.distributed import MeshDevice, MeshShape
from ttmlir.metalium.experimental import (
    MakeProgramFromSpec,
    ProgramRunArgs,
    ProgramSpec,
    SetProgramRunArgs,
)

EMPTY = "void kernel_main() {}"


def kernel(config: Any, text: Any = EMPTY) -> Any:
    """A kernel of a new program."""
    return CreateKernelFromString(CreateProgram(), text, (0, 0), config)


def make_buffer(device: Device, **changes: Any) -> Any:
    """A small buffer in DRAM."""
    return CreateBuffer(
        InterleavedBufferConfig(**{"device": device, "size": 64, "page_size": 64} | changes)
    )


WRONG: list[tuple[Callable[[Any], object], str]] = [
    (lambda _: CreateDevice("n150"), "a device is opened by its number, not by 'n150'"),
    (lambda _: MeshShape("1"), r"the extents of a mesh are integers, not \('1',\)"),
    (lambda _: MeshDevice.create(MeshShape(1, 1)), "takes a MeshDeviceConfig, not MeshShape"),
    (lambda _: make_buffer(None), "'device' is an open device, not None"),
    (lambda d: make_buffer(d, size=128 / 2), "'size' is 64.0; sizes are whole numbers of bytes"),
    (lambda d: EnqueueWriteBuffer(d, make_buffer(d), bytes(64)), "is no command queue; device.com"),
    (lambda d: EnqueueWriteBuffer(d.command_queue(), 5, bytes(64)), "5 is no buffer; CreateBuffer"),
    (
        lambda d: EnqueueWriteBuffer(d.command_queue(), make_buffer(d), [[1, 2], [3]]),
        "the numbers are no vector: ",
    ),
    (
        lambda d: EnqueueWriteBuffer(d.command_queue(), make_buffer(d), [1 << 40] * 16),
        "a list of integers is one of uint32, but there are larger ones",
    ),
    (
        lambda d: EnqueueReadBuffer(d.command_queue(), make_buffer(d), dtype="bf16"),
        "'dtype' is a type of NumPy, not 'bf16'",
    ),
    (
        lambda d: EnqueueReadBuffer(d.command_queue(), make_buffer(d), "abc"),
        "dst is an array or a list, not 'abc'",
    ),
    (lambda d: EnqueueProgram(d.command_queue(), None), "None is no program; CreateProgram"),
    (
        lambda _: CreateKernel(CreateProgram(), EMPTY + "\n", (0, 0), ComputeConfig()),
        "CreateKernel takes the path of a file; CreateKernelFromString takes the text",
    ),
    (lambda _: kernel(ComputeConfig(), 5), "the text of a kernel is a str, not 5"),
    (lambda _: kernel(ComputeConfig(defines=["A"])), r"'defines' is a dictionary, not \['A'\]"),
    (lambda _: kernel(ComputeConfig(defines={"a b": "1"})), "'a b', which is no name of a macro"),
    (
        lambda _: kernel(ComputeConfig(named_compile_args={1: 2})),
        "has the name 1, which is no",
    ),
    (
        lambda _: kernel(ComputeConfig(math_fidelity="HiFi4")),
        "'math_fidelity' is 'HiFi4'; it is one of MathFidelity.LoFi, MathFidelity.HiFi2",
    ),
    (lambda _: kernel(ComputeConfig(unpack_to_dest_mode=1)), "is a list with an UnpackToDestMode"),
    (lambda _: kernel(DataMovementConfig(noc=7)), "'noc' is 7; it is NOC.NOC_0 or NOC.NOC_1"),
    (lambda _: kernel(DataMovementConfig(processor=3)), "it is DataMovementProcessor.RISCV_0 or"),
    (
        lambda _: kernel(DataMovementConfig(noc_mode=1)),
        "DM_DYNAMIC_NOC is not simulated; give",
    ),
    (
        lambda _: kernel(ReaderDataMovementConfig("12")),
        "compile-time arguments are given as a",
    ),
    (lambda _: CircularBufferConfig(64, {"a": 1}), "the format of circular buffer a|by its index"),
    (
        lambda _: CreateSemaphore(CreateProgram(), (0, 0), "a"),
        "a semaphore is set to 'a'; it has",
    ),
    (lambda _: CreateSemaphore(CreateProgram(), (0, 0)), "missing a required argument: 'initial_"),
    (lambda _: CreateGlobalSemaphore(5, (0, 0), 1), "5 is no device; CreateDevice"),
    (lambda d: CreateGlobalSemaphore(d, (0, 0), 0.5), "a semaphore is set to 0.5; it has 32 bits"),
    (lambda _: split_work_to_cores((8, 8), 2.5), "2.5 units of work; they are whole: divide with"),
    (lambda d: split_work_to_cores(d, 5), "a grid is its columns and rows, such as device.compute"),
    (lambda d: TensorAccessorArgs(make_buffer(d), 0.5), "'args_config' is flags of ArgConfig"),
    (
        lambda d: TensorAccessorArgs(make_buffer(d)).append_to(None),
        "append_to takes lists, not",
    ),
    (lambda _: detail.LaunchProgram(None, CreateProgram()), "None is no device; CreateDevice"),
    (lambda d: MakeProgramFromSpec(d, ProgramSpec(kernels=[5])), "of a ProgramSpec has 5: no Kern"),
    (lambda d: MakeProgramFromSpec(d, ProgramSpec()), "a ProgramSpec has at least one kernel"),
    (lambda _: MakeProgramFromSpec(None, ProgramSpec()), "None is no device; CreateDevice"),
    (lambda _: SetProgramRunArgs(5, ProgramRunArgs()), "takes a program of MakeProgramFromSpec"),
]


@pytest.mark.parametrize(("case", "message"), WRONG)
def test_wrong_kinds(case: Callable[[Any], object], message: str) -> None:
    """What there is, and what is meant."""
    with pytest.raises(MetaliumError, match=message):
        case(CreateDevice(0))


def test_a_queue_ends_with_its_device() -> None:
    """Commands after that are refused."""
    device = CreateDevice(0)
    queue, buffer = device.command_queue(), make_buffer(device)
    EnqueueWriteBuffer(queue, buffer, bytes(64))
    assert device.close()
    with pytest.raises(MetaliumError, match="device 0 is closed"):
        EnqueueReadBuffer(queue, buffer)
    with pytest.raises(MetaliumError, match="device 0 is closed"):
        device.close()
