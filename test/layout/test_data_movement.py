"""Plans of copies over the network on chip, against plans worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ttmlir.layout.affine import parse_affine_map
from ttmlir.layout.data_format import ScalarType, TileFormat
from ttmlir.layout.data_movement import (
    Copy,
    CoreCopies,
    PlacedTensor,
    batches,
    plan_copies,
    scratch_bytes,
)
from ttmlir.layout.device import DeviceView
from ttmlir.layout.enums import DataType, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import ChipDesc, PhysicalCores, default_system_desc
from ttmlir.layout.tensor_layout import TensorLayout

F32 = ScalarType("f32")
TILE = TileFormat(32, 32, DataType.F32)
L1, DRAM = MemorySpace.DEVICE_L1, MemorySpace.DEVICE_DRAM
SYSTEM = default_system_desc()
DEVICE = DeviceView.from_system_desc(SYSTEM)


def _chip() -> ChipDesc:
    """A chip whose workers are not where their numbers say."""
    chip = SYSTEM.chip_descs[0]
    workers = tuple((y + 1, x + 20) for y, x in chip.physical_cores.worker)
    return replace(
        chip, physical_cores=PhysicalCores(worker=workers, dram=chip.physical_cores.dram)
    )


def _placed(
    shape: tuple[int, ...],
    space: MemorySpace,
    grid: tuple[int, ...],
    address: int,
    element: ScalarType | TileFormat = F32,
) -> PlacedTensor:
    return PlacedTensor(TensorLayout.of(shape, element, space, grid), address)


def _plan(shape: tuple[int, ...], source: PlacedTensor, target: PlacedTensor) -> list[CoreCopies]:
    return plan_copies(shape, source, target, DEVICE, _chip())


def test_rows_are_spread_by_reads_of_the_new_cores() -> None:
    """4x16 from one core to 2x2: each new core reads its 2 rows of 8 numbers."""
    shape = (4, 16)
    plan = _plan(shape, _placed(shape, L1, (1, 1), 1024), _placed(shape, L1, (2, 2), 2048))
    assert plan == [
        CoreCopies(
            (r, c),
            tuple(
                Copy((1, 20), 1024 + (2 * r + i) * 64 + c * 32, 2048 + i * 32, 32) for i in range(2)
            ),
        )
        for r in range(2)
        for c in range(2)
    ]


def test_contiguous_runs_are_one_copy() -> None:
    """Whole shards of one height move at once; a core reads from itself like from others."""
    shape = (8, 12)
    plan = _plan(shape, _placed(shape, L1, (2, 1), 1024), _placed(shape, L1, (1, 1), 4096))
    copies = (Copy((1, 20), 1024, 4096, 192), Copy((2, 20), 1024, 4288, 192))
    assert plan == [CoreCopies((0, 0), copies)]


def test_the_old_cores_write_to_dram() -> None:
    """The second core's shard lies behind the first one's in the first channel."""
    shape = (32, 64)
    plan = _plan(
        shape, _placed(shape, L1, (1, 2), 1024, TILE), _placed(shape, DRAM, (1, 2), 2048, TILE)
    )
    assert plan == [
        CoreCopies((0, 0), (Copy((8, 0), 1024, 2048, 4096),)),
        CoreCopies((0, 1), (Copy((8, 0), 1024, 6144, 4096),)),
    ]


def test_dram_pages_go_round_the_channels() -> None:
    """Number 8192 is the first one in the second channel."""
    shape = (3, 8192)
    plan = _plan(shape, _placed(shape, DRAM, (1, 1), 1024), _placed(shape, L1, (1, 1), 2048))
    (part,) = plan
    assert [(c.remote, c.source, c.target, c.size) for c in part.copies] == [
        ((8, 0), 1024, 2048, 32768),
        ((9, 0), 1024, 2048 + 32768, 32768),
        ((10, 0), 1024, 2048 + 65536, 32768),
    ]


def test_empty_tensors_need_no_copies() -> None:
    """Nothing moves, so no core has anything to do."""
    shape = (0, 8)
    assert not _plan(shape, _placed(shape, L1, (1, 1), 64), _placed(shape, L1, (2, 2), 128))


_SMALL = (32, 64)
_TRANSPOSED = replace(
    TensorLayout.of((32, 32), TILE, L1, (1, 1)), linear=parse_affine_map("(d0, d1) -> (d1, d0)")
)


@pytest.mark.parametrize(
    ("shape", "source", "target", "message"),
    [
        (
            _SMALL,
            _placed(_SMALL, DRAM, (1, 1), 64),
            _placed(_SMALL, DRAM, (1, 2), 64),
            "one of the two tensors is in L1: move it from DRAM to L1 first",
        ),
        (
            _SMALL,
            _placed(_SMALL, L1, (1, 1), 64),
            _placed(_SMALL, L1, (1, 1), 64, TILE),
            "the network copies bytes: both layouts have the same elements",
        ),
        (
            _SMALL,
            _placed(_SMALL, L1, (1, 1), 64),
            _placed(_SMALL, L1, (1, 9), 64),
            "a grid of 1x9 does not fit on the device's 8x8 cores",
        ),
        (
            (33, 64),
            _placed((33, 64), L1, (1, 1), 64),
            _placed((32, 64), L1, (2, 1), 64),
            "shards of 16x64 on a grid of 2x1 do not hold 33x64",
        ),
        (
            (32, 32),
            _placed((32, 32), L1, (1, 1), 64, TILE),
            PlacedTensor(_TRANSPOSED, 64),
            "tiles move whole: their layouts have the same linear map, got (d0, d1) -> (d0, d1) "
            "and (d0, d1) -> (d1, d0); go to rows first",
        ),
    ],
)
def test_refusals(
    shape: tuple[int, ...], source: PlacedTensor, target: PlacedTensor, message: str
) -> None:
    """What cannot be copied is said, and what to do."""
    with pytest.raises(LayoutError) as error:
        _plan(shape, source, target)
    assert str(error.value) == message


def test_maps_that_overlap_are_refused() -> None:
    """A map of DRAM that is not the device's own may put two shards at one place."""
    device = replace(DEVICE, dram_map=DEVICE.l1_map)
    source, target = (_placed(_SMALL, space, (2, 1), 64) for space in (DRAM, L1))
    with pytest.raises(LayoutError) as error:
        plan_copies(_SMALL, source, target, device, SYSTEM.chip(0))
    assert str(error.value) == (
        "the device's DRAM map puts several elements of the tensor at one location; "
        "keep it in L1 or use tiles"
    )


