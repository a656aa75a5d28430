"""What the build of a kernel knows of its circular buffers, its settings and its board.

tt-metal generates headers and flags with these for every kernel (jit_build, genfiles.cpp).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CircularBufferFacts:
    """What is generated for a circular buffer."""

    data_format: int
    """Its number in tt-metal's `DataFormat`."""
    tile_size: int
    """Bytes of a tile."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """Facts that a kernel may use wherever it needs a constant."""

    circular_buffers: tuple[tuple[int, CircularBufferFacts], ...] = ()
    constants: tuple[tuple[str, int], ...] = ()
    """Numbers that have names, such as `DRAM_ALIGNMENT`."""
    macros: tuple[tuple[str, str], ...] = ()
    """What stands on the command line of the compiler, such as `NOC_INDEX`."""

    def find_circular_buffer(self, index: int) -> CircularBufferFacts | None:
        """What is generated for a circular buffer; None if it is not configured."""
        return dict(self.circular_buffers).get(index)

    def find_constant(self, name: str) -> int | None:
        """The number of a name; None if the build has none."""
        return dict(self.constants).get(name)
