"""A device: one or more chips seen as a single grid of cores, and where tensors lie in them.

A mesh of chips, 1x2 for example, makes one grid of cores by putting the chips' grids side by side
in the directions of the mesh. The device has three maps from that grid:

- of the worker grid, to (chip index, core y, core x);
- of L1, from an element's position to (chip index, core y, core x, offset within the shard);
- of DRAM, to (chip index, 0, channel, offset within the channel).

The symbols of the last two are the extents of the shard. Following tt-mlir's DeviceAttr
(docs/src/specs/device.md and lib/Dialect/TT/IR/TTOpsTypes.cpp), with two differences on meshes:
a core's position within its chip is the remainder by the chip's extent, as the specification
says, and DRAM positions choose their chip by shard, as L1 positions do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.layout.affine import AffineExpr, AffineMap, constant, dims, symbols
from ttmlir.layout.enums import MemorySpace, Topology
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import SystemDesc, larger_boards
from ttmlir.layout.tensor_layout import Grid, TensorLayout, shape_text

DRAM_PAGE_SIZE = 8192
"""Elements that go to one DRAM channel before the next one's turn."""

PHYSICAL_GRID_RESULTS = 3
MEMORY_MAP_RESULTS = 4
DEFAULT_DRAM_CHANNELS = 12
"""Of a Wormhole chip."""


