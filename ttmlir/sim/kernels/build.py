"""What the build of a kernel knows of its circular buffers, its settings and its board.

tt-metal generates headers and flags with these for every kernel (jit_build, genfiles.cpp).
"""

from __future__ import annotations

from dataclasses import dataclass

from ttmlir.sim.machine.address_generators import AccessorArgs

# --- Assumptions ----------------------------------------------------------------------------------
# Compile-time arguments that nobody gave, for kernels that are compiled without a host program.

ASSUMED_ARGUMENTS = (1, 2, 4, 32)
"""What compile-time arguments are taken as: a count, a size or a circular buffer that may be. Where
the first makes a kernel wrong, as one half of it is no size, the others may do."""


_NOTE = "compile-time argument"
_BUFFERS = 32
"""Circular buffers of a core."""


class AssumedArguments:
    """What a kernel asked for beyond the compile-time arguments that it has.

    All numbers are the same; layouts of tensors are interleaved in DRAM, which takes one
    argument.
    """

    def __init__(self, number: int = ASSUMED_ARGUMENTS[0]) -> None:
        """Nothing was asked for yet; arguments are `number`."""
        self.number = number
        self.positions = set[int]()
        self.names = set[str]()
        self._buffers = dict[str, int]()

    def take_number(self, position: int) -> int:
        """The value of an argument in a position."""
        self.positions.add(position)
        return self.number

    def take_named_number(self, name: str) -> int:
        """The value of an argument of a name."""
        self.names.add(name)
        return self.number

    def take_circular_buffer(self, name: str) -> int:
        """The number of a circular buffer that has a name: each name is another one."""
        self.names.add(name)
        return self._buffers.setdefault(name, len(self._buffers) % _BUFFERS)

    def take_layout(self, position: int, common: int) -> AccessorArgs:
        """The layout of a tensor from a position on; `common` is that of run-time arguments."""
        self.positions.add(position)
        return AccessorArgs(
            is_sharded=False, is_dram=True, start=position, end=position + 1, common_end=common
        )

    def describe(self) -> str:
        """What was assumed, as a note of a message; empty if nothing was."""
        listed = [
            *_list_ranges(sorted(self.positions)),
            *(f"'{each}'" for each in sorted(self.names)),
        ]
        if not listed:
            return ""
        many = len(self.positions) + len(self.names) > 1
        verb, plural = ("are", "s") if many else ("is", "")
        return (
            f"{_NOTE}{plural} {', '.join(listed)} {verb} not given and taken as "
            f"{self.number}, layouts of tensors as interleaved in DRAM"
        )


def is_note_of_assumed(note: str) -> bool:
    """Whether a note of a message says that arguments were assumed."""
    return note.startswith(_NOTE)


def _list_ranges(numbers: list[int]) -> list[str]:
    """Rising numbers, those that follow each other as `first to last`."""
    ranges = list[tuple[int, int]]()
    for each in numbers:
        if ranges and ranges[-1][1] == each - 1:
            ranges[-1] = (ranges[-1][0], each)
        else:
            ranges.append((each, each))
    return [str(first) if first == last else f"{first} to {last}" for first, last in ranges]


# --- Build ----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CircularBufferFacts:
    """What is generated for a circular buffer."""

    data_format: int
    """Its number in tt-metal's `DataFormat`."""
    tile_size: int
    """Bytes of a tile."""
    tile_volume: int = 1024
    """Numbers of a tile."""


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
class ScratchpadNames:
    """Where a kernel finds the memory of a name."""

    address: int
    """The common run-time argument with its address."""
    size: int
    """In bytes."""


@dataclass(frozen=True, kw_only=True)
class BindingNames:
    """Names that a host program declares: `args::n`, `dfb::in`, `sem::ready`, `tensor::source`.

    tt-metal generates headers with them (kernel_args_generated.h, kernel_bindings_generated.h).
    """

    arguments: tuple[str, ...] = ()
    """Run-time arguments, the first ones; those after them have numbers."""
    common_arguments: tuple[str, ...] = ()
    """Common run-time arguments, the first ones."""
    constants: tuple[tuple[str, int], ...] = ()
    """Compile-time arguments with their values."""
    circular_buffers: tuple[tuple[str, int], ...] = ()
    semaphores: tuple[tuple[str, int], ...] = ()
    tensors: tuple[tuple[str, TensorNames], ...] = ()
    tensor_lists: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Several tensors under one name: `std::get<0>(tensor::inputs)`."""
    scratchpads: tuple[tuple[str, ScratchpadNames], ...] = ()
    """`scratch::name`."""

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
