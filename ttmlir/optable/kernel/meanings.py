"""Functions of tiles that several calls have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.optable import elementwise

Meaning = Callable[..., Any]
"""What `KernelCall.meaning` is."""

_REFERENCES = {row.mnemonic: row.reference for row in elementwise.ROWS}


def unchanged(xp: Any, tile: Any) -> Any:
    """The tile itself."""
    return tile


def meaning_of(mnemonic: str) -> Meaning:
    """The reference function of an elementwise operation of ttir."""
    return _REFERENCES[mnemonic]


def function(name: str) -> Meaning:
    """A function of NumPy, of as many tiles as it takes."""

    def meaning(xp: Any, *tiles: Any) -> Any:
        return getattr(xp, name)(*tiles)

    return meaning


def function_with_number(name: str) -> Meaning:
    """A function of NumPy, of a tile and a number."""

    def meaning(xp: Any, x: Any, *, value: Any) -> Any:
        return getattr(xp, name)(x, value)

    return meaning
