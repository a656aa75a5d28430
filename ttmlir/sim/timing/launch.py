"""How long it takes to start a program.

Source: tt-metal, tests/tt_metal/tt_metal/perf_microbenchmark/dispatch/pgm_dispatch_golden.json of
2025-04: microseconds per program on Wormhole, replayed from a trace, by the size of its kernels.
"""

from __future__ import annotations

from collections.abc import Set

_DATA = frozenset({"BRISC", "NCRISC"})

_Line = tuple[tuple[int, float], tuple[int, float]]
_ONE_DATA: _Line = ((256, 2.58), (12288, 3.51))
_COMPUTE_ONLY: _Line = ((256, 2.90), (12288, 5.17))
_DATA_AND_COMPUTE: _Line = ((256, 2.97), (12288, 6.00))
_ALL: _Line = ((256, 3.39), (8192, 5.85))

TYPICAL_KERNEL_BYTES = 1024
"""Assumed where nobody has compiled the kernels: a loop around a few calls."""


def launch_ns(roles: Set[str], kernel_bytes: int = TYPICAL_KERNEL_BYTES) -> float:
    """Nanoseconds to start kernels of a size on these processors of the cores."""
    if not roles:
        return 0.0
    compute = bool(roles - _DATA)
    match len(roles & _DATA), compute:
        case 2, True:
            line = _ALL
        case _, True if roles & _DATA:
            line = _DATA_AND_COMPUTE
        case _, True:
            line = _COMPUTE_ONLY
        case _:
            line = _ONE_DATA
    (small, fast), (large, slow) = line
    microseconds = fast + (slow - fast) * (kernel_bytes - small) / (large - small)
    return 1000 * microseconds
