"""Which bytes go from where to where when a tensor on a chip changes its layout.

Cores copy over the network on chip, by address. A core that has part of the new tensor in its L1
reads it from where it was; if the new tensor is in DRAM, the cores that hold the old one write it.
One copy moves a run of bytes that is contiguous on both sides. The network keeps the offset of an
address within its unit (tt-metal, "Alignment of NoC transfers": 16 bytes in L1, 32 in DRAM); where
both ends differ in it, the bytes pass through scratch memory of the core that copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ttmlir.layout.device import DeviceView
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import ChipDesc, Coord
from ttmlir.layout.tensor_layout import TensorLayout, shape_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Indices = NDArray[np.int64]

_SCRATCH = 4096
"""Bytes of scratch memory beyond which copies rather wait for each other."""


@dataclass(frozen=True)
class Copy:
    """A run of bytes that a core copies; addresses are those of the memory that each side is in."""

    remote: Coord
    """Physical (y, x) of the core at the other end: the source of a read, the target of a write."""
    source: int
    target: int
    size: int

    def keeps_offset(self, unit: int) -> bool:
        """True if the network, which moves units of so many bytes, copies it in one go."""
        return (self.source - self.target) % unit == 0


@dataclass(frozen=True)
class CoreCopies:
    """What one core copies, in order."""

    core: Coord
    """Logical (y, x)."""
    copies: tuple[Copy, ...]


@dataclass(frozen=True)
class PlacedTensor:
    """A layout and the address of its buffer, the same on every core or channel."""

    layout: TensorLayout
    address: int

    @property
    def in_l1(self) -> bool:
        """True if worker cores hold the tensor."""
        return self.layout.memory_space is MemorySpace.DEVICE_L1


@dataclass(frozen=True)
class _Places:
    """Where each element is, in row-major order: position in the chip's list of cores, offset."""

    core: Indices
    offset: Indices


def plan_copies(
    shape: Sequence[int],
    source: PlacedTensor,
    target: PlacedTensor,
    device: DeviceView,
    chip: ChipDesc,
) -> list[CoreCopies]:
    """The copies that move a tensor of this shape, by the core that makes them.

    Where only the memory changes, the padding of whole units moves along: kernels that read whole
    tiles read it.
    Cores come in the order in which the tensor's elements first involve them. LayoutError if
    elements differ or if neither side is in L1.
    """
    if source.layout.element != target.layout.element:
        raise LayoutError("the network copies bytes: both layouts have the same elements")
    if not source.in_l1 and not target.in_l1:
        raise LayoutError("one of the two tensors is in L1: move it from DRAM to L1 first")
    if 0 in shape:
        return []
    for layout in (source.layout, target.layout):
        _check_room(shape, layout)
        device.check_grid(layout.grid)
    unit = network_unit(source.layout, target.layout, chip)
    is_same = source.layout.with_memory_space(target.layout.memory_space) == target.layout
    if is_same and row_bytes(source.layout) % unit == 0:
        extents, is_physical = _whole_shards(source.layout), True
    else:
        extents = _traverse(shape, source.layout, target.layout)
        is_physical = source.layout.is_tiled
    origin = _places(extents, source.layout, device, chip, is_physical=is_physical)
    end = _places(extents, target.layout, device, chip, is_physical=is_physical)
    return list(_copies(source, target, origin, end, chip))


def network_unit(source: TensorLayout, target: TensorLayout, chip: ChipDesc) -> int:
    """Bytes within which copies between two tensors keep the offset of an address."""
    return max(chip.address_alignment(layout.memory_space) for layout in (source, target))


def scratch_bytes(
    shape: Sequence[int],
    source: TensorLayout,
    target: TensorLayout,
    device: DeviceView,
    chip: ChipDesc,
) -> int:
    """Scratch memory for the copies of `plan_copies` if addresses are whole units; often none.

    LayoutError as there.
    """
    unit = network_unit(source, target, chip)
    has_whole_rows = all(row_bytes(layout) % unit == 0 for layout in (source, target))
    if source.linear == target.linear and has_whole_rows:
        return 0
    parts = plan_copies(shape, PlacedTensor(source, 0), PlacedTensor(target, 0), device, chip)
    needs = [
        [_room(copy, unit) for copy in part.copies if not copy.keeps_offset(unit)] for part in parts
    ]
    return max((min(sum(need), max(_SCRATCH, *need)) for need in needs if need), default=0)


def row_bytes(layout: TensorLayout) -> int:
    """The bytes of a row of a shard."""
    return layout.shard[-1] * layout.element.size_bytes


def batches(copies: Sequence[Copy], unit: int, room: int) -> Iterator[list[tuple[Copy, int]]]:
    """Copies that so much scratch memory holds at once, and the offset of each in it."""
    batch: list[tuple[Copy, int]] = []
    top = 0
    for copy in copies:
        if top + _room(copy, unit) > room:
            yield batch
            batch, top = [], 0
        batch.append((copy, top))
        top += _room(copy, unit)
    if batch:
        yield batch


