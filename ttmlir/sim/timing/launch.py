"""How long it takes to start a program, and one after the other.

Source: tt-metal, tests/tt_metal/tt_metal/perf_microbenchmark/dispatch/pgm_dispatch_golden.json of
2025-12 and pgm_dispatch_blackhole_golden.json of 2026-01: microseconds per program, replayed from a
trace, by the size of its kernels (C27 to C29 of docs/timing.md).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from ttmlir.layout.enums import Arch

TYPICAL_KERNEL_BYTES = 1024
"""Assumed where nobody has compiled the kernels: a loop around a few calls."""


@dataclass(frozen=True, kw_only=True)
class LaunchParameters:
    """What starting a program takes on a generation of chips, in nanoseconds."""

    fixed: float
    """Of a program without kernels."""
    kernel: float
    """For each of the processors that run one."""
    circular_buffers: float
    """To configure circular buffers, if there are some."""
    bytes_per_ns: float
    """Of kernels on their way to the cores."""
    gap: float
    """Between the end of a program and the start of the next, which was sent meanwhile."""


_WORMHOLE = LaunchParameters(
    fixed=2400, kernel=70, circular_buffers=280, bytes_per_ns=16.5, gap=810
)
_BLACKHOLE = LaunchParameters(
    # Circular buffers and the gap are those of Wormhole, by the clocks.
    fixed=1820,
    kernel=34,
    circular_buffers=207,
    bytes_per_ns=33.5,
    gap=600,
)
_BY_ARCH = {Arch.WORMHOLE_B0: _WORMHOLE, Arch.BLACKHOLE: _BLACKHOLE}


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
    parameters = _BY_ARCH[arch]
    each = parameters.kernel + kernel_bytes / parameters.bytes_per_ns
    buffers = parameters.circular_buffers if circular_buffers else 0.0
    return parameters.fixed + len(roles) * each + buffers


def replayed_ns(launch: float, kernel: float, arch: Arch = Arch.WORMHOLE_B0) -> float:
    """Nanoseconds from one program of a trace to the next that is like it.

    While one runs the next one is sent, so that only the longer of both counts.
    """
    return max(launch, kernel + _BY_ARCH[arch].gap)
