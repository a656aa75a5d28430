"""Figures of starting programs, replayed from a trace.

Source: tt-metal, pgm_dispatch_golden.json of 2025-12 and pgm_dispatch_blackhole_golden.json of
2026-01.
"""

from __future__ import annotations

from collections.abc import Iterator

from figures.comparison import Comparison

from ttmlir.layout.enums import Arch
from ttmlir.sim.timing.launch import launch_ns, replayed_ns

LAUNCH = "launch"

NUMBERS = frozenset({"C27", "C28", "C29"})
"""Figures that are compared here."""

SIZES = (256, 4096, 8192)
"""Bytes of each kernel."""

DATA = frozenset({"BRISC"})
COMPUTE = frozenset({"UNPACK", "MATH", "PACK"})
ALL = DATA | COMPUTE | {"NCRISC"}

WORMHOLE = (
    ("one kernel", DATA, False, (2.47, 2.70, 2.96)),
    ("compute", COMPUTE, False, (2.65, 3.35, 4.09)),
    ("one and compute", DATA | COMPUTE, False, (2.72, 3.66, 4.63)),
    ("all", ALL, False, (2.82, 3.99, 5.22)),
    ("all with a CB", ALL, True, (3.10, 4.27, 5.52)),
)
BLACKHOLE = (
    ("one kernel", DATA, False, (1.86, 1.92, 2.06)),
    ("compute", COMPUTE, False, (1.92, 2.30, 2.66)),
    ("all", ALL, False, (2.03, 2.66, 3.22)),
)
SPINNING = {0: 2.47, 1000: 2.47, 2000: 2.84, 3000: 3.85, 5000: 5.88, 10000: 10.96}
"""By the cycles that a kernel of 256 bytes spins."""


def compare_all() -> Iterator[Comparison]:
    """Every value, in microseconds."""
    for name, arch, programs in (
        ("C27: programs of a trace", Arch.WORMHOLE_B0, WORMHOLE),
        ("C28: the same on Blackhole", Arch.BLACKHOLE, BLACKHOLE),
    ):
        for what, roles, buffers, measured in programs:
            for size, microseconds in zip(SIZES, measured, strict=True):
                launch = launch_ns(roles, arch, size, circular_buffers=buffers) / 1000
                yield Comparison(name, LAUNCH, f"{what}, {size} B", microseconds, launch, "us")
    launch = launch_ns(DATA, kernel_bytes=256)
    for cycles, microseconds in SPINNING.items():
        simulated = replayed_ns(launch, cycles) / 1000
        name = "C29: programs of a kernel that spins"
        yield Comparison(name, LAUNCH, f"{cycles} cycles", microseconds, simulated, "us")
