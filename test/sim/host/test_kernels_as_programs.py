"""Kernels that g++ compiles and the host runs leave the same bytes in DRAM as on the simulator.

The calls are those of the generated header; `machine.h` defines them, with a thread for each kernel
and a tile as 1024 numbers of float. All programs are compiled at once.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples.ttir_text import FunctionText, tensor

from ttmlir.compiler import compile_to_ttm
from ttmlir.cpp.include_path import kernel_header
from ttmlir.metalium import (
    CBIndex,
    CircularBufferConfig,
    ComputeConfig,
    CoreCoord,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    InterleavedBufferConfig,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
    WriterDataMovementConfig,
    pack_tiles,
    unpack_tiles,
)
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.options import SimOptions

COMPILER = shutil.which("g++")
TESTS = Path(__file__).parents[2]
EXAMPLES = TESTS.parent / "examples" / "metalium" / "kernels"
PUBLISHED = TESTS / "sim" / "programs" / "kernels"
CORE = CoreCoord(0, 0)
TILE = 2048
BANK_ADDRESS, BUFFER_SPACING = 0x10000, 0x40000
"""Where the host places buffers in each bank."""


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A kernel with what it is given; a text stands for the address of a buffer."""

    file: Path
    args: tuple[int | str, ...]
    compile_args: tuple[int, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A program on one core: inputs as bytes, one output."""

    reader: Kernel
    writer: Kernel
    compute: Kernel | None = None
    inputs: Mapping[str, bytes]
    output_pages: int
    page_size: int = TILE
    buffer_pages: int = 2

    @property
    def kernels(self) -> dict[str, Kernel]:
        """By the word for what they do."""
        kernels = {"reader": self.reader, "writer": self.writer}
        return kernels if self.compute is None else {**kernels, "compute": self.compute}

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of each buffer in DRAM."""
        sizes = {name: len(data) for name, data in self.inputs.items()}
        return {**sizes, "output": self.output_pages * self.page_size}


def tiles(rows: int, columns: int, seed: int, *, scale: float = 16) -> bytes:
    """Numbers that bfloat16 has, as tiles."""
    numbers = np.random.default_rng(seed).integers(-64, 65, (rows, columns)) / scale
    return pack_tiles(numbers.astype(np.float32), DataFormat.Float16_b)


def sticks(count: int, seed: int) -> bytes:
    """Rows of 4 bytes."""
    return np.random.default_rng(seed).integers(0, 256, 4 * count, np.uint8).tobytes()


def writing(count: int) -> Kernel:
    """The kernel that writes tiles."""
    return Kernel(file=EXAMPLES / "write_tiles.cpp", args=("output", 0, count))


def functions(chain: str) -> Scenario:
    """Calls on the vector unit, two tiles of the output at a time."""
    return Scenario(
        reader=Kernel(file=EXAMPLES / "read_two_tensors.cpp", args=("a", "b", 6)),
        compute=Kernel(
            file=PUBLISHED / "eltwise_sfpu.cpp",
            args=(),
            compile_args=(3, 2),
            defines={"SFPU_OP_CHAIN_0": chain},
        ),
        writer=writing(6),
        inputs={"a": tiles(64, 96, 1), "b": tiles(64, 96, 2)},
        output_pages=6,
        buffer_pages=6,
    )


SCENARIOS = {
    "add": Scenario(
        reader=Kernel(file=EXAMPLES / "read_two_tensors.cpp", args=("a", "b", 15)),
        compute=Kernel(file=EXAMPLES / "add_tiles.cpp", args=(15,)),
        writer=writing(15),
        inputs={"a": tiles(96, 160, 3, scale=7), "b": tiles(96, 160, 4, scale=1000)},
        output_pages=15,
    ),
    "relu": functions("relu_tile_init(); relu_tile(0);"),
    "exp": functions("negative_tile_init(); negative_tile(0); exp_tile_init(); exp_tile(0);"),
    "matmul": Scenario(
        reader=Kernel(
            file=EXAMPLES / "read_rows_and_columns.cpp",
            args=("a", "b", 0, 8),
            compile_args=(3, 4),
        ),
        compute=Kernel(file=EXAMPLES / "multiply_tiles.cpp", args=(8,), compile_args=(3,)),
        writer=writing(8),
        inputs={"a": tiles(64, 96, 5), "b": tiles(96, 128, 6)},
        output_pages=8,
    ),
    "pad": Scenario(
        reader=Kernel(
            file=PUBLISHED / "pad_reader_dims_rm_interleaved.cpp",
            args=("source", "pad", 0, 4, 8, 4, 7, 5),
            compile_args=(1, 1),
        ),
        writer=Kernel(
            file=PUBLISHED / "pad_writer_dims_rm_interleaved.cpp", args=("output", 0, 56, 4)
        ),
        inputs={"source": sticks(20, 7), "pad": sticks(1, 8)},
        output_pages=56,
        page_size=4,
    ),
}
"""Sums in the products need no rounding, so that their order does not matter."""


def cb_page(scenario: Scenario) -> int:
    """Bytes of a page in a circular buffer."""
    return max(scenario.page_size, 32)


# --- What the compiler makes ---------------------------------------------------------------------

GENERATED = ("maximum", "add")
"""Operations of ttir; the kernels work on whole tensors in L1."""
SHAPE = (33, 70)
PADDED = (64, 96)


def compiled(operation: str) -> bytes:
    """The `.ttm` file of a function that does an operation on two tensors."""
    text = FunctionText([tensor(*SHAPE, element="bf16")] * 2, constraint="#tile")
    value = text.op(operation, ["%arg0", "%arg1"], tensor(*SHAPE, element="bf16"))
    return compile_to_ttm(text.returning(value))


def operands() -> list[Any]:
    """Numbers that bfloat16 has."""
    rng = np.random.default_rng(9)
    return [(rng.integers(-64, 65, SHAPE) / 16).astype(np.float32) for _ in range(2)]


def generated_program(operation: str, folder: Path) -> str:
    """A namespace with the kernel that computes, and a function that runs it on tiles."""
    texts = re.findall(rb"#include <cstdint>[^\0]*", compiled(operation))
    (text,) = (each.decode() for each in texts if re.search(rb"max_tile\(|add_tiles\(", each))
    name = f"generated_{operation}"
    lines = ["host::reset();"]
    lines += [f"host::create_buffer({index}, 6, {TILE});" for index in (0, 1, 16)]
    for index, values in enumerate(operands()):
        padded = np.pad(values, [(0, p - s) for p, s in zip(PADDED, SHAPE, strict=True)])
        file = folder / f"{name}.{index}"
        file.write_bytes(pack_tiles(padded, DataFormat.Float16_b))
        lines.append(f'host::transfer("{file}", "rb", {index});')
    lines.append("host::run({{kernel_thread::kernel_entry, {}}});")
    lines.append(f'host::transfer("{folder / f"{name}.output"}", "wb", 16);')
    body = "\n    ".join(lines)
    kernel = re.sub(r"(?m)^#include.*$", "", text)
    return f"namespace scenario_{name} {{\n{kernel}\nvoid run() {{\n    {body}\n}}\n}}\n"


# --- On the simulator -----------------------------------------------------------------------------


def simulated(scenario: Scenario) -> bytes:
    """The output of the simulator, with exact numerics."""
    device = CreateDevice(0, numerics="exact", timed=False)
    queue, program = device.command_queue(), CreateProgram()
    page_size = scenario.page_size
    buffers = {
        name: CreateBuffer(InterleavedBufferConfig(device=device, size=size, page_size=page_size))
        for name, size in scenario.sizes.items()
    }
    for name, data in scenario.inputs.items():
        EnqueueWriteBuffer(queue, buffers[name], np.frombuffer(data, np.uint8))
    for index in (CBIndex.c_0, CBIndex.c_1, CBIndex.c_16):
        size = scenario.buffer_pages * cb_page(scenario)
        config = CircularBufferConfig(size, {index: DataFormat.Float16_b})
        CreateCircularBuffer(program, CORE, config.set_page_size(index, cb_page(scenario)))
    for role, kernel in scenario.kernels.items():
        made = CreateKernelFromString(
            program, kernel.file.read_text(), CORE, configuration(role, kernel)
        )
        args = [buffers[each] if isinstance(each, str) else each for each in kernel.args]
        SetRuntimeArgs(program, made, CORE, args)
    EnqueueProgram(queue, program)
    return EnqueueReadBuffer(queue, buffers["output"], dtype=np.uint8).tobytes()


def configuration(role: str, kernel: Kernel) -> Any:
    """Where a kernel runs, and with what."""
    if role == "compute":
        return ComputeConfig(compile_args=kernel.compile_args, defines=kernel.defines)
    make = ReaderDataMovementConfig if role == "reader" else WriterDataMovementConfig
    return make(kernel.compile_args, kernel.defines)


# --- On the host ----------------------------------------------------------------------------------


def source_of(kernel: Kernel) -> str:
    """The definitions of a kernel, for a namespace of their own."""
    text = re.sub(r"(?m)^#include.*$", "", kernel.file.read_text())
    macros = "".join(f"#define {name} {value}\n" for name, value in kernel.defines.items())
    undone = "".join(f"\n#undef {name}" for name in kernel.defines)
    numbers = ", ".join(map(str, (*kernel.compile_args, 0)))
    return f"constexpr uint32_t compile_time_args[] = {{{numbers}}};\n{macros}{text}{undone}\n"


def entry_of(kernel: Kernel) -> str:
    """The function that a kernel is: compute kernels of 2024 have another than those of 2026."""
    is_of_2024 = "namespace NAMESPACE" in kernel.file.read_text()
    return "kernel_thread::kernel_entry" if is_of_2024 else "kernel_main"


def address_of(scenario: Scenario, name: str) -> int:
    """The address of a buffer in each bank."""
    return BANK_ADDRESS + BUFFER_SPACING * list(scenario.sizes).index(name)


def program_of(name: str, scenario: Scenario, folder: Path) -> str:
    """A namespace with the kernels of a scenario and a function that runs it."""
    parts = [
        f"namespace {role} {{\n{source_of(kernel)}}}" for role, kernel in scenario.kernels.items()
    ]
    lines = ["host::reset();"]
    for index in (0, 1, 16):
        lines.append(f"host::create_buffer({index}, {scenario.buffer_pages}, {cb_page(scenario)});")
    size = scenario.page_size
    for each, data in scenario.inputs.items():
        (folder / f"{name}.{each}").write_bytes(data)
        place = f"{address_of(scenario, each)}, {len(data) // size}, {size}"
        lines.append(f'host::transfer("{folder / f"{name}.{each}"}", "rb", {place});')
    started = [
        f"{{{role}::{entry_of(kernel)}, "
        f"{{{', '.join(str(argument(scenario, each)) for each in kernel.args)}}}}}"
        for role, kernel in scenario.kernels.items()
    ]
    lines.append(f"host::run({{{', '.join(started)}}});")
    place = f"{address_of(scenario, 'output')}, {scenario.output_pages}, {size}"
    lines.append(f'host::transfer("{folder / f"{name}.output"}", "wb", {place});')
    body = "\n    ".join(lines)
    kernels = "\n".join(parts)
    return f"namespace scenario_{name} {{\n{kernels}\nvoid run() {{\n    {body}\n}}\n}}\n"


def argument(scenario: Scenario, value: int | str) -> int:
    """A run-time argument."""
    return address_of(scenario, value) if isinstance(value, str) else value


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where the compiled programs left their outputs."""
    if COMPILER is None:
        pytest.skip("there is no g++ to compile kernels with")
    folder = tmp_path_factory.mktemp("programs")
    (folder / "kernel_calls.h").write_text(kernel_header())
    parts = [program_of(name, each, folder) for name, each in SCENARIOS.items()]
    parts += [generated_program(operation, folder) for operation in GENERATED]
    names = (*SCENARIOS, *(f"generated_{operation}" for operation in GENERATED))
    calls = "".join(f"    scenario_{name}::run();\n" for name in names)
    source = folder / "programs.cpp"
    source.write_text(f'#include "machine.h"\n{"".join(parts)}int main() {{\n{calls}}}\n')
    program = folder / "programs"
    options = ("-std=c++20", "-O1", "-w", "-pthread", f"-I{folder}", f"-I{Path(__file__).parent}")
    checked([COMPILER, *options, "-o", str(program), str(source)])
    checked([str(program)])
    return folder


def checked(command: Sequence[str]) -> None:
    """Run a command, or fail with what it says."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", SCENARIOS)
