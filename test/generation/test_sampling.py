"""Choosing tokens: chances as in transformers, seeds, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import ttmlir
from ttmlir.generation.sampling import Sampling, find_chances, penalize

SCORES = np.array(
    [
        [-0.15, 0.72, -1.56, 0.14, 1.33, -0.57, -0.33, 0.11, 0.81, 1.22, 1.52],
        [-0.07, -0.69, 0.99, 4.87, -0.29, 0.97, 0.41, 0.68, 2.71, 0.75, 0.03],
    ],
    np.float32,
)
TOKENS = [[1, 4, 4, 7], [0, 9, 2, 3]]


# What the logits processors of transformers 5.23 make of these scores, after softmax.
@pytest.mark.parametrize(
    ("choices", "wanted"),
    [
        (
            {"temperature": 0.7},
            [
                "0.02561 0.08873 0.00342 0.03875 0.2121 0.01405 0.0198 0.03712 0.10091 0.18126 "
                "0.27825",
                "0.00081 0.00033 0.00368 0.9405 0.00059 0.00358 0.00161 0.00236 0.04298 0.00261 "
                "0.00093",
            ],
        ),
        (
            {"temperature": 1.0, "top_k": 3},
            ["0 0 0 0 0.32205 0 0 0 0 0.28851 0.38944", "0 0 0.01818 0.8803 0 0 0 0 0.10152 0 0"],
        ),
        (
            {"temperature": 1.3, "top_p": 0.6},
            ["0 0 0 0 0.26691 0 0 0 0.17892 0.24526 0.30892", "0 0 0 1 0 0 0 0 0 0 0"],
        ),
        (
            {"temperature": 0.9, "top_k": 5, "top_p": 0.8, "repetition_penalty": 1.4},
            ["0 0 0 0 0.19648 0 0 0 0.16817 0.26522 0.37014", "0 0 0 0.7014 0 0 0 0 0.2986 0 0"],
        ),
        ({"temperature": 2.0, "top_p": 0.05}, ["0 0 0 0 0 0 0 0 0 0 1", "0 0 0 1 0 0 0 0 0 0 0"]),
    ],
)
def test_chances_are_those_of_transformers(choices: dict[str, Any], wanted: list[str]) -> None:
    """Penalty, temperature, `top_k`, `top_p`, in this order."""
    sampling = Sampling(**choices)
    for scores, tokens, row in zip(SCORES, TOKENS, wanted, strict=True):
        changed = penalize(scores, tokens, sampling.repetition_penalty)
        np.testing.assert_allclose(
            find_chances(changed, sampling), np.array(row.split(), float), atol=1e-5
        )


def test_draws_follow_chances_and_seed() -> None:
    """Equal seeds draw equal tokens; 4,000 draws have the chances of the scores."""
    scores = np.log(np.array([0.5, 0.0625, 0.4375], np.float32))

    def draw(seed: int, place: int) -> list[int]:
        sampler = Sampling(temperature=1.0, seed=seed).sampler(place)
        return [sampler.choose(scores, []) for _ in range(4000)]

    drawn = draw(7, 0)
    assert drawn == draw(7, 0)
    assert drawn != draw(8, 0)
    assert drawn != draw(7, 1)
    counts = np.bincount(drawn, minlength=3) / len(drawn)
    np.testing.assert_allclose(counts, [0.5, 0.0625, 0.4375], atol=0.03)


def test_scores_that_are_no_numbers() -> None:
    """NaN is no highest score."""
    scores = np.array([0, np.nan, 1], np.float32)
    with pytest.raises(
        ttmlir.ExecutionError, match=r"scores of the next token are no numbers \(NaN\)"
    ):
        Sampling().sampler(0).choose(scores, [])


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"temperature": -1}, "temperature is from 0 to 10000, not -1"),
        ({"temperature": float("nan")}, "temperature is from 0 to 10000, not nan"),
        ({"temperature": "warm"}, "temperature is a number, not 'warm'"),
        ({"temperature": 1, "top_k": 0}, "top_k is from 1 to"),
        ({"temperature": 1, "top_k": 2.5}, "top_k is a whole number, not 2.5"),
        ({"temperature": 1, "top_p": 0}, "top_p is more than 0 and at most 1, not 0"),
        ({"temperature": 1, "top_p": 1.5}, "top_p is from 0 to 1, not 1.5"),
        ({"top_p": 0.5}, "top_k and top_p say what to draw among, and temperature=0 draws nothing"),
        ({"repetition_penalty": 0}, "repetition_penalty is from 0.0001 to 10000, not 0"),
        ({"seed": -1}, "seed is from 0 to"),
    ],
)
def test_numbers_that_do_not_fit(choices: dict[str, Any], message: str) -> None:
    """Each is named with what it may be."""
    with pytest.raises(ttmlir.InputError, match=re.escape(message)):
        Sampling(**choices)