def test_the_second_round_over_the_channels_follows_the_first() -> None:
    """The 13th page of 8192 elements is behind the first one in its channel."""
    shape = (13, 8192)
    (cores,) = _plan(shape, _placed(shape, DRAM, (1, 1), 64), _placed(shape, L1, (1, 1), 64))
    assert [copy.source for copy in cores.copies] == [64] * 12 + [64 + 8192 * 4]


def test_tensors_on_several_chips_are_refused() -> None:
    """The network does not leave the chip."""
    system = replace(SYSTEM, chip_desc_indices=(0, 0), chip_capabilities=(3, 3))
    device = DeviceView.from_system_desc(system, (1, 2))
    shape = (32, 160)
    with pytest.raises(LayoutError) as error:
        plan_copies(
            shape,
            _placed(shape, L1, (1, 1), 64),
            _placed(shape, L1, (1, 10), 64),
            device,
            SYSTEM.chip_descs[0],
        )
    assert str(error.value) == ("the tensor is spread over several chips; use a device of one chip")


def _scratch(shape: tuple[int, ...], source: PlacedTensor, target: PlacedTensor) -> int:
    return scratch_bytes(shape, source.layout, target.layout, DEVICE, _chip())


def test_scratch_memory() -> None:
    """Halves of rows of 24 bytes: offsets 0, 24, 48, 72 become 0, 12, 24, 36."""
    whole, halves = (_placed((4, 6), L1, (1, columns), 64) for columns in (1, 2))
    # All but one of each core's runs; 12 bytes at any offset take 2 units.
    assert _scratch((4, 6), whole, halves) == 3 * 32
    assert _scratch((4, 8), *(_placed((4, 8), L1, (1, n), 64) for n in (1, 2))) == 0


def test_scratch_memory_is_used_again() -> None:
    """500 rows of 12 bytes do not lie there at once."""
    whole, halves = (_placed((500, 6), L1, (1, columns), 64) for columns in (1, 2))
    room = _scratch((500, 6), whole, halves)
    assert room == 4096
    copies = [c for c in _plan((500, 6), whole, halves)[1].copies if not c.keeps_offset(16)]
    parts = list(batches(copies, 16, room))
    assert [copy for part in parts for copy, _ in part] == copies
    assert [len(part) for part in parts] == [128, 128, 119]
    assert [place for _, place in parts[2]] == [32 * number for number in range(119)]
