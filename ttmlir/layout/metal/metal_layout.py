"""Layouts of the direct-to-metal path: a tensor's shape becomes a grid and a shard of each core.

    layout = MetalLayout.of((4, 43, 7), MemorySpace.DEVICE_L1)
    layout.intervals                              # ((0, 2), (2, 3))
    layout.alignments                             # (1, 32, 32)
    layout.physical_shape()                       # (256, 32)
    layout.device_shape((2, 1), tile)             # (2, 1, 4, 1): the grid, then the shard in tiles

The dimensions of an interval are merged into one. From the last of them to the first, the product
of the extents so far is rounded up to the alignment of the dimension, so that rows of tiles do not
cross a border between matrices. What is beyond the logical shape is padding.

Source of the rules: tt-mlir, MetalLayoutAttr (late 2025).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ttmlir.layout.affine import AffineMap
from ttmlir.layout.element_type import DEFAULT_TILE_SHAPE, Element, TileFormat
from ttmlir.layout.enums import DeviceMemoryLayout, MemorySpace, OOBVal
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.grid import NO_MAPPING, shape_text

Interval = tuple[int, int]
"""Half-open range of dimensions that become one; negative numbers count from the end."""
Shape = tuple[int, ...]


def align_up(size: int, alignment: int) -> int:
    """The first multiple of `alignment` that is not below `size`."""
    return -(-size // alignment) * alignment


@dataclass(frozen=True)
class MetalLayout:
    """How a tensor is divided over cores; LayoutError if the parts do not fit together."""

    logical_shape: Shape
    alignments: Shape
    """What the products of a merge are rounded up to, one number for each logical dimension."""
    intervals: tuple[Interval, ...]
    """Which dimensions are merged; all others stay alone."""
    memory_space: MemorySpace = MemorySpace.SYSTEM
    memory_layout: DeviceMemoryLayout = DeviceMemoryLayout.SHARDED
    oob_val: OOBVal = OOBVal.UNDEF
    """What the padding holds."""
    index_map: AffineMap = NO_MAPPING
    """From the coordinates of a view to those of the buffer below it; empty for a buffer."""

    def __post_init__(self) -> None:
        """Check ranks, intervals and alignments."""
        if len(self.alignments) != self.rank:
            raise LayoutError(
                f"expected one alignment for each of {self.rank} dimensions, "
                f"got {len(self.alignments)}"
            )
        if any(alignment < 1 for alignment in self.alignments):
            raise LayoutError(f"expected positive alignments, got {shape_text(self.alignments)}")
        end = 0
        for interval, (first, last) in zip(self.intervals, self._counted_intervals, strict=True):
            if not end <= first < last <= self.rank:
                raise LayoutError(
                    f"expected ascending intervals of {self.rank} dimensions that do not overlap, "
                    f"got [{interval[0]}, {interval[1]})"
                )
            end = last
        # Where the layout is a view, its map takes a grid and a shard to those of the buffer.
        if self.index_map.num_symbols or len(self.index_map.results) % 2:
            raise LayoutError(
                "the index map of a layout gives the coordinates of a grid and a shard, "
                f"got '{self.index_map}'"
            )

    @classmethod
    def of(
        cls,
        logical_shape: Sequence[int],
        memory_space: MemorySpace,
        *,
        intervals: Sequence[Interval] | None = None,
        alignments: Sequence[int] | None = None,
        tile_shape: Shape = DEFAULT_TILE_SHAPE,
        memory_layout: DeviceMemoryLayout = DeviceMemoryLayout.SHARDED,
        oob_val: OOBVal = OOBVal.UNDEF,
    ) -> MetalLayout:
        """The layout of a tensor; by default all dimensions but the last are merged.

        Without alignments, each matrix is rounded up to whole tiles.
        """
        shape = tuple(logical_shape)
        chosen = default_intervals(len(shape)) if intervals is None else tuple(intervals)
        plain = cls(shape, (1,) * len(shape), chosen)
        aligned = plain.tile_alignments(tile_shape) if alignments is None else tuple(alignments)
        return replace(
            plain,
            alignments=aligned,
            memory_space=memory_space,
            memory_layout=memory_layout,
            oob_val=oob_val,
        )

    # --- Shapes ------------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        """Number of logical dimensions."""
        return len(self.logical_shape)

    @property
    def _counted_intervals(self) -> tuple[Interval, ...]:
        """The given intervals, counted from the front."""
        rank = self.rank
        return tuple(
            (first + rank if first < 0 else first, last + rank if last < 0 else last)
            for first, last in self.intervals
        )

    @cached_property
    def normalized_intervals(self) -> tuple[Interval, ...]:
        """All intervals in order, also those of a single dimension; none is negative."""
        found: list[Interval] = []
        position = 0
        for first, last in self._counted_intervals:
            found += [(alone, alone + 1) for alone in range(position, first)]
            found.append((first, last))
            position = last
        found += [(alone, alone + 1) for alone in range(position, self.rank)]
        return tuple(found)

    @property
    def device_rank(self) -> int:
        """Number of dimensions of the grid, and of the shard."""
        return len(self.normalized_intervals)

    def tile_alignments(self, tile_shape: Shape = DEFAULT_TILE_SHAPE) -> Shape:
        """Alignments that fill up the last two physical dimensions to whole tiles."""
        alignments = [1] * self.rank
        last_two = self.normalized_intervals[-2:]
        for (_, end), extent in zip(last_two, tile_shape[-len(last_two) :], strict=True):
            alignments[end - 1] = extent
        return tuple(alignments)

    def grid_alignments(self, target_grid: Sequence[int]) -> Shape:
        """Alignments with which large dimensions divide by a grid.

        For the last two intervals: if the merged extent, its last dimension rounded up to a tile,
        is more than a tile for each core, the first dimension is aligned to whole tiles of all
        cores; the last one is always aligned to a tile.
        """
        alignments = list(self.tile_alignments())
        last_two = self.normalized_intervals[-2:]
        count = len(last_two)
        extents, grid = DEFAULT_TILE_SHAPE[-count:], tuple(target_grid)[-count:]
        for (first, end), extent, cores in zip(last_two, extents, grid, strict=True):
            outer = math.prod(self.logical_shape[first : end - 1])
            size = outer * align_up(self.logical_shape[end - 1], extent)
            if size > cores * extent:
                alignments[first] = cores * extent
        return tuple(alignments)

    def physical_shape(self, element: Element | None = None) -> Shape:
        """The extents of the merged dimensions with the padding, in tiles if the element is one."""
        extents = tuple(self._merged(first, last) for first, last in self.normalized_intervals)
        if not isinstance(element, TileFormat):
            return extents
        if len(extents) < 2:
            raise LayoutError(
                f"a tensor of tiles has two physical dimensions or more, '{self}' has "
                f"{len(extents)}; merge fewer dimensions"
            )
        for extent, tile in zip(extents[-2:], element.shape, strict=True):
            if extent % tile:
                raise LayoutError(
                    f"physical extents {shape_text(extents)} do not divide into tiles of "
                    f"{shape_text(element.shape)}; align the last two dimensions to tiles"
                )
        return element.tiled_shape(extents)

    def _merged(self, first: int, last: int) -> int:
        size = 1
        for dimension in reversed(range(first, last)):
            size = align_up(size * self.logical_shape[dimension], self.alignments[dimension])
        return size

    def shard_shape(self, grid: Sequence[int], element: Element | None = None) -> Shape:
        """What one core of a grid holds; LayoutError if the grid does not divide the tensor."""
        physical = self.physical_shape(element)
        if len(grid) != len(physical) or any(
            cores < 1 or extent % cores for extent, cores in zip(physical, grid, strict=False)
        ):
            unit = "tiles" if isinstance(element, TileFormat) else "elements"
            raise LayoutError(
                f"a grid of {shape_text(grid)} does not divide {shape_text(physical)} {unit}"
            )
        return tuple(extent // cores for extent, cores in zip(physical, grid, strict=True))

    def device_shape(self, grid: Sequence[int], element: Element | None = None) -> Shape:
        """The shape of the tensor on a grid: the grid's extents, then the shard's."""
        return (*grid, *self.shard_shape(grid, element))

    # --- The padded buffer of the host ---------------------------------------------------------

    @cached_property
    def host_strides(self) -> Shape:
        """Distance of neighbours in each logical dimension of the padded host buffer."""
        strides = [0] * self.rank
        outer = 1
        for first, last in reversed(self.normalized_intervals):
            inner = 1
            for dimension in reversed(range(first, last)):
                strides[dimension] = outer * inner
                extent = inner * self.logical_shape[dimension]
                inner = align_up(extent, self.alignments[dimension])
            outer *= inner
        return tuple(strides)

    @property
    def host_volume(self) -> int:
        """Number of elements of the padded host buffer."""
        return math.prod(self.physical_shape())

    # --- Views ---------------------------------------------------------------------------------

    @property
    def is_view(self) -> bool:
        """True if coordinates are mapped to those of a buffer below."""
        return self.index_map != NO_MAPPING and not self.index_map.is_identity

    def with_index_map(self, index_map: AffineMap) -> MetalLayout:
        """The layout as a view; the identity makes it none."""
        return replace(self, index_map=NO_MAPPING if index_map.is_identity else index_map)

    def with_memory(
        self,
        memory_space: MemorySpace,
        memory_layout: DeviceMemoryLayout = DeviceMemoryLayout.SHARDED,
    ) -> MetalLayout:
        """The layout in another memory."""
        return replace(self, memory_space=memory_space, memory_layout=memory_layout)

    def with_alignments(self, alignments: Sequence[int]) -> MetalLayout:
        """The layout with other alignments."""
        return replace(self, alignments=tuple(alignments))

    def __str__(self) -> str:
        """The IR text between the angle brackets; defaults are left out."""
        intervals = ", ".join(f"[{first}, {last}]" for first, last in self.intervals)
        dense = f"[{intervals}]" if intervals else ""
        space, layout = self.memory_space, self.memory_layout
        return "".join(
            (
                f"logical_shape = {shape_text(self.logical_shape)}, ",
                f"dim_alignments = {shape_text(self.alignments)}, ",
                f"collapsed_intervals = dense<{dense}> : tensor<{len(self.intervals)}x2xi64>, ",
                self.oob_val.keyword,
                "" if space is MemorySpace.SYSTEM else f", {space.keyword}",
                "" if layout is DeviceMemoryLayout.SHARDED else f", {layout.keyword}",
                "" if self.index_map == NO_MAPPING else f", index_map = {self.index_map}",
            )
        )


def default_intervals(rank: int) -> tuple[Interval, ...]:
    """All dimensions but the last as one, and the last; LayoutError below rank 2."""
    if rank < 2:
        raise LayoutError(
            f"a tensor on a grid of cores has two dimensions or more, got rank {rank}; "
            "reshape it to 1xN"
        )
    return (0, rank - 1), (rank - 1, rank)
