"""Integers of 64 bits that fit into the 32 that kernels keep, and those that may not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from ttmlir.frontend.targets import find_cuts
from ttmlir.frontend.torch.model import import_model

FITTING: dict[str, Callable[[Any, Any], Any]] = {
    "indices": lambda t, i: (t.float().argmin(1), t.float().sort(-1)[1], t.topk(2)[1]),
    "counts": lambda t, i: ((t > 3).sum(1), (t > 3).cumsum(0), torch.arange(7) * 3),
    "quotients": lambda t, i: (t.long() // 7, t.long() % 1000 * 1000, t.long() >> 3),
    "bits": lambda t, i: (~t.long(), t.long() & 7, t.long() ^ t.long(), t.long().sign()),
    "choices": lambda t, i: torch.where(t > 0, t.long().amax(), t.long().clamp(-5, 9)).T,
    "places": lambda t, i: torch.nn.functional.embedding(i[:, None], t.float()),
    "shortened": lambda t, i: i[None].int(),
    "short": lambda t, i: t * 8,
}
CUT: dict[str, tuple[Callable[[Any, Any], Any], list[str]]] = {
    "sums": (lambda t, i: t.sum(1) - 1, ["ttir.sum", "ttir.subtract"]),
    "products": (lambda t, i: t.long() * 2, ["ttir.multiply"]),
    "beginnings": (lambda t, i: t.long().cumsum(1), ["ttir.cumsum"]),
    "negated": (lambda t, i: -t.long(), ["ttir.neg"]),
    "fractions": (lambda t, i: t.float().long(), ["ttir.typecast"]),
    "constants": (lambda t, i: (t > 3) * torch.tensor([2**31]), ["ttir.constant"]),
    "arguments": (lambda t, i: i.float(), ["argument 'i'"]),
    "compared": (lambda t, i: i[:, None] == t.T, ["argument 'i'"]),
}


def cuts_of(function: Callable[[Any, Any], Any]) -> list[str]:
    """What is found in a function of 32 and of 64 bits."""
    arguments = torch.ones(3, 5, dtype=torch.int32), torch.ones(5, dtype=torch.int64)
    return [each.name for each in find_cuts(import_model(function, arguments, {}).module)]


@pytest.mark.parametrize("name", FITTING)
def test_integers_that_fit(name: str) -> None:
    """By extents, constants, and the bits that they had before."""
    assert cuts_of(FITTING[name]) == []


@pytest.mark.parametrize("name", CUT)
def test_integers_that_may_not_fit(name: str) -> None:
    """The operation or argument that is the cause."""
    function, causes = CUT[name]
    assert cuts_of(function) == causes
