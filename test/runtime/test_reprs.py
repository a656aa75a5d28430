"""What a prompt shows of the runtime's objects: one short line."""

from __future__ import annotations

from pathlib import Path

import ttmlir.metalium as tt
from ttmlir.runtime import close_device, get_layout, load_binary, open_device
from ttmlir.runtime.metal_program import MetalProgram

GOLDEN = Path(__file__).parents[1] / "golden"


def test_a_binary_and_its_parts() -> None:
    """Names, numbers and types."""
    binary = load_binary(GOLDEN / "add.ttnn")
    [program] = binary.programs
    assert repr(binary) == f"Binary({GOLDEN / 'add.ttnn'}: forward)"
    assert repr(program) == "BinaryProgram(0: forward(64x128xf32, 64x128xf32) -> (64x128xf32))"
    assert repr(program.operations[0]).startswith("Operation(0: GetDeviceOp")
    assert repr(get_layout(binary, 0, 0)) == "TensorDesc(64x128xf32, system)"
    assert repr(program.inputs[0]).endswith(": 64x128xf32, system)")


def test_kernels() -> None:
    """Commands say what they do."""
    binary = load_binary(GOLDEN / "chain.ttm")
    [program] = binary.programs
    assert isinstance(program, MetalProgram)
    assert repr(program.launches[-1]).startswith("Command(")
    assert "launch of untilize" in repr(program.launches[-1])
    assert max(len(repr(command)) for command in program.commands) < 120


def test_devices() -> None:
    """Chips and numerics."""
    device = open_device(numerics="device")
    assert repr(device) == "Device(chips [0], numerics=device)"
    close_device(device)
    assert repr(device) == "Device(chips [0], numerics=device, closed)"


def test_the_host_of_kernels() -> None:
    """Devices, queues, programs and buffers."""
    device = tt.CreateDevice(0)
    assert repr(device).startswith("Device(0: ")
    assert repr(device.command_queue()) == "CommandQueue(0 programs ran)"
    program = tt.CreateProgram()
    assert repr(program) == "Program(0 kernels, 0 circular buffers, 0 semaphores, 0 cores)"
    config = tt.InterleavedBufferConfig(device=device, size=6144, page_size=2048)
    buffer = tt.CreateBuffer(config)
    expected = f"Buffer(6,144 bytes in pages of 2,048, DRAM address {buffer.address()})"
    assert repr(buffer) == expected
    kernel = tt.CreateKernelFromString(
        program, "void kernel_main() {}", tt.CoreCoord(0, 0), tt.ReaderDataMovementConfig()
    )
    assert "on NCRISC of 1 core" in repr(kernel)
