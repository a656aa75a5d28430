"""Names that a misspelled one may stand for."""

from __future__ import annotations

from collections.abc import Iterable

LIKE = 0.65
"""Least share of letters that a misspelled name and the right one have in common."""
ALMOST = 0.75
"""Least share of letters that the names of related operations have in common."""

_MOST = 3


def near_names(name: str, known: Iterable[str], similarity: float = LIKE) -> list[str]:
    """The known names of operations that are most like `name`, the nearest first.

    Only what follows the name of the dialect is compared.
    """
    # Only needed for messages.
    import difflib

    by_mnemonic: dict[str, list[str]] = {}
    for each in sorted(known):
        by_mnemonic.setdefault(_mnemonic(each), []).append(each)
    near = difflib.get_close_matches(_mnemonic(name), by_mnemonic, _MOST, similarity)
    return [each for mnemonic in near for each in by_mnemonic[mnemonic]][:_MOST]


def _mnemonic(name: str) -> str:
    return name.partition(".")[2] or name
