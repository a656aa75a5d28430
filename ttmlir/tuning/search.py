"""In which order candidates are tried: greedily, from the operation that takes longest.

The search goes in rounds of several candidates, which may be tried at once. What a round tries
depends on the results of the rounds before alone, so the number of processes changes nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ttmlir.explorer.overrides import Overrides
from ttmlir.tuning.moves import Place, list_common_moves, merge

ROUND = 16
"""Candidates of a round."""
_LEAST_GAIN = 1e-6
"""Part of the time by which a candidate has to be better, so that rounding decides nothing."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What became of a candidate."""

    overrides: Overrides
    time: float | None = None
    """Nanoseconds; None if it cannot be compiled, or does not fit into memory."""
    low: float = 0.0
    high: float = 0.0
    pcc: float | None = None
    """None for candidates that were not run, as they are no faster than the best one."""
    times: Mapping[str, float] = field(default_factory=dict[str, float])
    """Nanoseconds of the operations of each name."""
    problem: str = ""


Measure = Callable[[Sequence[Overrides], float | None], Sequence[Trial]]
"""Tries candidates, and runs those that take less than the time, in nanoseconds."""


class Search:
    """A search with a budget of candidates, the one without overrides included."""

    def __init__(self, measure: Measure, budget: int, least_pcc: float, seed: int) -> None:
        """Try the program without overrides."""
        self._measure = measure
        self._left = budget
        self._least_pcc = least_pcc
        self._random = np.random.default_rng(seed)
        self._seen: set[str] = set()
        self.trials: list[Trial] = []
        [self.default] = self._try([Overrides()], None)
        self.best = self.default

    def run(self, places: Sequence[Place], formats: bool) -> None:
        """Search until the budget is used up, or nothing is left to try."""
        if self.default.time is None:
            return
        self._round(list_common_moves(places, formats))
        while self._left > 0:
            tried = len(self.trials)
            self._search_singly(places)
            self._search_pairs(places)
            if len(self.trials) == tried:
                return

    def _search_singly(self, places: Sequence[Place]) -> None:
        """Every move of every operation, those that take longest first."""
        moves = (
            {place.name: words} for place in self._longest(places) for words in (*place.words, "")
        )
        for some in self._rounds(moves):
            self._round(some)

    def _search_pairs(self, places: Sequence[Place]) -> None:
        """Two operations that follow each other, the same for both."""
        order = {place.name: number for number, place in enumerate(self._longest(places))}
        pairs = sorted(itertools.pairwise(places), key=lambda pair: order[pair[0].name])
        moves = (
            {one.name: words, other.name: _other_words(other, words)}
            for one, other in pairs
            for words in one.words
            if _other_words(other, words)
        )
        for some in self._rounds(moves):
            self._round(some)

    def _rounds(self, moves: Iterator[dict[str, str]]) -> Iterator[list[dict[str, str]]]:
        """New candidates of one round after the other, until the budget is used up."""
        while self._left > 0:
            some: list[dict[str, str]] = []
            for move in moves:
                if merge(self.best.overrides, move).options not in self._seen:
                    some.append(move)
                if len(some) == ROUND:
                    break
            if not some:
                return
            yield some

    def _round(self, moves: Sequence[dict[str, str]]) -> None:
        """Try each move alone, then the best one of each operation together."""
        start = self.best
        trials = self._try([merge(start.overrides, move) for move in moves], start.time)
        by_options = {trial.overrides.options: trial for trial in trials}
        better = [
            (trial, move)
            for move in moves
            if (trial := by_options.get(merge(start.overrides, move).options)) is not None
            and self._is_better(trial, start)
        ]
        better.sort(key=lambda each: each[0].time or 0.0)
        together: dict[str, str] = {}
        for _, move in better:
            if not together.keys() & move.keys():
                together |= move
        if len(better) > 1:
            self._try([merge(start.overrides, together)], self.best.time)

    def _try(self, candidates: Sequence[Overrides], limit: float | None) -> Sequence[Trial]:
        """The trials of new candidates, as many as the budget allows; keeps the best one."""
        new = {each.options: each for each in candidates if each.options not in self._seen}
        chosen = list(new.values())[: self._left]
        if not chosen:
            return []
        self._left -= len(chosen)
        self._seen |= {each.options for each in chosen}
        trials = self._measure(chosen, limit)
        self.trials += trials
        for trial in trials:
            if len(self.trials) > 1 and self._is_better(trial, self.best):
                self.best = trial
        return trials

    def _is_better(self, trial: Trial, other: Trial) -> bool:
        if trial.time is None or other.time is None or trial.pcc is None:
            return False
        return trial.pcc >= self._least_pcc and trial.time < other.time * (1 - _LEAST_GAIN)

    def _longest(self, places: Sequence[Place]) -> list[Place]:
        """The operations by their times in the best candidate; chance orders those of one time."""
        chance = self._random.permutation(len(places))
        times = self.best.times
        ranked = sorted(
            zip(places, chance, strict=True),
            key=lambda each: (-round(times.get(each[0].name, 0.0)), each[1]),
        )
        return [place for place, _ in ranked]


def _other_words(place: Place, words: str) -> str:
    """The same words for another operation, with a grid of its own; empty if it has none."""
    _, _, spread = words.rpartition(":")
    return next((each for each in place.words if each.rpartition(":")[2] == spread), "")
