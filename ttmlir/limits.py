"""How much a file may ask for before it is refused, as far as several packages have to know.

Limits of one package stand where they are checked; SECURITY.md lists all of them.
"""

from __future__ import annotations

import os

MEMORY_VARIABLE = "TTMLIR_MEMORY_GIB"
"""Environment variable with another limit of memory, in GiB."""
DEFAULT_MEMORY_GIB = 8
"""What the tensors of a run, and the memories of a simulated device, may take."""

ITERATIONS_VARIABLE = "TTMLIR_MAX_ITERATIONS"
"""Environment variable with another limit of iterations."""
DEFAULT_MAX_ITERATIONS = 10_000_000
"""What all loops of a run may make together, so that a file without an end comes to one."""

DEFAULT_CYCLE_LIMIT = 100_000_000
"""What a program of kernels may take on the simulator, a tenth of a second of the chip, so that a
kernel without an end comes to one."""
CYCLE_ADVICE = (
    "--cycle-limit of ttrt and ttmlir-kernel, or SimOptions.cycle_limit, sets another limit"
)
"""What to do where that is too little, for messages."""

MAX_CHIPS = 1024
"""Most chips of a system, and descriptions of chips."""
MAX_GRID_EXTENT = 64
"""Most rows, and most columns, of the worker cores of a chip."""
MAX_L1_SIZE = 1 << 24
"""Largest memory of one core, in bytes."""
MAX_DRAM_CHANNELS = 64
"""Most channels of DRAM of a chip."""
MAX_DRAM_CHANNEL_SIZE = 1 << 36
"""Largest channel of DRAM, in bytes."""
MAX_COPIES = 1 << 16
"""Most operations that inlining calls, or unrolling loops, makes of a module."""
MAX_RANK = 64
"""Most dimensions of a tensor that runs; NumPy's arrays have no more."""
MAX_CORES = 1 << 12
"""Most cores that a tensor or a kernel of a file is on."""

MAX_CALL_DEPTH = 32
"""How deep loops and branches nest in a file."""
MAX_TEXT_LENGTH = 1 << 28
"""Most characters of a text that is printed without long constants, and most bytes of one that is
read without them; a device such as `/dev/zero` has more than any size that it could announce."""
MAX_SOURCE_LENGTH = 1 << 20
"""Most characters of the C++ of one kernel."""


def memory_limit() -> int:
    """The most bytes that a run may take; the tensors of large models may need more."""
    try:
        gib = float(os.environ.get(MEMORY_VARIABLE, ""))
    except ValueError:
        gib = DEFAULT_MEMORY_GIB
    return int(gib * (1 << 30)) if 0 < gib < 1 << 20 else DEFAULT_MEMORY_GIB << 30


def iteration_limit() -> int:
    """The most iterations that the loops of a run may make."""
    text = os.environ.get(ITERATIONS_VARIABLE, "")
    return int(text) if text.isdecimal() and len(text) < 19 else DEFAULT_MAX_ITERATIONS


def memory_advice() -> str:
    """What to do where the limit is too low, for messages."""
    return (
        f"at most {memory_limit() / (1 << 30):g} GiB are taken; the environment variable "
        f"{MEMORY_VARIABLE} sets another limit"
    )
