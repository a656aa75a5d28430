"""Extents of meshes of devices, places in them, and rectangles of places.

Source: tt-metal, tt_metal/api/tt-metalium/mesh_coord.hpp.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import cast

from ttmlir.metalium.errors import MetaliumError


class MeshShape:
    """Extents of a mesh of devices."""

    def __init__(self, *extents: int | list[int]) -> None:
        """The extents, one by one or as a list."""
        listed = (each if isinstance(each, list) else [each] for each in extents)
        self._extents = tuple(extent for each in listed for extent in each)
        if not all(isinstance(cast("object", each), int) for each in self._extents):
            raise MetaliumError(f"the extents of a mesh are integers, not {extents}")

    def dims(self) -> int:
        """How many dimensions there are."""
        return len(self._extents)

    def mesh_size(self) -> int:
        """How many devices there are."""
        return math.prod(self._extents)

    def __getitem__(self, index: int) -> int:
        """An extent."""
        return self._extents[index]

    def __iter__(self) -> Iterator[int]:
        """The extents."""
        return iter(self._extents)

    def __len__(self) -> int:
        """How many dimensions there are."""
        return len(self._extents)

    def __eq__(self, other: object) -> bool:
        """Whether the extents are the same."""
        return isinstance(other, MeshShape) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """By the extents."""
        return hash(self._extents)

    def __repr__(self) -> str:
        """As tt-metal prints it."""
        return f"MeshShape({list(self._extents)})"


class MeshCoordinate:
    """A device of a mesh: its row and column."""

    def __init__(self, *places: int | list[int]) -> None:
        """The place along each dimension, one by one or as a list."""
        listed = (each if isinstance(each, list) else [each] for each in places)
        places = tuple(place for each in listed for place in each)
        if not places or not all(
            isinstance(cast("object", each), int) and each >= 0 for each in places
        ):
            raise MetaliumError(
                "a MeshCoordinate takes indices from 0 on, such as a row and a column, not "
                f"{places}"
            )
        self._places = places

    @staticmethod
    def zero_coordinate(dimensions: int) -> MeshCoordinate:
        """The first device of a mesh with so many dimensions."""
        return MeshCoordinate(*(0,) * dimensions)

    def dims(self) -> int:
        """How many dimensions there are."""
        return len(self._places)

    def coords(self) -> tuple[int, ...]:
        """The places."""
        return self._places

    def __getitem__(self, index: int) -> int:
        """The place along a dimension."""
        return self._places[index]

    def __iter__(self) -> Iterator[int]:
        """The places."""
        return iter(self._places)

    def __len__(self) -> int:
        """How many dimensions there are."""
        return len(self._places)

    def __eq__(self, other: object) -> bool:
        """Whether the places are the same."""
        return isinstance(other, MeshCoordinate) and self._places == other._places

    def __hash__(self) -> int:
        """By the places."""
        return hash(self._places)

    def __repr__(self) -> str:
        """As tt-metal prints it."""
        return f"MeshCoordinate({list(self._places)})"


class MeshCoordinateRange:
    """A rectangle of devices of a mesh, both corners included."""

    def __init__(
        self, start: MeshCoordinate | MeshShape, end: MeshCoordinate | None = None
    ) -> None:
        """The range between two corners, one device, or all devices of a shape."""
        match cast("object", start), cast("object", end):
            case MeshShape() as shape, None:
                first = MeshCoordinate.zero_coordinate(shape.dims())
                last = MeshCoordinate(*(extent - 1 for extent in shape))
            case MeshCoordinate() as first, None:
                last = first
            case MeshCoordinate() as first, MeshCoordinate() as last:
                pass
            case _:
                raise MetaliumError(
                    "a MeshCoordinateRange takes a MeshShape, or one or two MeshCoordinates, not "
                    f"{start!r} and {end!r}"
                )
        if first.dims() != last.dims() or any(
            low > high for low, high in zip(first.coords(), last.coords(), strict=True)
        ):
            raise MetaliumError(f"a range goes from its first to its last device: {first}, {last}")
        self._start, self._end = first, last

    def start_coord(self) -> MeshCoordinate:
        """The first corner."""
        return self._start

    def end_coord(self) -> MeshCoordinate:
        """The last corner."""
        return self._end

    def shape(self) -> MeshShape:
        """The extents."""
        pairs = zip(self._start.coords(), self._end.coords(), strict=True)
        return MeshShape(*(high - low + 1 for low, high in pairs))

    def contains(self, place: MeshCoordinate) -> bool:
        """Whether a device is in the range."""
        return place in set(self)

    def __iter__(self) -> Iterator[MeshCoordinate]:
        """The devices, row by row."""
        pairs = zip(self._start.coords(), self._end.coords(), strict=True)
        for places in itertools.product(*(range(low, high + 1) for low, high in pairs)):
            yield MeshCoordinate(*places)

    def __eq__(self, other: object) -> bool:
        """Whether the corners are the same."""
        return isinstance(other, MeshCoordinateRange) and (self._start, self._end) == (
            other._start,
            other._end,
        )

    def __hash__(self) -> int:
        """By the corners."""
        return hash((self._start, self._end))

    def __repr__(self) -> str:
        """As tt-metal prints it."""
        return f"MeshCoordinateRange(start={self._start}, end={self._end})"
