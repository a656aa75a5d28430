"""What calls mean in the releases of tt-metal, and of which release a kernel is.

Headers moved, and calls changed their meaning: `power_tile(dst, 3)` cubes until 2025, and takes the
bits of a float since. Source: tt-metal of September 2024, June 2025, February 2026, and 0.81.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum


class Release(Enum):
    """A state of tt-metal; members are in the order of time."""

    LATE_2024 = "2024.10"
    MIDDLE_2025 = "2025.6"
    EARLY_2026 = "2026.2"
    LATE_2026 = "0.81"

    @property
    def rank(self) -> int:
        """The place in the order of time."""
        return list(Release).index(self)


RELEASES: Mapping[str, Release] = {each.value: each for each in Release}
"""Releases by what options call them."""

_LATE_2026 = re.compile(r"(?:^|/)api/compute/|(?:^|/)api/dataflow/(?!dataflow_api\.h)")
_MIDDLE_2025 = re.compile(r"(?:^|/)(?:compile_time_args\.h|accessor/|tensor_accessor)")
_BEFORE_LATE_2026 = re.compile(r"(?:^|/)compute_kernel_api(?:/|\.h)")
_EARLY_2026 = re.compile(r"(?:^|/)api/")
_ENTRY_BEFORE_2026 = re.compile(r"\bnamespace\s+NAMESPACE\b|\bvoid\s+MAIN\b")


def find_release(headers: Iterable[str], text: str) -> Release | None:
    """The release that a kernel is written for, by the headers that it names and by its entry.

    None where neither says it: a call has the meaning then that it has had for longest.
    """
    listed = tuple(headers)

    def name(pattern: re.Pattern[str]) -> bool:
        return any(map(pattern.search, listed))

    if _ENTRY_BEFORE_2026.search(text):
        return Release.MIDDLE_2025 if name(_MIDDLE_2025) else Release.LATE_2024
    if name(_LATE_2026):
        return Release.LATE_2026
    if name(_EARLY_2026):
        return Release.EARLY_2026
    if name(_BEFORE_LATE_2026):
        # Kernels of compute had another entry before.
        return Release.EARLY_2026
    return None


SINCE = "_since_2026"
"""How the table calls the younger meaning of a name."""

_CHANGED: Mapping[str, Release] = {
    "power_tile": Release.EARLY_2026,
    "exp_tile": Release.LATE_2026,
}
"""Calls with another meaning since a release."""


def name_in_release(name: str, release: Release | None) -> str:
    """The name in the table of what a call means in a release."""
    changed = _CHANGED.get(name)
    if changed is None or release is None or release.rank < changed.rank:
        return name
    return f"{name}{SINCE}"


DEFAULTS_OF_2024: Mapping[str, tuple[int, ...]] = {
    "mm_init": (0, 1, 16),
    "mm_init_short": (0, 1),
    "mm_block_init": (0, 1, 16),
    "mm_block_init_short": (0, 1),
    "binary_op_init_common": (0, 1, 16),
    "unary_op_init_common": (0, 16),
    "init_sfpu": (0, 16),
    "copy_tile_to_dst_init_short": (0,),
    "copy_tile_init": (0,),
    "add_bcast_cols_init_short": (0, 1),
    "add_bcast_rows_init_short": (0, 1),
    "sub_bcast_cols_init_short": (0, 1),
    "mul_bcast_cols_init_short": (0, 1),
    "mul_bcast_rows_init_short": (0, 1),
    "mul_tiles_bcast_scalar_init_short": (0, 1),
    "init_bcast": (0, 1, 16),
    "transpose_wh_init": (0, 16),
    "untilize_init": (0, 16),
    "reduce_init": (0, 1, 16),
}
"""The circular buffers that calls of 2024 take where they are given fewer of them."""


def add_defaults(name: str, count: int, release: Release | None) -> tuple[int, ...]:
    """What a call of `count` arguments lacks and its release has defaults for."""
    defaults = DEFAULTS_OF_2024.get(name, ())
    is_old = release is not None and release.rank <= Release.MIDDLE_2025.rank
    return defaults[count:] if is_old else ()
