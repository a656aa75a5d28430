"""Moves of elements as a map: which element of a buffer each element of a tensor is.

    view = IndexView.identity((512, 768))
    heads = view.reshape((512, 12, 64)).permute((1, 0, 2))     # 12x512x64
    heads.tile_map((512, 768))                     # whole tiles: (0, d1, d0 * 2 + d2), in tiles

A coordinate of the view is a number of mixed radix. Each of its digits steps through one axis of
the buffer, or through none: then it repeats. Slices, permutations, repetitions and most reshapes
of such a view are views again; what is not is None, and needs a copy first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ttmlir.layout.affine import AffineExpr, AffineMap, ConstantExpr, DimExpr
from ttmlir.layout.element_type import DEFAULT_TILE_SHAPE

TILE = DEFAULT_TILE_SHAPE[0]
"""Rows of a tile, and columns."""
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Digit:
    """A part of a coordinate: `extent` steps through an axis of the buffer; step 0 repeats."""

    extent: int
    axis: int
    step: int

    def split(self, inner: int) -> tuple[Digit, Digit]:
        """Two digits instead of one, the second with `inner` steps, which divides the extent."""
        outer = replace(self, extent=self.extent // inner, step=self.step * inner)
        return outer, replace(self, extent=inner)


def _merge(digits: Sequence[Digit]) -> tuple[Digit, ...]:
    """The digits with neighbours as one that go on where the other ends; none of extent 1."""
    merged: list[Digit] = []
    for digit in digits:
        if digit.extent == 1:
            continue
        outer = merged[-1] if merged else None
        if outer and outer.axis == digit.axis and outer.step == digit.step * digit.extent:
            merged[-1] = replace(digit, extent=outer.extent * digit.extent)
        else:
            merged.append(digit)
    return tuple(merged)


_REPEATS = 0
"""The axis that a digit names which steps through none."""


@dataclass(frozen=True)
class TileMap:
    """Whole tiles of a buffer as tiles of a view."""

    places: tuple[AffineExpr, ...]
    """The tile of the buffer, by the coordinates of the tile in the view."""
    transposes: bool
    """True if rows and columns within each tile change places."""


@dataclass(frozen=True)
class IndexView:
    """A tensor whose elements are those of a buffer, in another order, a part or repeated."""

    offsets: Shape
    """Where the element at the origin lies in the buffer."""
    shape: Shape
    digits: tuple[tuple[Digit, ...], ...]
    """Of each dimension, the outermost first."""

    @classmethod
    def identity(cls, shape: Sequence[int]) -> IndexView:
        """All elements of a buffer, in order."""
        digits = tuple(_merge([Digit(extent, axis, 1)]) for axis, extent in enumerate(shape))
        return cls((0,) * len(shape), tuple(shape), digits)

    @cached_property
    def is_identity(self) -> bool:
        """True if coordinates are those of the buffer, which may be larger."""
        return self == IndexView.identity(self.shape)

    # --- Moves -------------------------------------------------------------------------------

    def permute(self, order: Sequence[int]) -> IndexView:
        """Dimension i of the result is dimension `order[i]`."""
        shape = tuple(self.shape[dim] for dim in order)
        return replace(self, shape=shape, digits=tuple(self.digits[dim] for dim in order))

    def reshape(self, shape: Sequence[int]) -> IndexView | None:
        """The elements in row-major order under another shape; None where digits do not divide."""
        rest = list(_merge([digit for digits in self.digits for digit in digits]))
        grouped: list[tuple[Digit, ...]] = []
        for extent in reversed(shape):
            taken: list[Digit] = []
            while extent > 1:
                digit = rest.pop()
                if digit.extent > extent and not digit.extent % extent:
                    outer, digit = digit.split(extent)
                    rest.append(outer)
                if extent % digit.extent:
                    return None
                extent //= digit.extent
                taken.insert(0, digit)
            grouped.insert(0, _merge(taken))
        return replace(self, shape=tuple(shape), digits=tuple(grouped))

    def slice(self, dim: int, begin: int, count: int, step: int = 1) -> IndexView | None:
        """`count` elements of a dimension; None where they do not go by whole digits."""
        digits = self.digits[dim]
        offsets = list(self.offsets)
        kept: list[Digit] = []
        step = step if count > 1 else 1
        for number, digit in enumerate(digits):
            inner = math.prod(each.extent for each in digits[number + 1 :])
            first = begin // inner
            if (begin + (count - 1) * step) // inner == first:
                # All of them are within one step of this digit.
                offsets[digit.axis] += first * digit.step
                begin -= first * inner
                continue
            if inner == 1:
                offsets[digit.axis] += begin * digit.step
                kept.append(Digit(count, digit.axis, digit.step * step))
                break
            if step > 1 or begin % inner or count % inner:
                return None
            offsets[digit.axis] += first * digit.step
            kept += [replace(digit, extent=count // inner), *digits[number + 1 :]]
            break
        changed = list(self.digits)
        changed[dim] = _merge(kept)
        shape = (*self.shape[:dim], count, *self.shape[dim + 1 :])
        return IndexView(tuple(offsets), shape, tuple(changed))

    def widen(self, dim: int, extent: int) -> IndexView | None:
        """A dimension with elements behind its end; None unless it has one digit."""
        digits = self.digits[dim]
        if len(digits) != 1:
            return None
        changed = list(self.digits)
        changed[dim] = (replace(digits[0], extent=extent),)
        shape = (*self.shape[:dim], extent, *self.shape[dim + 1 :])
        return replace(self, shape=shape, digits=tuple(changed))

    def reverse(self, dim: int) -> IndexView:
        """A dimension in the opposite order."""
        offsets = list(self.offsets)
        for digit in self.digits[dim]:
            offsets[digit.axis] += (digit.extent - 1) * digit.step
        changed = list(self.digits)
        changed[dim] = tuple(replace(digit, step=-digit.step) for digit in changed[dim])
        return replace(self, offsets=tuple(offsets), digits=tuple(changed))

    def repeat(self, dim: int, count: int) -> IndexView:
        """A dimension `count` times, one after another."""
        changed = list(self.digits)
        changed[dim] = _merge([Digit(count, _REPEATS, 0), *changed[dim]])
        shape = (*self.shape[:dim], self.shape[dim] * count, *self.shape[dim + 1 :])
        return replace(self, shape=shape, digits=tuple(changed))

    def narrow(self) -> IndexView:
        """The view with extent 1 where a dimension does nothing but repeat one element."""
        digits = tuple(
            () if all(digit.step == 0 for digit in each) else each for each in self.digits
        )
        shape = tuple(
            extent if each else 1 for extent, each in zip(self.shape, digits, strict=True)
        )
        return replace(self, shape=shape, digits=digits)

    # --- Maps --------------------------------------------------------------------------------

    def element_map(self) -> AffineMap:
        """From coordinates of elements to those in the buffer."""
        places: list[AffineExpr] = [ConstantExpr(offset) for offset in self.offsets]
        for dim, digits in enumerate(self.digits):
            extents = [digit.extent for digit in digits]
            for digit, index in zip(digits, _indices(dim, extents), strict=True):
                places[digit.axis] = places[digit.axis] + index * digit.step
        return AffineMap(len(self.shape), 0, tuple(places))

    def tile_map(self, buffer: Sequence[int]) -> TileMap | None:
        """From coordinates of tiles to those in a buffer of a shape.

        None if parts of tiles move, or for elements beyond the tiles of the buffer.
        """
        if not self._stays_within(buffer):
            return None
        for transposes in (False, True):
            places = self._tile_places(transposes)
            if places is not None:
                return TileMap(places, transposes)
        return None

    def _stays_within(self, buffer: Sequence[int]) -> bool:
        """True if all elements are in tiles of a buffer."""
        digits = [digit for each in self.digits for digit in each]
        for axis, (offset, extent) in enumerate(zip(self.offsets, buffer, strict=True)):
            reach = [(d.extent - 1) * d.step for d in digits if d.axis == axis]
            first = offset + sum(min(each, 0) for each in reach)
            last = offset + sum(max(each, 0) for each in reach)
            unit = TILE if axis >= len(buffer) - 2 else 1
            if first < 0 or last >= -(-extent // unit) * unit:
                return False
        return True

    def _tile_places(self, transposes: bool) -> tuple[AffineExpr, ...] | None:
        inner_axes = (len(self.offsets) - 2, len(self.offsets) - 1)
        unit = [TILE if axis in inner_axes else 1 for axis in range(len(self.offsets))]
        if any(offset % by for offset, by in zip(self.offsets, unit, strict=True)):
            return None
        places: list[AffineExpr] = [
            ConstantExpr(offset // by) for offset, by in zip(self.offsets, unit, strict=True)
        ]
        rank = len(self.shape)
        wanted = dict(
            zip((rank - 2, rank - 1), inner_axes[:: -1 if transposes else 1], strict=True)
        )
        for dim, digits in enumerate(self.digits):
            extents = [digit.extent for digit in digits]
            steps = [digit.step for digit in digits]
            if dim in wanted and digits:
                if (digits[-1].axis, steps[-1]) != (wanted[dim], 1):
                    return None
                if len(digits) > 1 and extents[-1] % TILE:
                    return None
                extents[-1] = -(-extents[-1] // TILE)
                steps[-1] = TILE
            if any(step % unit[digit.axis] for digit, step in zip(digits, steps, strict=True)):
                return None
            for digit, step, index in zip(digits, steps, _indices(dim, extents), strict=True):
                places[digit.axis] = places[digit.axis] + index * (step // unit[digit.axis])
        return tuple(places)


def _indices(dim: int, extents: Sequence[int]) -> list[AffineExpr]:
    """The digits of a coordinate."""
    indices: list[AffineExpr] = []
    for number, extent in enumerate(extents):
        index = DimExpr(dim) // math.prod(extents[number + 1 :])
        indices.append(index % extent if number else index)
    return indices
