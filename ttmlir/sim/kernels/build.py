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
class TensorNames:
    """Where a kernel finds what a tensor's name stands for."""

    layout: int
    """The first compile-time argument of its layout, which holds the size of a page."""
    address: int
    """The common run-time argument with its address."""
    common_layout: int = 0
    """The first common run-time argument of its layout."""


@dataclass(frozen=True, kw_only=True)
class BindingNames:
    """Names that a host program declares: `args::n`, `dfb::in`, `sem::ready`, `tensor::source`.

    tt-metal generates headers with them (kernel_args_generated.h, kernel_bindings_generated.h).
    """

    arguments: tuple[str, ...] = ()
    """Run-time arguments, the first ones; those behind them have numbers."""
    common_arguments: tuple[str, ...] = ()
    """Common run-time arguments, the first ones."""
    constants: tuple[tuple[str, int], ...] = ()
    """Compile-time arguments with their values."""
    circular_buffers: tuple[tuple[str, int], ...] = ()
    semaphores: tuple[tuple[str, int], ...] = ()
    tensors: tuple[tuple[str, TensorNames], ...] = ()

    def find_number(self, name: str) -> int | None:
        """The number that `dfb::name` or `sem::name` stands for; None for other names."""
        kind, _, last = name.partition("::")
        known = {"dfb": self.circular_buffers, "sem": self.semaphores}.get(kind, ())
        return dict(known).get(last)


@dataclass(frozen=True, kw_only=True)
class Build:
    """Facts that a kernel may use wherever it needs a constant."""

    circular_buffers: tuple[tuple[int, CircularBufferFacts], ...] = ()
    constants: tuple[tuple[str, int], ...] = ()
    """Numbers that have names, such as `DRAM_ALIGNMENT`."""
    macros: tuple[tuple[str, str], ...] = ()
    """What stands on the command line of the compiler, such as `NOC_INDEX`."""

    names: BindingNames = BindingNames()
    """What the host program gives names."""

    def find_circular_buffer(self, index: int) -> CircularBufferFacts | None:
        """What is generated for a circular buffer; None if it is not configured."""
        return dict(self.circular_buffers).get(index)

    def find_constant(self, name: str) -> int | None:
        """The number of a name; None if the build has none."""
        return dict(self.constants).get(name)
