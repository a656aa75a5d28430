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
    """What the rules have to know of DST: how many tiles a thread sees, and who owns its part."""

    @property
    def capacity(self) -> int:
        """Tiles that a thread sees."""
        ...

    @property
    def acquired(self) -> bool:
        """True between `tile_regs_acquire` and `tile_regs_commit`."""
        ...

    @property
    def waited(self) -> bool:
        """True between `tile_regs_wait` and `tile_regs_release`."""
        ...


def allowed(dst: Destination, index: int, kind: Literal["math", "pack"]) -> bool:
    """True if the thread may use the tile."""
    return 0 <= index < dst.capacity and (dst.acquired if kind == "math" else dst.waited)


def violation(
    thread: KernelThread, dst: Destination, index: int, kind: Literal["math", "pack"]
) -> Finding:
    """The finding about a use that is not allowed."""
    if not 0 <= index < dst.capacity:
        return thread.finding(
            f"tile {index} of DST does not exist: this kernel has {dst.capacity} tiles, numbered "
            "from 0; use a smaller index, or get room for twice as many with "
            "fp32_dest_acc_en = false or with dst_full_sync_en = true",
            rule="dst-index",
        )
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
