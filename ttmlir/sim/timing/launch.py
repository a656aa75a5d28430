"""How long it takes to start a program, and one after the other (C27 to C29 of docs/timing.md).

The figures stand in `ttmlir.machine`.
"""

from __future__ import annotations

from collections.abc import Set

from ttmlir.layout.enums import Arch
from ttmlir.machine import generation

TYPICAL_KERNEL_BYTES = 1024
"""Assumed where nobody has compiled the kernels: a loop around a few calls."""


def launch_ns(
    roles: Set[str],
    arch: Arch = Arch.WORMHOLE_B0,
    kernel_bytes: int = TYPICAL_KERNEL_BYTES,
    *,
    circular_buffers: bool = False,
) -> float:
    """Nanoseconds to start kernels of a size on these processors of the cores."""
    if not roles:
        return 0.0
    figures = generation(arch.keyword).launch
    each = figures.kernel + kernel_bytes / figures.bytes_per_ns
    buffers = figures.circular_buffers if circular_buffers else 0.0
    return figures.fixed + len(roles) * each + buffers


def replayed_ns(launch: float, kernel: float, arch: Arch = Arch.WORMHOLE_B0) -> float:
    """Nanoseconds from one program of a trace to the next that is like it.

    While one runs the next one is sent, so that only the longer of both counts.
    """
    return max(launch, kernel + generation(arch.keyword).launch.gap)
