"""Beam search: the text of the highest score among several that are written at a time.

Scores, their division by lengths and when a search ends are those of `generate(num_beams=...)` of
transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError, check_whole
from ttmlir.generation.sampling import penalize
from ttmlir.runtime.errors import ExecutionError
from ttmlir.runtime.tensor import Array

MOST_BEAMS = 1 << 10


class Beam(NamedTuple):
    """A text that may go on, or a finished one."""

    tokens: list[int]
    score: float
    """The logarithm of its probability; of a finished one, divided by a power of its length."""


@dataclass(frozen=True)
class BeamLimits:
    """How many texts are compared, and when a search ends."""

    count: int
    length_penalty: float = 1.0
    """The power of the number of new tokens that scores are divided by."""
    early_stopping: bool = False
    """Whether as many finished texts as there are beams end the search."""
    repetition_penalty: float = 1.0

    def __post_init__(self) -> None:
        """Check every number."""
        check_whole("num_beams", self.count, 1, MOST_BEAMS)
        power: Any = self.length_penalty
        if isinstance(power, bool) or not isinstance(power, (int, float, np.number)):
            raise ArgumentTypeError(f"length_penalty is a number, not {power!r}")
        if not -100 <= cast("float", power) <= 100:
            raise ArgumentError(f"length_penalty is from -100 to 100, not {power}")
        if not isinstance(cast("Any", self.early_stopping), bool):
            raise ArgumentTypeError(f"early_stopping is True or False, not {self.early_stopping!r}")


@dataclass
class BeamSearch:
    """The search after one prompt."""

    limits: BeamLimits
    prompt: list[int]
    most: int
    """Tokens that a text has at most, with those of the prompt."""
    stop_tokens: frozenset[int]
    running: list[Beam] = field(init=False)
    """Texts that go on, the most likely ones first."""
    finished: list[Beam] = field(default_factory=list[Beam])
    is_done: bool = False

    def __post_init__(self) -> None:
        """Begin with the prompt."""
        self.running = [Beam(list(self.prompt), 0.0)]

    def advance(self, scores: Sequence[Array]) -> None:
        """Go on from scores of the next token of each running text."""
        candidates = self._candidates(scores)
        length = len(self.running[0].tokens) + 1
        power = (length - len(self.prompt)) ** self.limits.length_penalty
        is_last = length == self.most
        ends = [is_last or beam.tokens[-1] in self.stop_tokens for beam in candidates]
        count = self.limits.count
        if not (self.limits.early_stopping and len(self.finished) == count):
            # Only those among the best ones are compared with finished texts.
            self.finished += [
                Beam(beam.tokens, beam.score / power)
                for beam, is_end in zip(candidates[:count], ends, strict=False)
                if is_end
            ]
            self.finished.sort(key=lambda beam: -beam.score)
            del self.finished[count:]
        going = [beam for beam, is_end in zip(candidates, ends, strict=True) if not is_end]
        self.running = going[:count]
        self.is_done = not going or (len(self.finished) == count and not self._may_improve(power))

    def _may_improve(self, power: float) -> bool:
        best = self.running[0].score / power
        return not self.limits.early_stopping and best > self.finished[-1].score

    def _candidates(self, scores: Sequence[Array]) -> list[Beam]:
        """The most likely texts with one more token, so many that enough of them go on."""
        penalty = self.limits.repetition_penalty
        rows: list[Array] = []
        for beam, row in zip(self.running, scores, strict=True):
            if np.isnan(row).any():
                raise ExecutionError("the model's scores of the next token are no numbers (NaN)")
            shifted = row.astype(np.float64) - row.max()
            likely = shifted - np.log(np.exp(shifted).sum())
            rows.append(penalize(likely, beam.tokens, penalty) + beam.score)
        flat = np.concatenate(rows)
        most = max(2, 1 + len(self.stop_tokens)) * self.limits.count
        order = np.argsort(-flat, kind="stable")[:most]
        vocabulary = len(rows[0])
        return [
            Beam([*self.running[place // vocabulary].tokens, place % vocabulary], score)
            for place, score in zip(map(int, order), map(float, flat[order]), strict=True)
        ]
