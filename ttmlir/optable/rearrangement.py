"""Patterns of einops: dimensions in another order, merged and divided.

plan = Rearrangement.of("b h w -> h (b w)", (3, 33, 70), {})
assert plan.order == (1, 0, 2) and plan.shape == (33, 210)
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ttmlir.errors import ArgumentError

_TOKENS = re.compile(r"[A-Za-z_]\w*|[()]|1(?!\w)|\S")

Groups = list[list[str]]
"""The axes that each dimension consists of."""


@dataclass(frozen=True)
class Rearrangement:
    """A pattern for tensors of one shape: reshape, permute, reshape."""

    axes: tuple[int, ...]
    """The extents of all axes, in the order of the operand."""
    order: tuple[int, ...]
    shape: tuple[int, ...]
    """Of the result."""

    @classmethod
    def of(cls, pattern: str, shape: Sequence[int], lengths: Mapping[str, int]) -> Rearrangement:
        """What a pattern means for a shape; ValueError if it does not fit.

        `lengths` are the extents of axes in parentheses, all but one of each pair of them.
        """
        left, arrow, right = pattern.partition("->")
        if not arrow:
            raise ArgumentError(f"the pattern '{pattern}' has no '->' between two lists of axes")
        before, after = _groups(left, pattern), _groups(right, pattern)
        extents = _extents(before, pattern, tuple(shape), lengths)
        axes = [axis for group in before for axis in group]
        named = [axis for group in after for axis in group]
        if Counter(axes) != Counter(named):
            different = sorted(set(axes) ^ set(named))
            raise ArgumentError(
                f"the pattern '{pattern}' has {', '.join(different)} on one side only; "
                "rearrange neither repeats nor reduces"
            )
        return cls(
            tuple(extents[axis] for axis in axes),
            tuple(axes.index(axis) for axis in named),
            tuple(math.prod(extents[axis] for axis in group) for group in after),
        )


def _groups(text: str, pattern: str) -> Groups:
    """The dimensions of one side; a 1 is a dimension without axes."""
    groups: Groups = []
    inside: list[str] | None = None
    for token in _TOKENS.findall(text):
        if token == "(" and inside is None:
            inside = []
        elif token == ")" and inside is not None:
            groups.append(inside)
            inside = None
        elif token == "1":
            if inside is None:
                groups.append([])
        elif token.isidentifier():
            groups.append([token]) if inside is None else inside.append(token)
        else:
            raise ArgumentError(
                f"'{token}' in the pattern '{pattern}' is neither an axis, 1 nor one of parentheses"
            )
    if inside is not None:
        raise ArgumentError(f"a parenthesis of the pattern '{pattern}' is not closed")
    axes = [axis for group in groups for axis in group]
    twice = [axis for axis, count in Counter(axes).items() if count > 1]
    if twice:
        raise ArgumentError(f"the pattern '{pattern}' has {twice[0]} twice on one side")
    return groups


def _extents(
    groups: Groups, pattern: str, shape: tuple[int, ...], lengths: Mapping[str, int]
) -> dict[str, int]:
    """The extents of all axes of an operand."""
    if len(groups) != len(shape):
        raise ArgumentError(
            f"the pattern '{pattern}' is for tensors of rank {len(groups)}, got {list(shape)}"
        )
    extents = dict(lengths)
    for group, extent in zip(groups, shape, strict=True):
        missing = [axis for axis in group if axis not in extents]
        if len(missing) > 1:
            raise ArgumentError(
                f"the extents of {' and '.join(missing)} in the pattern '{pattern}' are not known; "
                f"give all but one, such as {missing[0]}=2"
            )
        known = math.prod(extents[axis] for axis in group if axis in extents)
        if missing and known and extent % known == 0:
            extents[missing[0]] = extent // known
        elif missing or known != extent:
            raise ArgumentError(
                f"{known} is no {'divisor' if missing else 'extent'} of the dimension of {extent} "
                f"that is '{' '.join(group) or 1}' in the pattern '{pattern}'"
            )
    unknown = sorted(set(lengths) - {axis for group in groups for axis in group})
    if unknown:
        raise ArgumentError(f"{unknown[0]} is no axis on the left of the pattern '{pattern}'")
    return extents