def test_same_bytes(name: str, outputs: Path) -> None:
    """Bit for bit, functions of the C library within one unit of the last place."""
    got = np.frombuffer(simulated(SCENARIOS[name]), np.uint16)
    expected = np.frombuffer((outputs / f"{name}.output").read_bytes(), np.uint16)
    assert len(set(expected.tolist())) > 20
    if name == "exp":
        np.testing.assert_allclose(got.astype(int), expected.astype(int), rtol=0, atol=1)
    else:
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("operation", GENERATED)
def test_generated_kernels(operation: str, outputs: Path) -> None:
    """The numbers of the whole program are those of its kernel as a program of the host."""
    binary = read_binary(compiled(operation), "test.ttm")
    assert isinstance(binary, MetalBinary)
    leniencies = frozenset({"aliased-cbs", "pop-unfilled"})
    options = SimOptions(numerics="exact", timed=False, leniencies=leniencies)
    (got,) = execute(binary.metal_programs[0], operands(), options).outputs
    data = (outputs / f"generated_{operation}.output").read_bytes()
    expected = unpack_tiles(data, DataFormat.Float16_b, *PADDED)[: SHAPE[0], : SHAPE[1]]
    assert len(np.unique(expected)) > 20
    np.testing.assert_array_equal(np.asarray(got), expected)
