"""Choosing tokens from the scores of a model: greedily, or by chance with a seed.

    choice = Sampling(temperature=0.8, top_p=0.9, seed=7)
    token = choice.sampler(0).choose(scores, tokens_so_far)

Scores are changed in the order of transformers: repetition penalty, temperature, `top_k`, `top_p`.
The numbers drawn for a prompt depend on the seed and its place among the prompts, not on the
others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.runtime.errors import ExecutionError
from ttmlir.runtime.tensor import Array

_SEEDS = 1 << 64


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How tokens are chosen; ArgumentError for what is no such number."""

    temperature: float = 0.0
    """What scores are divided by before a token is drawn; 0 takes the highest score."""
    top_k: int | None = None
    """Draw among so many tokens of the highest scores."""
    top_p: float | None = None
    """Draw among the fewest tokens whose probabilities add up to this."""
    repetition_penalty: float = 1.0
    """Scores of tokens that are there already are divided by this, negative ones multiplied."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Check every number."""
        _check("temperature", self.temperature, low=0, high=1e4)
        _check("repetition_penalty", self.repetition_penalty, low=1e-4, high=1e4)
        if self.top_k is not None:
            _check("top_k", self.top_k, low=1, high=2**31, whole=True)
        if self.top_p is not None:
            _check("top_p", self.top_p, low=0, high=1)
            if not self.top_p:
                raise ArgumentError("top_p is more than 0 and at most 1, not 0")
        _check("seed", self.seed, low=0, high=_SEEDS - 1, whole=True)
        if not self.temperature and (self.top_k is not None or self.top_p is not None):
            raise ArgumentError(
                "top_k and top_p say what to draw among, and temperature=0 draws nothing; give a "
                "temperature above 0, such as 1.0"
            )

    def sampler(self, place: int) -> Sampler:
        """What chooses the tokens after the prompt with this number."""
        return Sampler(self, np.random.default_rng([self.seed, place]))


def _check(name: str, value: Any, *, low: float, high: float, whole: bool = False) -> None:
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise ArgumentError(f"{name} is a {'whole ' * whole}number, not {value!r}")
    if not low <= value <= high:
        raise ArgumentError(f"{name} is from {low:g} to {high:g}, not {value!r}")


@dataclass
class Sampler:
    """Chooses the tokens after one prompt."""

    sampling: Sampling
    numbers: np.random.Generator

    def choose(self, scores: Array, tokens: Sequence[int]) -> int:
        """The next token, from the scores of all tokens, after these.

        ExecutionError for scores among which none is the highest.
        """
        if np.isnan(scores).any():
            raise ExecutionError(
                "the model's scores of the next token are no numbers (NaN); see ttmlir-bisect for "
                "where they come from"
            )
        scores = penalize(scores.astype(np.float32), tokens, self.sampling.repetition_penalty)
        if not self.sampling.temperature:
            return int(scores.argmax())
        chances = find_chances(scores, self.sampling)
        # The last of the sums may be less than 1.
        drawn = self.numbers.random() * chances.sum()
        found = int((chances.cumsum() <= drawn).sum())
        return min(found, _last(chances))


def _last(chances: Array) -> int:
    """The last token that may be drawn."""
    return int(np.flatnonzero(chances)[-1])


def penalize(scores: Array, tokens: Sequence[int], penalty: float) -> Array:
    """Scores with those of tokens that are there already made smaller."""
    if penalty == 1:
        return scores
    places = np.unique(np.asarray(tokens, np.int64))
    seen = scores[places]
    changed = scores.copy()
    changed[places] = np.where(seen < 0, seen * penalty, seen / penalty)
    return changed


def find_chances(scores: Array, sampling: Sampling) -> Array:
    """The probability of each token, 0 for those that are not drawn among."""
    scores = scores.astype(np.float64) / sampling.temperature
    if sampling.top_k is not None and sampling.top_k < len(scores):
        least = np.partition(scores, -sampling.top_k)[-sampling.top_k]
        scores = np.where(scores < least, -math.inf, scores)
    chances = _softmax(scores)
    if sampling.top_p is not None and sampling.top_p < 1:
        order = np.argsort(chances, kind="stable")
        is_rest = chances[order].cumsum() <= 1 - sampling.top_p
        is_rest[-1] = False
        chances[order[is_rest]] = 0
        chances /= chances.sum()
    return chances


def _softmax(scores: Array) -> Array:
    raised = np.exp(scores - scores.max())
    return raised / raised.sum()
