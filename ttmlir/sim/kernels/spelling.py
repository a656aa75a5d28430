"""Names that a misspelled one may stand for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import lru_cache

from ttmlir.sim.kernels.enumerators import strip_namespaces

_ALIKE = 0.75
"""Least share of letters that the names have in common."""

_NEXT = 0.1
"""How much less than the nearest name another one may have in common."""


def list_alike(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The names that are most like one, the nearest first; none where none is alike."""
    return list(_list_alike(strip_namespaces(name), frozenset(known), most))


@lru_cache(maxsize=1024)
def _list_alike(name: str, known: frozenset[str], most: int) -> tuple[str, ...]:
    near = difflib.get_close_matches(name, sorted(known), most, _ALIKE)
    shares = [difflib.SequenceMatcher(a=each, b=name).ratio() for each in near]
    pairs = zip(near, shares, strict=True)
    return tuple(each for each, share in pairs if share >= shares[0] - _NEXT)
