"""How axes of a mesh spread from tensor to tensor, and where operations need them.

`Spread` is the sharding of one tensor while it changes: the axes of each dimension. `spread_over`
lets the tensors of an operation have what the others have; `choose_axes` finds the axes that an
operation computes with where they differ.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ttmlir.dialects.sdy import Mesh
from ttmlir.passes.shardy.spreading.factors import Factors, Rule
from ttmlir.passes.shardy.spreading.shardings import Dimension, Sharding

Axes = tuple[str, ...]


@dataclass
class Spread:
    """The axes that each dimension of a tensor is divided over."""

    mesh: str
    axes: list[list[str]]
    is_open: list[bool]
    rest: str = ""
    barred: set[str] = field(default_factory=set[str])
    """Axes that no dimension may have."""

    @classmethod
    def of(cls, sharding: Sharding) -> Spread:
        """What a sharding says."""
        return cls(
            sharding.mesh,
            [[*each.axes] for each in sharding.dimensions],
            [each.is_open for each in sharding.dimensions],
            sharding.rest,
        )

    def copy(self) -> Spread:
        """One that changes on its own."""
        return replace(self, axes=[[*axes] for axes in self.axes], is_open=[*self.is_open])

    def sharding(self) -> Sharding:
        """As a sharding."""
        dimensions = (
            Dimension(tuple(axes), is_open)
            for axes, is_open in zip(self.axes, self.is_open, strict=True)
        )
        return Sharding(self.mesh, tuple(dimensions), self.rest)

    def has(self, axis: str) -> bool:
        """True if a dimension has an axis, or none may have it."""
        return axis in self.rest or axis in self.barred or any(axis in axes for axes in self.axes)


@dataclass(frozen=True)
class Spreader:
    """Spreads axes of a mesh over the tensors of operations."""

    mesh: Mesh
    extents: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        """Know axes as they are spelled."""
        extents = {f'"{name}"': extent for name, extent in self.mesh.items()}
        object.__setattr__(self, "extents", extents)

    def volume(self, axes: Sequence[str]) -> int:
        """How many parts axes make."""
        return math.prod(self.extents.get(axis, 1) for axis in axes)

    def axes_of_factors(self, rule: Rule, factors: Factors, spread: Spread) -> dict[int, Axes]:
        """The axes of each factor of a tensor: those of a dimension go to its factors in turn."""
        found: dict[int, Axes] = {}
        for numbers, axes in zip(factors, spread.axes, strict=True):
            left = [*axes]
            for factor in numbers:
                taken: list[str] = []
                size = rule.sizes[factor]
                while left and size % self.extents.get(left[0], size + 1) == 0 and size > 1:
                    size //= self.extents[left[0]]
                    taken.append(left.pop(0))
                found[factor] = tuple(taken)
                if size > 1:
                    break
        return found

    def spread_over(
        self, rule: Rule, tensors: Sequence[Spread], *, combined: bool, decides: bool
    ) -> set[int]:
        """Let each tensor have the axes that the others have; which of them changed.

        Axes that tensors have along different factors spread only to where it `decides`.
        """
        changed: set[int] = set()
        known = [
            self.axes_of_factors(rule, factors, spread)
            for factors, spread in zip(rule.tensors, tensors, strict=True)
        ]
        for factor in range(len(rule.sizes)):
            if factor in rule.whole or (factor in rule.combined and not combined):
                continue
            common = _common([each[factor] for each in known if factor in each])
            if not decides:
                others = {
                    axis
                    for each in known
                    for number, axes in each.items()
                    if number != factor
                    for axis in axes
                }
                common = tuple(itertools.takewhile(partial(_is_not_in, others), common))
            for number, (factors, spread) in enumerate(zip(rule.tensors, tensors, strict=True)):
                if self._extend(rule, factor, factors, spread, common):
                    known[number] = self.axes_of_factors(rule, factors, spread)
                    changed.add(number)
        return changed

    def _extend(
        self, rule: Rule, factor: int, factors: Factors, spread: Spread, wanted: Axes
    ) -> bool:
        """Add axes to the dimension of a factor as far as it may have them."""
        is_changed = False
        for place, numbers in enumerate(factors):
            if factor not in numbers or not spread.is_open[place]:
                continue
            own = self.axes_of_factors(rule, factors, spread).get(factor, ())
            if own != wanted[: len(own)]:
                continue
            before = numbers[: numbers.index(factor)]
            start = math.prod(rule.sizes[each] for each in before)
            for axis in wanted[len(own) :]:
                parts = self.volume(spread.axes[place])
                # Axes stand in order: all of what is slower is divided before.
                end = start * rule.sizes[factor]
                fits = parts >= start and end % (parts * self.extents[axis]) == 0
                if not fits or spread.has(axis):
                    break
                spread.axes[place].append(axis)
                is_changed = True
        return is_changed

    def choose_axes(
        self, rule: Rule, tensors: Sequence[Spread], order: Sequence[int]
    ) -> dict[int, Axes]:
        """The axes of each factor, those of tensors that come first in an order before others'."""
        chosen: dict[int, Axes] = {}
        for number in order:
            known = self.axes_of_factors(rule, rule.tensors[number], tensors[number])
            for factor, axes in known.items():
                own = chosen.get(factor, ())
                others = {each for f, a in chosen.items() if f != factor for each in a}
                if factor in rule.whole or own != axes[: len(own)]:
                    continue
                kept = list(own)
                for axis in axes[len(own) :]:
                    if axis in others:
                        break
                    kept.append(axis)
                chosen[factor] = tuple(kept)
        self._drop_what_stands_apart(rule, chosen)
        return chosen

    def _drop_what_stands_apart(self, rule: Rule, chosen: dict[int, Axes]) -> None:
        """Axes of a factor behind one that is not wholly divided cannot be said of a tensor."""
        is_changed = True
        while is_changed:
            is_changed = False
            for factors in rule.tensors:
                for numbers in factors:
                    is_whole = True
                    for factor in numbers:
                        if chosen.get(factor) and not is_whole:
                            chosen[factor] = ()
                            is_changed = True
                        parts = self.volume(chosen.get(factor, ()))
                        is_whole = is_whole and parts == rule.sizes[factor]

    def wanted(self, factors: Factors, chosen: dict[int, Axes], like: Spread) -> Spread:
        """The sharding of a tensor whose factors have these axes."""
        axes = [
            [axis for factor in numbers for axis in chosen.get(factor, ())] for numbers in factors
        ]
        return replace(like, axes=axes, is_open=[False] * len(axes))

    def moved(self, shape: Sequence[int], old: Spread, new: Spread) -> float:
        """About how many elements a device receives to have a tensor in another way."""
        lost = [
            axis
            for mine, yours in zip(old.axes, new.axes, strict=True)
            for place, axis in enumerate(mine)
            if yours[place : place + 1] != [axis]
        ]
        held = math.prod(shape) / self.volume([axis for axes in new.axes for axis in axes])
        return held - held / self.volume(lost)


def _is_not_in(others: set[str], axis: str) -> bool:
    return axis not in others


def _common(lists: Sequence[Axes]) -> Axes:
    """The longest list that all others agree with as far as they go."""
    longest = max(lists, key=len, default=())
    for other in lists:
        for place, (mine, yours) in enumerate(zip(longest, other, strict=False)):
            if mine != yours:
                longest = longest[:place]
                break
    return longest
