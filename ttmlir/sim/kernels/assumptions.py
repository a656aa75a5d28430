"""Compile-time arguments that nobody gave, for kernels that are compiled without a host program."""

from __future__ import annotations

from ttmlir.sim.machine.address_generators import AccessorArgs

ASSUMED_ARGUMENT = 1
"""What a compile-time argument is taken as: a count, a size or a circular buffer that may be."""


class AssumedArguments:
    """What a kernel asked for beyond the compile-time arguments that it has.

    Numbers are `ASSUMED_ARGUMENT`; layouts of tensors are interleaved in DRAM, which takes one
    argument.
    """

    def __init__(self) -> None:
        """Nothing was asked for yet."""
        self.positions = set[int]()
        self.names = set[str]()

    def take_number(self, position: int) -> int:
        """The value of an argument in a position."""
        self.positions.add(position)
        return ASSUMED_ARGUMENT

    def take_named_number(self, name: str) -> int:
        """The value of an argument of a name."""
        self.names.add(name)
        return ASSUMED_ARGUMENT

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
        verb, what = ("are", "arguments") if many else ("is", "argument")
        return (
            f"compile-time {what} {', '.join(listed)} {verb} not given and taken as "
            f"{ASSUMED_ARGUMENT}, layouts of tensors as interleaved in DRAM"
        )


def _list_ranges(numbers: list[int]) -> list[str]:
    """Rising numbers, those that follow each other as `first to last`."""
    ranges = list[tuple[int, int]]()
    for each in numbers:
        if ranges and ranges[-1][1] == each - 1:
            ranges[-1] = (ranges[-1][0], each)
        else:
            ranges.append((each, each))
    return [str(first) if first == last else f"{first} to {last}" for first, last in ranges]