def _room(copy: Copy, unit: int) -> int:
    """Whole units that hold the bytes of a copy at any offset."""
    return (copy.size + 2 * (unit - 1)) // unit * unit


def _whole_shards(layout: TensorLayout) -> tuple[int, ...]:
    """The extents of all shards side by side, in elements or whole tiles."""
    return tuple(
        extent * cores for extent, cores in zip(layout.shard, layout.grid.shape, strict=True)
    )


def _traverse(shape: Sequence[int], source: TensorLayout, target: TensorLayout) -> tuple[int, ...]:
    """The extents whose positions are moved one by one: elements or whole tiles."""
    if not source.is_tiled:
        return tuple(shape)
    if source.linear != target.linear:
        raise LayoutError(
            f"tiles move whole: their layouts have the same linear map, got {source.linear} and "
            f"{target.linear}; go to rows first"
        )
    return source.tiled_shape(shape)


def _places(
    extents: Sequence[int],
    layout: TensorLayout,
    device: DeviceView,
    chip: ChipDesc,
    *,
    is_physical: bool,
) -> _Places:
    """Where the elements at all positions are; physical positions have no linear map to pass."""
    import numpy as np

    placement = device.placement(layout.memory_space, chip.num_dram_channels)
    memory_map = layout.memory_map(placement)
    if not is_physical:
        memory_map = memory_map.compose(layout.linear)
    # An expression evaluates on arrays of positions as on single ones.
    position = cast("Sequence[int]", _positions(extents))
    results = [
        np.broadcast_to(np.asarray(value, np.int64), tuple(extents)).reshape(-1)
        for value in memory_map.eval(position)
    ]
    chip_index, y, x, offset = results
    if chip_index.any():
        raise LayoutError("the tensor is spread over several chips; use a device of one chip")
    if layout.memory_space is MemorySpace.DEVICE_L1:
        return _Places(y * chip.grid[1] + x, offset)
    if len(np.unique(offset * chip.num_dram_channels + x)) < len(offset):
        raise LayoutError(
            "the device's DRAM map puts several elements of the tensor at one location; "
            "keep it in L1 or use tiles"
        )
    return _Places(x, offset)


def _positions(extents: Sequence[int]) -> list[Indices]:
    """The position along each dimension, in shapes that broadcast to all positions."""
    import numpy as np

    rank = len(extents)
    return [
        np.arange(extent, dtype=np.int64).reshape([-1 if i == axis else 1 for i in range(rank)])
        for axis, extent in enumerate(extents)
    ]


def _check_room(shape: Sequence[int], layout: TensorLayout) -> None:
    """Refuse a layout whose shards do not hold the tensor."""
    physical, padded = layout.physical_shape(shape), layout.padded_shape(shape)
    if any(extent > room for extent, room in zip(physical, padded, strict=True)):
        raise LayoutError(
            f"shards of {shape_text(layout.shard)} on a grid of {shape_text(layout.grid.shape)} "
            f"do not hold {shape_text(physical)}"
        )


def _copies(
    source: PlacedTensor, target: PlacedTensor, origin: _Places, end: _Places, chip: ChipDesc
) -> Iterator[CoreCopies]:
    import numpy as np

    mine, other = (end, origin) if target.in_l1 else (origin, end)
    remote_cores = _physical_cores(source if target.in_l1 else target, chip)
    _, first, core_of = np.unique(mine.core, return_index=True, return_inverse=True)
    seen = np.argsort(np.argsort(first))[core_of.reshape(-1)]
    order = np.argsort(seen, kind="stable")
    keys = [values[order] for values in (mine.core, other.core, origin.offset, end.offset)]
    starts = _run_starts(*keys)
    sizes = np.diff(np.append(starts, len(order)))
    runs = cast("list[list[int]]", [values[starts].tolist() for values in keys])
    core, remote, source_offset, target_offset = runs

    unit = source.layout.element.size_bytes
    by_core: dict[int, list[Copy]] = {}
    for number, size in enumerate(sizes.tolist()):
        copy = Copy(
            remote=remote_cores[remote[number]],
            source=source.address + source_offset[number] * unit,
            target=target.address + target_offset[number] * unit,
            size=size * unit,
        )
        by_core.setdefault(core[number], []).append(copy)
    for number, copies in by_core.items():
        yield CoreCopies(divmod(number, chip.grid[1]), tuple(copies))


def _run_starts(core: Indices, remote: Indices, source: Indices, target: Indices) -> Indices:
    """Numbers of the elements that do not continue the run of the one before."""
    import numpy as np

    breaks = np.ones(len(core), bool)
    breaks[1:] = (np.diff(core) != 0) | (np.diff(remote) != 0)
    breaks[1:] |= (np.diff(source) != 1) | (np.diff(target) != 1)
    return np.flatnonzero(breaks)


def _physical_cores(tensor: PlacedTensor, chip: ChipDesc) -> tuple[Coord, ...]:
    return chip.physical_cores.worker if tensor.in_l1 else chip.physical_cores.dram
