"""What a generator is expected to do on a card: time to the first token, tokens per second, memory.

Times are those of the programs on the device (`docs/cost.md`); tokens and scores, which the host
gives and takes, are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ttmlir.cost.estimate import Estimate, Rate
from ttmlir.cost.workload import Interval
from ttmlir.errors import plural
from ttmlir.frontend.compiled import CompiledPrograms
from ttmlir.frontend.summary import align
from ttmlir.generation.stepping import CacheSize, Step
from ttmlir.machine.boards import BOARDS
from ttmlir.terminal import ShownAsText

CARDS = tuple(board.name for board in BOARDS if board.mesh == (1, 1))
"""Boards with one chip, which is what a generator computes on."""


@dataclass(frozen=True)
class ExpectedSpeed:
    """A number of prompts on a board."""

    board: str
    prompts: int
    first: dict[int, Interval]
    """Nanoseconds to the first token, by the length of the prompts: one of those of programs."""
    token: Interval
    """Nanoseconds of a further token of all prompts."""
    memory: int
    """Bytes of DRAM at the peak, weights and caches included."""
    share: float
    """Of the fullest channel of DRAM, from 0 to 1."""

    @property
    def rate(self) -> Rate:
        """Tokens per second, of all prompts together."""
        return Rate("tokens", self.prompts, self.token)

    @property
    def rate_of_prompt(self) -> float:
        """Tokens per second that each prompt gets."""
        return self.rate.per_second / self.prompts


@dataclass(frozen=True)
class GenerationSummary(ShownAsText):
    """Prints as a table."""

    name: str
    parameters: int
    """Numbers that the model has learned; 0 where the framework does not say."""
    file: int
    """Bytes of the file with all programs."""
    caches: Mapping[int, CacheSize]
    """By the number of prompts."""
    speeds: tuple[ExpectedSpeed, ...]

    def __str__(self) -> str:
        """Sizes, and a row for each board and number of prompts."""
        known = f"{self.parameters:,} parameters, " if self.parameters else ""
        lines = [f"{self.name}: {known}{self.file:,} bytes in the file"]
        for prompts, size in self.caches.items():
            lines.append(
                f"caches of {plural(prompts, 'prompt')}: {size.bytes:,} bytes in "
                f"{plural(size.tensors, 'tensor')}"
            )
        lengths = list(self.speeds[0].first) if self.speeds else []
        firsts = [f"first of {length}" for length in lengths]
        heads = ("board", "prompts", *firsts, "tokens/s", "low", "high", "of each", "DRAM")
        rows: list[tuple[str, ...]] = [heads]
        for each in self.speeds:
            low, high = each.rate.bounds
            times = [f"{each.first[length].mid / 1e6:,.2f} ms" for length in lengths]
            rates = (each.rate.per_second, low, high, each.rate_of_prompt)
            numbers = [f"{rate:,.0f}" for rate in rates]
            rows.append((each.board, str(each.prompts), *times, *numbers, f"{each.share:.1%}"))
        return "\n".join([*lines, "", *align(rows)])


def summarize(
    name: str,
    programs: CompiledPrograms,
    caches: Mapping[int, CacheSize],
    lengths: Sequence[int],
    boards: Sequence[str],
) -> GenerationSummary:
    """The summary of the programs that read prompts of some lengths, on some boards."""
    first = next(iter(programs.values()))
    signature = first.binary.program(0).signature
    parameters = () if signature is None else signature.parameters
    return GenerationSummary(
        name=name,
        parameters=sum(count for _, count in parameters),
        file=len(programs.to_bytes()),
        caches=caches,
        speeds=tuple(
            _expect(programs, board, prompts, lengths) for board in boards for prompts in caches
        ),
    )


def _expect(
    programs: CompiledPrograms, board: str, prompts: int, lengths: Sequence[int]
) -> ExpectedSpeed:
    estimates = {
        length: programs[Step(prompts, length).name].estimate(board) for length in (1, *lengths)
    }
    further = estimates[1]
    memories = [use for each in estimates.values() if (use := _dram_of(each)) is not None]
    fullest = max(memories, default=(0.0, 0))
    return ExpectedSpeed(
        board=_name_board(further),
        prompts=prompts,
        first={length: estimates[length].total for length in lengths},
        token=further.total,
        memory=fullest[1],
        share=fullest[0],
    )


def _name_board(estimate: Estimate) -> str:
    """The board, and how many of its chips generate."""
    chips, used = estimate.machine.chips, math.prod(estimate.mesh)
    return estimate.board if chips == used else f"{estimate.board}, {used} of {chips} chips"


def _dram_of(estimate: Estimate) -> tuple[float, int] | None:
    if estimate.memory is None:
        return None
    return estimate.memory.dram.share, estimate.memory.dram.total_bytes
