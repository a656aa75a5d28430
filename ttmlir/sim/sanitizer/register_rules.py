"""Who may use DST when: MATH between acquire and commit, PACK between wait and release.

Source: tt-metal, tt_metal/include/compute_kernel_api/reg_api.h; tt-isa-documentation,
WormholeB0/TensixTile/TensixCoprocessor/Dst.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from ttmlir.sim.findings import Finding
    from ttmlir.sim.thread import KernelThread


class Destination(Protocol):
    """What the rules have to know of DST: which threads own the part that they work on."""

    @property
    def acquired(self) -> bool:
        """True between `tile_regs_acquire` and `tile_regs_commit`."""
        ...

    @property
    def waited(self) -> bool:
        """True between `tile_regs_wait` and `tile_regs_release`."""
        ...


def allowed(dst: Destination, kind: Literal["math", "pack"]) -> bool:
    """True if the thread owns the part of DST that it works on."""
    return dst.acquired if kind == "math" else dst.waited


def violation(thread: KernelThread, kind: Literal["math", "pack"]) -> Finding:
    """The finding about a use that is not allowed."""
    if kind == "math":
        return thread.finding(
            "computes in DST without having acquired it: PACK may still read the tiles; call "
            "tile_regs_acquire() before and tile_regs_commit() after",
            rule="dst-acquire",
        )
    return thread.finding(
        "packs from DST without having waited for it: MATH may not have finished; call "
        "tile_regs_wait() before and tile_regs_release() after",
        rule="dst-wait",
    )
