"""How strictly, how exactly and in which order a simulated device runs."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Literal

from ttmlir.limits import DEFAULT_CYCLE_LIMIT
from ttmlir.sim.errors import LENIENCIES, PROFILES, SimError

Numerics = Literal["device", "exact"]

CARD_BITS = "TTMLIR_CARD_BITS"
"""The environment variable by which device numerics are those of a card, bit by bit."""


def asks_for_card_bits() -> bool:
    """Whether the environment does."""
    return os.environ.get(CARD_BITS) == "1"


@dataclass(frozen=True, kw_only=True)
class SimOptions:
    """Options of a device; SimError for values that make no sense."""

    numerics: Numerics = "device"
    """`device`: every rounding of the chip, bit by bit; `exact`: float32 throughout."""
    card_bits: bool = field(default_factory=asks_for_card_bits)
    """Device numerics round the terms of products of matrices, too, which takes some times as
    long."""
    sanitize: bool = True
    """Check every access of a kernel; False trades the checks for speed."""
    timed: bool = True
    """Count cycles; False leaves all clocks at 0."""
    schedule_seed: int | None = None
    """Run threads in a random order that this seed fixes; None: in the order of their clocks."""
    delay_copies: bool = False
    """Bytes of asynchronous copies move at the barrier, or at the next transaction that is ordered
    after them, not at the call: a kernel without its barrier then computes with old bytes."""
    cycle_limit: int = DEFAULT_CYCLE_LIMIT
    """Cycles that a program may take; without clocks, how often its threads may be resumed."""
    leniencies: frozenset[str] = frozenset()
    """Rules that are suppressed, by name; `tt-metal` stands for those of what runs on cards."""
    max_findings: int = 1
    """Errors of the sanitizer that are collected before the last of them stops the program."""

    tt_metal: str | None = None
    """The state of tt-metal whose meaning calls have, by its name in `RELEASES`; None: the one that
    the headers of each kernel say."""

    def __post_init__(self) -> None:
        """Refuse unknown names and limits below one."""
        if self.numerics not in ("device", "exact"):
            raise SimError(f"unknown numerics '{self.numerics}'; known are 'device' and 'exact'")
        if self.max_findings < 1:
            raise SimError(f"max_findings is {self.max_findings}; it has to be at least 1")
        if self.cycle_limit < 1:
            raise SimError(f"cycle_limit is {self.cycle_limit}; it has to be at least 1")
        if self.tt_metal is not None:
            # With the table of all kernel calls, which programs without kernels do not need.
            from ttmlir.optable.kernel.releases import RELEASES

            if self.tt_metal not in RELEASES:
                raise SimError(
                    f"unknown state of tt-metal '{self.tt_metal}'; known are {', '.join(RELEASES)}"
                )
        for name in sorted(self.leniencies - set(LENIENCIES)):
            raise SimError(
                f"there is no finding '{name}' to let pass; supported are {', '.join(LENIENCIES)}"
            )
        chosen = [rules for name, rules in PROFILES.items() if name in self.leniencies]
        object.__setattr__(self, "leniencies", self.leniencies.union(*chosen))
