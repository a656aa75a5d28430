"""Programs of ttnn's factories on the simulator, against NumPy.

    PYTHONPATH=. python test/vendor/factory_programs.py LOG ROOT [NAME...]

LOG and ROOT are those of `factory_kernels.py`. A program has the kernels that the factory of an
operation compiled, with their compile-time arguments, macros and names; run-time arguments and the
sizes of circular buffers are written here, as the factory makes them for one core. The results are
compared in both numerics, with everything that the sanitizer finds.
"""

from __future__ import annotations

import argparse
import re
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from factory_kernels import (
    Compilation,
    find_compilations,
    has_wide_registers,
    read_defines,
    read_names,
)
from numpy.typing import NDArray

from ttmlir.metalium import (
    NOC,
    CircularBufferConfig,
    ComputeConfig,
    CoreCoord,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernel,
    CreateProgram,
    DataFormat,
    DataMovementConfig,
    DataMovementProcessor,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    InterleavedBufferConfig,
    Program,
    SetCommonRuntimeArgs,
    SetRuntimeArgs,
)
from ttmlir.optable.kernel.releases import Release

Array = NDArray[Any]
CORE = CoreCoord(0, 0)
FORMATS = {0: DataFormat.Float32, 5: DataFormat.Float16_b, 24: DataFormat.UInt32}
TILE_BYTES = {DataFormat.Float32: 4096, DataFormat.Float16_b: 2048, DataFormat.UInt32: 4096}
ROWS, COLUMNS = 64, 96
HEIGHT, WIDTH = ROWS // 32, COLUMNS // 32


@dataclass(frozen=True)
class Operation:
    """What an operation of ttnn is called with, and what its factory passes to its kernels."""

    kernels: Mapping[str, str]
    """By the end of each file of a kernel: what has to be in its generated files."""
    arguments: Mapping[str, int]
    """Run-time arguments by their names, the same for all kernels."""
    compute: Callable[[Array], Array]
    """The result in float64."""
    pages: Mapping[str, int] = field(default_factory=dict[str, int])
    """Of circular buffers by their names, where they are not two blocks."""
    tolerance: float = 0.02


def bits(number: float) -> int:
    """The bits of a float32."""
    return struct.unpack("<I", struct.pack("<f", number))[0]


def normalize(x: Array) -> Array:
    """Layer norm of rows."""
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def soften(x: Array) -> Array:
    """Softmax of rows."""
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


_NORM = {"NCHt": HEIGHT, "Wt": WIDTH, "reader_start": 0, "num_tile_rows": HEIGHT, "writer_start": 0}
_SOFTMAX = {
    **{"num_rows": HEIGHT, "num_tiles": HEIGHT * WIDTH, "tile_offset": 0, "blk": 3, "Wt": WIDTH},
    **{"Ht": HEIGHT, "start_ht": 0, "mask_padded_data": 0},
}
OPERATIONS = {
    "layer_norm": Operation(
        {
            "reader_unary_interleaved_ln.cpp": '"block_size",4',
            "layernorm.cpp": '"float32_reduction",1',
            "writer_unary_interleaved_start_id_blocked.cpp": '"block_size",4',
        },
        {**_NORM, "eps": bits(1e-5)},
        normalize,
    ),
    "rms_norm": Operation(
        {
            "reader_unary_interleaved_ln.cpp": '"block_size",8',
            "layernorm.cpp": "RMSNORM",
            "writer_unary_interleaved_start_id_blocked.cpp": '"block_size",8',
        },
        {**_NORM, "eps": bits(1e-12)},
        lambda x: x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-12),
    ),
    "softmax": Operation(
        {
            "reader_unary_interleaved_sm.cpp": "",
            "attention/compute/softmax.cpp": "",
            "writer_unary_interleaved_start_id_blocked_sm.cpp": "",
        },
        _SOFTMAX,
        soften,
        tolerance=0.03,  # the exponentials are the fast ones: on Tenstorrent's simulator 0.027
    ),
}


def find(compilations: list[Compilation], end: str, word: str) -> Compilation:
    """The first compilation of a kernel that has a word in its generated files."""
    for made in compilations:
        if made.kernel.endswith(end) and made.processor in ("brisc", "ncrisc", "trisc1"):
            if word in made.read("named_ct_arg_map_generated.h") + made.read("defines_generated.h"):
                return made
    raise SystemExit(f"the log has no {end} with {word!r}")


