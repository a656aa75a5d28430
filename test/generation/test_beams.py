"""Beam search: texts as those of transformers."""

from __future__ import annotations

import numpy as np
import pytest

from ttmlir.generation.beams import BeamLimits, BeamSearch

TABLE = np.sin(np.arange(81).reshape(9, 9) ** 2 * 0.37) * 2
"""Scores of the next token, by the one before."""


# What transformers 5.23 writes after [3, 5] with this table, eight tokens at most.
@pytest.mark.parametrize(
    ("count", "length_penalty", "early", "repetition_penalty", "stops", "wanted"),
    [
        (2, 1.0, False, 1.0, [4], [0, 2, 1, 2, 1, 6, 3, 5]),
        (3, 1.0, False, 1.0, [2, 4], [0, 2]),
        (3, 0.0, True, 1.0, [2], [0, 2]),
        (4, 2.0, False, 1.0, [2, 6, 7], [4, 4, 4, 4, 4, 4, 4, 4]),
        (3, -1.0, False, 1.0, [1, 5], [5]),
        (3, 1.0, True, 1.5, [4], [0, 2, 1, 6, 4]),
        (2, 1.0, False, 1.0, [8], [0, 2, 1, 2, 1, 6, 1, 6]),
    ],
)
def test_searches_are_those_of_transformers(
    count: int,
    length_penalty: float,
    early: bool,
    repetition_penalty: float,
    stops: list[int],
    wanted: list[int],
) -> None:
    """Lengths, several stop tokens, and when a search ends."""
    limits = BeamLimits(count, length_penalty, early, repetition_penalty)
    search = BeamSearch(limits, [3, 5], 10, frozenset(stops))
    while not search.is_done:
        search.advance([TABLE[beam.tokens[-1]] for beam in search.running])
    assert search.finished[0].tokens == [3, 5, *wanted]
