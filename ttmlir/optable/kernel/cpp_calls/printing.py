"""What `DPRINT` shows of tiles.

Source: tt-metal, debug/dprint_tile.h (api/debug in 2026).
"""

from __future__ import annotations

from collections.abc import Mapping

from ttmlir.optable.kernel.row import Form, KernelCall, Option, ValueKind, cbs, ints, number

_HEADER = "debug/dprint_tile.h"
_RANGE = (("slice_range", ValueKind.SLICE_RANGE),)

RANGES: Mapping[str, tuple[int, int, int, int, int, int]] = {
    "hw0_32_16": (0, 32, 16, 0, 32, 16),
    "hw0_32_8": (0, 32, 8, 0, 32, 8),
    "hw0_32_4": (0, 32, 4, 0, 32, 4),
    "h0_w0_32": (0, 1, 1, 0, 32, 1),
    "h0_32_w0": (0, 32, 1, 0, 1, 1),
    "h0_32_w1": (0, 32, 1, 1, 2, 1),
    "hw041": (0, 4, 1, 0, 4, 1),
}
"""Ranges that have names: first row, end, step, first column, end, step."""


def _options() -> tuple[Option, ...]:
    """What may follow: which pointer on BRISC and NCRISC, then two flags."""
    names = ("cb_type", "ptr_type", "endl_rows", "print_untilized")
    return tuple(Option(name=name, type="uint32_t", default="1") for name in names)


def _slice(mnemonic: str) -> KernelCall:
    return KernelCall(
        mnemonic=mnemonic,
        summary="Numbers of a tile for `DPRINT`, as far as 64 bytes or the template argument go.",
        header=_HEADER,
        operands=(*cbs("cb"), *ints("tile_idx"), *_RANGE),
        options=_options(),
        templates=(number("max_bytes", "64"),),
    )


CALLS = (
    KernelCall(
        mnemonic="SliceRange",
        summary="Rows `h0` up to `h1`, every `hs`-th, and columns likewise.",
        header=_HEADER,
        operands=ints("h0", "h1", "hs", "w0", "w1", "ws"),
        result=("slice_range", ValueKind.SLICE_RANGE),
        form=Form.AGGREGATE,
    ),
    *(
        KernelCall(
            mnemonic=f"SliceRange_{name}",
            summary=f"`SliceRange::{name}()`: {', '.join(map(str, numbers))}.",
            header=_HEADER,
            result=("slice_range", ValueKind.SLICE_RANGE),
        )
        for name, numbers in RANGES.items()
    ),
    _slice("TileSlice"),
    _slice("TSLICE"),
)
"""The calls, in the order of the documentation."""
