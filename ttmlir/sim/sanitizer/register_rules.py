"""Who may use DST when: MATH between acquire and commit, PACK between wait and release.

Source: tt-metal, tt_metal/include/compute_kernel_api/reg_api.h; tt-isa-documentation,
WormholeB0/TensixTile/TensixCoprocessor/Dst.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from ttmlir.optable.kernel import Role

if TYPE_CHECKING:
    from ttmlir.sim.findings import Finding
    from ttmlir.sim.protocols import RunningThread

_PACK = Role.PACK


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


def allowed(thread: RunningThread, dst: Destination) -> bool:
    """True if the thread owns the part of DST that it works on."""
    return dst.waited if thread.role is _PACK else dst.acquired


HELD = (
    "the kernel ends and holds DST: the next program that computes waits for it for ever; call "
    "tile_regs_release() behind the last pack_tile"
)


def still_holds(thread: RunningThread, dst: Destination | None) -> bool:
    """True if a thread has ended between `tile_regs_wait` and `tile_regs_release`.

    Source: tt-llk, llk_math_pack_sync_init, which waits until all halves are free.
    """
    return thread.role is _PACK and dst is not None and dst.waited


def violation(thread: RunningThread, index: int, kind: Literal["read", "write"]) -> Finding:
    """The finding about a use that is not allowed."""
    if thread.role == Role.PACK:
        return thread.finding(
            f"packs tile {index} of DST without having waited for it: MATH may not have finished; "
            "call tile_regs_wait() before and tile_regs_release() after",
            rule="dst-wait",
        )
    return thread.finding(
        f"{kind}s tile {index} of DST without having acquired it: PACK may still use it; call "
        "tile_regs_acquire() before and tile_regs_commit() after",
        rule="dst-acquire",
    )