def add_kernel(
    program: Program, made: Compilation, operation: Operation, root: str, addresses: list[int]
) -> None:
    """Put a kernel on the core, with everything that it was compiled with."""
    defines, positional = read_defines(made)
    names = read_names(made)
    if made.processor == "trisc1":
        config = ComputeConfig(
            fp32_dest_acc_en=has_wide_registers(made),
            compile_args=positional,
            defines=defines,
        )
    else:
        processor = DataMovementProcessor[{"brisc": "RISCV_0", "ncrisc": "RISCV_1"}[made.processor]]
        config = DataMovementConfig(
            processor=processor, noc=NOC(int(processor is DataMovementProcessor.RISCV_1)),
            compile_args=positional, defines=defines,
        )  # fmt: skip
    folders = (root, f"{root}/ttnn", f"{root}/ttnn/cpp")
    kernel = CreateKernel(program, made.kernel, CORE, config, include_folders=folders)
    kernel.names, kernel.release = names, Release.LATE_2026
    SetRuntimeArgs(program, kernel, CORE, [operation.arguments[each] for each in names.arguments])
    if names.tensors:
        is_output = names.tensors[0][0] == "dst"
        SetCommonRuntimeArgs(program, kernel, [addresses[is_output]])


def run(
    compilations: list[Compilation], operation: Operation, root: str, x: Array, numerics: Any
) -> Array:
    """The result of a program."""
    device = CreateDevice(0, board="p150", numerics=numerics, leniencies=frozenset(("tt-metal",)))
    program, queue = CreateProgram(), device.command_queue()
    tiles = x.reshape(HEIGHT, 2, 16, WIDTH, 2, 16).transpose(0, 3, 1, 4, 2, 5)
    data = np.ascontiguousarray(tiles).view(np.uint16).reshape(-1, 1024)
    size = InterleavedBufferConfig(device=device, size=data.nbytes, page_size=2048)
    buffers = [CreateBuffer(size) for _ in range(2)]
    EnqueueWriteBuffer(queue, buffers[0], data)
    found = [find(compilations, end, word) for end, word in operation.kernels.items()]
    made = next(each for each in found if each.processor == "trisc1")
    formats = re.search(
        r"unpack_src_format\[\d+\] = \{([\d,\s]*)\}", made.read("chlkc_descriptors.h")
    )
    assert formats is not None
    numbers = [int(each) for each in formats[1].split(",")]
    named = {name: i for each in found for name, i in read_names(each).circular_buffers}
    for name, index in named.items():
        format_ = FORMATS[numbers[index]]
        tile = TILE_BYTES[format_]
        pages = operation.pages.get(name, 16)
        config = CircularBufferConfig(pages * tile, {index: format_})
        CreateCircularBuffer(program, CORE, config.set_page_size(index, tile))
    for each in found:
        add_kernel(program, each, operation, root, [buffer.address() for buffer in buffers])
    EnqueueProgram(queue, program)
    out = np.zeros_like(data)
    EnqueueReadBuffer(queue, buffers[1], out)
    rows = out.view(ml_dtypes.bfloat16).reshape(HEIGHT, WIDTH, 2, 2, 16, 16)
    return rows.transpose(0, 2, 4, 1, 3, 5).reshape(ROWS, COLUMNS).astype(np.float64)


def main() -> int:
    """Run the programs, and print how far their results are off."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("root", help="the folder of ttnn's package")
    parser.add_argument("names", nargs="*", help="operations; all if none is given")
    options = parser.parse_args()
    compilations = [each for each in find_compilations(options.log) if each.kernel]
    x = np.random.default_rng(7).standard_normal((ROWS, COLUMNS)).astype(ml_dtypes.bfloat16)
    failed = 0
    for name in options.names or OPERATIONS:
        operation = OPERATIONS[name]
        expected = operation.compute(x.astype(np.float64))
        for numerics in ("exact", "device"):
            found = run(compilations, operation, options.root, x, numerics)
            error = np.abs(found - expected).max() / np.abs(expected).max()
            is_right = bool(error <= operation.tolerance)
            failed += not is_right
            verdict = "ok" if is_right else "WRONG"
            print(f"{name} ({numerics}): relative error {error:.4f}: {verdict}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