@dataclass(frozen=True)
class DeviceView:
    """A view of chips of a system; LayoutError if its parts do not fit together."""

    worker_grid: Grid
    l1_map: AffineMap
    dram_map: AffineMap
    mesh_shape: tuple[int, ...]
    chip_ids: tuple[int, ...]
    dram_grid: tuple[int, ...] | None = None
    """Banks of DRAM; said since 2026 only."""
    topology: tuple[Topology, ...] = ()
    """How the chips are linked in each dimension of the mesh, where that is said."""

    def __post_init__(self):
        """Check the number of chips and the results of the maps."""
        if not self.chip_ids:
            raise LayoutError("expected at least one chip")
        if len(self.chip_ids) != math.prod(self.mesh_shape):
            raise LayoutError("expected chipIds size to match the volume of meshShape")
        if any(extent <= 0 for extent in self.worker_grid.shape):
            kind = "" if self.dram_grid is None else "worker "
            raise LayoutError(f"expected positive {kind}grid dimensions")
        if self.dram_grid is not None:
            if len(self.dram_grid) != 2:
                raise LayoutError(f"expected 2D dram grid, got {len(self.dram_grid)}D")
            if min(self.dram_grid) <= 0:
                raise LayoutError("expected positive dram grid dimensions")
        if self.topology and len(self.topology) != len(self.mesh_shape):
            raise LayoutError("expected meshTopology size to match meshShape rank")
        _check_physical(self.worker_grid)
        for name, memory_map in (("l1Map", self.l1_map), ("dramMap", self.dram_map)):
            if len(memory_map.results) != MEMORY_MAP_RESULTS:
                raise LayoutError(f"expected {name} to have MemoryMapResultIdx::NumIndices results")

    @classmethod
    def on_grid(
        cls,
        worker_grid: Grid,
        mesh_shape: Sequence[int],
        chip_ids: Sequence[int],
        dram_channels: int = DEFAULT_DRAM_CHANNELS,
    ) -> DeviceView:
        """The device with this grid of cores and the maps to memory that follow from it."""
        _check_physical(worker_grid)
        return cls(
            worker_grid=worker_grid,
            l1_map=_l1_map(worker_grid),
            dram_map=_dram_map(worker_grid, dram_channels),
            mesh_shape=tuple(mesh_shape),
            chip_ids=tuple(chip_ids),
        )

    @classmethod
    def from_system_desc(
        cls,
        system: SystemDesc,
        mesh_shape: Sequence[int] = (),
        chip_ids: Sequence[int] | None = None,
    ) -> DeviceView:
        """The device of a mesh of chips, by default the first ones of the system.

        LayoutError if the system has too few chips or the chips' DRAM differs.
        """
        mesh = tuple(mesh_shape)
        if any(extent < 1 for extent in mesh):
            raise LayoutError(f"a mesh has at least one chip in each dimension, got {mesh}")
        volume = math.prod(mesh)
        if chip_ids is None and volume > system.num_chips:
            larger = ", ".join(larger_boards(volume)) or "none"
            raise LayoutError(
                f"a mesh of {shape_text(mesh)} needs {volume} chips, the system has "
                f"{system.num_chips}; boards with as many: {larger}"
            )
        ids = tuple(range(volume)) if chip_ids is None else tuple(chip_ids)
        chips = [system.chip(chip_id) for chip_id in ids]
        if not chips:
            raise LayoutError("expected at least one chip")
        channels = {len(chip.physical_cores.dram) for chip in chips}
        if len(channels) > 1:
            raise LayoutError(
                f"the chips of a device have the same number of DRAM cores, got {sorted(channels)}"
            )
        if channels == {0}:
            raise LayoutError("expected chips with at least one DRAM core, where tensors begin")
        chip_grid = (min(chip.grid[0] for chip in chips), min(chip.grid[1] for chip in chips))
        return cls.on_grid(_worker_grid(mesh, chip_grid), mesh, ids, channels.pop())

    def memory_map(self, space: MemorySpace) -> AffineMap:
        """The map of a memory on the device; LayoutError for host memory."""
        if space is MemorySpace.DEVICE_L1:
            return self.l1_map
        if space is MemorySpace.DEVICE_DRAM:
            return self.dram_map
        raise LayoutError(
            f"a device maps tensors to l1 and dram, got the memory space '{space.keyword}'"
        )

    def placement(self, space: MemorySpace, dram_channels: int) -> AffineMap:
        """Where kernels put the elements: the map of the memory, DRAM in whole pages.

        The map of DRAM in tt-mlir counts rounds over the channels in elements, so that all rounds
        but the first overlap the one before.
        """
        memory_map = self.memory_map(space)
        if memory_map == _dram_map(self.worker_grid, dram_channels):
            return _dram_map(self.worker_grid, dram_channels, round_size=DRAM_PAGE_SIZE)
        return memory_map

    def check_grid(self, grid: Grid) -> None:
        """LayoutError if a tensor's grid has more cores in a direction than the device."""
        cores = self.worker_grid
        if grid.rank != cores.rank or any(
            wanted > there for wanted, there in zip(grid.shape, cores.shape, strict=True)
        ):
            raise LayoutError(
                f"a grid of {shape_text(grid.shape)} does not fit on the device's "
                f"{shape_text(cores.shape)} cores"
            )

    def buffer_bytes(self, layout: TensorLayout, dram_channels: int) -> int:
        """Bytes that a tensor takes on each core or in each channel, the padding included.

        In L1 it is a shard. In DRAM the shards lie one after another as if every core of the device
        had one, in pages that go round the channels; each channel gets whole pages unless there is
        only one. tt-mlir counts up to the tensor's last element instead, which is too little for
        shards that are not full and for tensors of many pages.
        """
        if layout.memory_space is not MemorySpace.DEVICE_DRAM:
            return layout.shard_bytes
        self.check_grid(layout.grid)
        last_shard = 0
        for shards, cores in zip(layout.grid.shape, self.worker_grid.shape, strict=True):
            last_shard = last_shard * cores + shards - 1
        elements = (last_shard + 1) * math.prod(layout.shard)
        if elements > DRAM_PAGE_SIZE:
            pages = -(-elements // DRAM_PAGE_SIZE)
            elements = -(-pages // dram_channels) * DRAM_PAGE_SIZE
        return elements * layout.element.size_bytes


def _check_physical(worker_grid: Grid) -> None:
    if len(worker_grid.mapping.results) != PHYSICAL_GRID_RESULTS:
        raise LayoutError(
            "expected physical grid mapping to have PhysGridResultIdx::NumIndices results"
        )


def _worker_grid(mesh: tuple[int, ...], chip_grid: tuple[int, int]) -> Grid:
    mesh = mesh + (1,) * (2 - len(mesh))
    rank = len(mesh)
    chip_shape = (1,) * (rank - 2) + chip_grid
    shape = tuple(cores * chips for cores, chips in zip(chip_shape, mesh, strict=True))
    return Grid(shape, AffineMap(rank, 0, _place(dims(rank), mesh, chip_grid)))


def _place(
    position: Sequence[AffineExpr], mesh: tuple[int, ...], chip_grid: tuple[int, int]
) -> tuple[AffineExpr, AffineExpr, AffineExpr]:
    """(chip index, core y, core x) of a position in the grid of a mesh of rank 2 or more."""
    *_, y, x = position
    chip_y, chip_x = chip_grid
    chip: AffineExpr = constant(0)
    for index in range(len(mesh) - 2):
        chip = chip + position[index] * math.prod(mesh[index + 1 :])
    if mesh[-2] > 1:
        chip = chip + (y // chip_y) * mesh[-1]
        y = y % chip_y
    if mesh[-1] > 1:
        chip = chip + x // chip_x
        x = x % chip_x
    return chip, y, x


def _shards(rank: int) -> list[AffineExpr]:
    """The shard that an element is in, for each dimension."""
    return [position // extent for position, extent in zip(dims(rank), symbols(rank), strict=True)]


def _add_offset(start: AffineExpr, rank: int) -> AffineExpr:
    """`start` plus the place of an element within its shard, added dimension by dimension."""
    extents = symbols(rank)
    for position, extent, stride in zip(dims(rank), extents, _strides(extents), strict=True):
        start = start + (position % extent) * stride
    return start


def _strides(extents: Sequence[AffineExpr]) -> list[AffineExpr]:
    """Row-major strides: the product of the extents after each dimension, the last one first."""
    strides: list[AffineExpr] = []
    stride: AffineExpr = constant(1)
    for extent in reversed(extents):
        strides.append(stride)
        stride = stride * extent
    return strides[::-1]


def _l1_map(worker_grid: Grid) -> AffineMap:
    rank = worker_grid.rank
    place = [result.rename(dims=_shards(rank)) for result in worker_grid.mapping.results]
    return AffineMap(rank, rank, (*place, _add_offset(constant(0), rank)))


def _dram_map(worker_grid: Grid, channels: int, *, round_size: int = 1) -> AffineMap:
    """The map of DRAM; elements that a round over all channels takes in each of them."""
    rank = worker_grid.rank
    shards = _shards(rank)
    shard_index: AffineExpr = constant(0)
    for position, shard in enumerate(shards):
        shard_index = shard_index + shard * math.prod(worker_grid.shape[position + 1 :])
    shard_size = _strides((constant(1), *symbols(rank)))[0]
    address = _add_offset(shard_index * shard_size, rank)
    chip = worker_grid.mapping.results[0].rename(dims=shards)
    channel = (address // DRAM_PAGE_SIZE) % channels
    rounds = address // (DRAM_PAGE_SIZE * channels)
    in_channel = rounds * round_size + address % DRAM_PAGE_SIZE
    return AffineMap(rank, rank, (chip, constant(0), channel, in_channel))
