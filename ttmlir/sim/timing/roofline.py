"""What a program is bound by, and how far it is from what the chip can do.

Every unit and every link has been busy for some share of the program's time. The largest share
names the bound; where it is far below one, the program is bound by latencies: by waiting in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ttmlir.layout.enums import MathFidelity
from ttmlir.sim.timing.costs import fidelity_phases
from ttmlir.sim.timing.program_times import ProgramTimes

MATMUL_OPERATIONS = 4096
"""Additions and multiplications of a core in a cycle of one fidelity phase
(tt-isa-documentation, MatrixUnit.md)."""

BOUND_SHARE = 0.6
"""Below this share of the time no unit is held to be what binds a program."""

_UNITS = {
    "UNPACK": "unpack",
    "MATH": "compute",
    "PACK": "pack",
    "BRISC": "data movement processor",
    "NCRISC": "data movement processor",
}


@dataclass(frozen=True)
class Load:
    """How busy the busiest resource of a kind was."""

    kind: str
    """compute, unpack, pack, data movement processor, NoC, DRAM or dispatch."""
    where: str
    cycles: float
    share: float
    """Of the time of the program, launch included."""


def loads(times: ProgramTimes) -> list[Load]:
    """The busiest resource of each kind, the busiest kind first."""
    total = times.total_ns * times.clock_hz / 1e9
    if not total:
        return []
    busiest: dict[str, tuple[float, str]] = {}
    for kind, where, cycles in _all_loads(times):
        if kind not in busiest or cycles > busiest[kind][0]:
            busiest[kind] = cycles, where
    found = [Load(kind, where, cycles, cycles / total) for kind, (cycles, where) in busiest.items()]
    return sorted(found, key=lambda load: -load.share)


def bound(times: ProgramTimes) -> str:
    """What the program is bound by: the busiest kind, or latency if nothing is busy enough."""
    busiest = loads(times)
    if not busiest or busiest[0].share < BOUND_SHARE:
        return "latency"
    return busiest[0].kind


def peak_flops(clock_hz: int, cores: int, fidelity: MathFidelity) -> float:
    """Operations per second of matrix products on so many cores."""
    return MATMUL_OPERATIONS * clock_hz * cores / fidelity_phases(fidelity)


def summary(times: ProgramTimes, *, flops: float, cores: int, fidelity: MathFidelity) -> str:
    """A few lines: time, rates against their peaks, and what binds.

    `flops` is how many operations of matrix products the program was meant to do; 0 for none.
    """
    lines = [
        f"{times.name}: {times.cycles:,} cycles = {times.kernel_ns / 1000:.1f} us, "
        f"and {times.launch_ns / 1000:.1f} us to launch"
    ]
    seconds = times.kernel_ns / 1e9
    if flops and seconds:
        peak = peak_flops(times.clock_hz, cores, fidelity)
        lines.append(
            f"  {flops / seconds / 1e12:.2f} of {peak / 1e12:.1f} TFLOP/s on {cores} cores at "
            f"{fidelity.schema_name}: {100 * flops / seconds / peak:.1f}% utilisation"
        )
    if seconds:
        moved = times.networks.dram_bytes
        rate = times.networks.dram_peak * times.clock_hz
        lines.append(
            f"  {moved / seconds / 1e9:.1f} of {rate / 1e9:.0f} GB/s of DRAM: "
            f"{100 * moved / seconds / rate:.1f}%"
        )
    shares = ", ".join(f"{load.kind} {100 * load.share:.0f}%" for load in loads(times))
    lines.append(f"  bound by {bound(times)} (busiest of each kind: {shares or 'nothing ran'})")
    return "\n".join(lines)


def _all_loads(times: ProgramTimes) -> Iterator[tuple[str, str, float]]:
    for thread in times.threads:
        yield _UNITS[thread.role], f"core {thread.core} {thread.role}", thread.busy
    networks = times.networks
    yield from _of("DRAM", networks.dram_resources())
    yield from _of("NoC", networks.network_resources())
    yield "dispatch", "host", times.launch_ns * times.clock_hz / 1e9


def _of(kind: str, resources: Iterable[tuple[str, float]]) -> Iterator[tuple[str, str, float]]:
    for name, cycles in resources:
        yield kind, name, cycles
