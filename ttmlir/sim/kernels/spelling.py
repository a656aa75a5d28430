"""Names that a misspelled one may stand for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ttmlir.sim.kernels.enumerators import strip_namespaces

_ALIKE = 0.75
"""Least share of letters that the names have in common."""

_NEXT = 0.1
"""How much less than the nearest name another one may have in common."""


def list_alike(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The names that are most like one, the nearest first; none where none is alike."""
    name = strip_namespaces(name)
    near = difflib.get_close_matches(name, sorted(set(known)), most, _ALIKE)
    shares = [difflib.SequenceMatcher(a=each, b=name).ratio() for each in near]
    return [each for each, share in zip(near, shares, strict=True) if share >= shares[0] - _NEXT]
