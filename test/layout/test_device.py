"""Devices: meshes of chips, maps to memory, sizes of buffers."""

import math
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttmlir.layout.affine import AffineMap, parse_affine_map
from ttmlir.layout.data_format import ScalarType, TileFormat
from ttmlir.layout.device import DeviceView
from ttmlir.layout.enums import DataType, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import ChipDesc, SystemDesc, default_system_desc
from ttmlir.layout.tensor_layout import Grid, TensorLayout

F32 = ScalarType("f32")
TILE = TileFormat(32, 32, DataType.F32)
DEFAULT = DeviceView.from_system_desc(default_system_desc())


def system(chips: int, **changes: object) -> SystemDesc:
    """Chips that are all like the default one, apart from `changes`."""
    base = default_system_desc()
    (chip,) = base.chip_descs
    return replace(
        base,
        chip_descs=(replace(chip, **changes),),
        chip_desc_indices=(0,) * chips,
        chip_capabilities=base.chip_capabilities * chips,
        chip_coords=base.chip_coords * chips,
    )


def test_maps_of_the_default_device():
    """MLIR's text of the maps of one chip of 8x8 cores and 12 DRAM channels."""
    address = "((d0 floordiv s0) * 8 + d1 floordiv s1) * (s1 * s0) + (d0 mod s0) * s1 + d1 mod s1"
    assert str(DEFAULT.worker_grid) == "8x8, (d0, d1) -> (0, d0, d1)"
    assert str(DEFAULT.l1_map) == (
        "(d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1)"
    )
    assert str(DEFAULT.dram_map) == (
        f"(d0, d1)[s0, s1] -> (0, 0, (({address}) floordiv 8192) mod 12, "
        f"({address}) floordiv 98304 + ({address}) mod 8192)"
    )
    assert (DEFAULT.mesh_shape, DEFAULT.chip_ids) == ((), (0,))


@pytest.mark.parametrize(
    ("mesh", "worker_grid"),
    [
        ((1,), "8x8, (d0, d1) -> (0, d0, d1)"),
        ((1, 1), "8x8, (d0, d1) -> (0, d0, d1)"),
        # The remainders are by the chip's 8 cores, as the specification has it; tt-mlir's own
        # constructor divides by the extent of the mesh (2) and reaches two rows of each chip only.
        ((2,), "16x8, (d0, d1) -> (d0 floordiv 8, d0 mod 8, d1)"),
        ((2, 1), "16x8, (d0, d1) -> (d0 floordiv 8, d0 mod 8, d1)"),
        ((1, 2), "8x16, (d0, d1) -> (d1 floordiv 8, d0, d1 mod 8)"),
        (
            (2, 2),
            "16x16, (d0, d1) -> ((d0 floordiv 8) * 2 + d1 floordiv 8, d0 mod 8, d1 mod 8)",
        ),
        ((2, 1, 1), "2x8x8, (d0, d1, d2) -> (d0, d1, d2)"),
        ((2, 1, 2), "2x8x16, (d0, d1, d2) -> (d0 * 2 + d2 floordiv 8, d1, d2 mod 8)"),
        ((3, 2, 1, 1), "3x2x8x8, (d0, d1, d2, d3) -> (d0 * 2 + d1, d2, d3)"),
    ],
)
def test_worker_grids_of_meshes(mesh: tuple[int, ...], worker_grid: str):
    """The grid of a mesh and where its cores are."""
    device = DeviceView.from_system_desc(system(6), mesh)
    assert str(device.worker_grid) == worker_grid
    assert device.chip_ids == tuple(range(math.prod(mesh)))
    assert device.mesh_shape == mesh


def test_memory_maps_of_rank_three():
    """Products of symbols have the higher index first, the grid term is by the grid's extents."""
    device = DeviceView.from_system_desc(system(2), (2, 1, 1))
    offset = "(d0 mod s0) * (s2 * s1) + (d1 mod s1) * s2 + d2 mod s2"
    assert str(device.l1_map).endswith(
        f"-> (d0 floordiv s0, d1 floordiv s1, d2 floordiv s2, {offset})"
    )
    shards = "(d0 floordiv s0) * 64 + (d1 floordiv s1) * 8 + d2 floordiv s2"
    address = f"({shards}) * ((s2 * s1) * s0) + {offset}"
    assert str(device.dram_map) == (
        f"(d0, d1, d2)[s0, s1, s2] -> (d0 floordiv s0, 0, (({address}) floordiv 8192) mod 12, "
        f"({address}) floordiv 98304 + ({address}) mod 8192)"
    )


@given(st.lists(st.integers(1, 3), min_size=0, max_size=4), st.integers(1, 4), st.integers(1, 5))
def test_worker_grids_reach_each_core_of_each_chip_once(mesh: list[int], rows: int, columns: int):
    """The mapping of the grid is one-to-one onto chips x rows x columns."""
    chips = math.prod(mesh)
    device = DeviceView.from_system_desc(system(chips, grid=(rows, columns)), mesh)
    cores = sorted(map(device.worker_grid.mapping.eval, device.worker_grid.coordinates()))
    assert cores == sorted(product(range(chips), range(rows), range(columns)))


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 3), st.integers(1, 3))
def test_l1_map_gives_each_element_a_place_of_its_own(
    height: int, width: int, rows: int, columns: int
):
    """No two elements share core and offset, and offsets stay within the shard."""
    layout = TensorLayout.of((height, width), F32, MemorySpace.DEVICE_L1, (rows, columns))
    to_l1 = layout.project_onto(DEFAULT.l1_map)
    places = [to_l1.eval(point) for point in product(range(height), range(width))]
    assert len(set(places)) == height * width
    assert all(0 <= offset < math.prod(layout.shard) for *_, offset in places)
    assert all(y < rows and x < columns for _, y, x, _ in places)


def test_the_smallest_chip_decides_the_grid():
    """Chips of 8x8 and 7x10 cores make a device of 7x8 per chip."""
    base = system(2)
    (chip,) = base.chip_descs
    mixed = replace(base, chip_descs=(chip, replace(chip, grid=(7, 10))), chip_desc_indices=(0, 1))
    assert DeviceView.from_system_desc(mixed, (2, 1, 1)).worker_grid.shape == (2, 7, 8)
    assert DeviceView.from_system_desc(mixed, chip_ids=(1,)).worker_grid.shape == (7, 10)


def test_chips_can_be_chosen():
    """The second half of eight chips as a device of its own."""
    device = DeviceView.from_system_desc(system(8), (2, 2), chip_ids=(4, 5, 6, 7))
    assert device.chip_ids == (4, 5, 6, 7)
    assert device.worker_grid.shape == (16, 16)


@pytest.mark.parametrize(
    ("shape", "element", "space", "grid", "size"),
    [
        # L1: the whole shard, also where the last one is not full.
        ((64, 128), F32, MemorySpace.DEVICE_L1, (1, 1), 64 * 128 * 4),
        ((53, 63), F32, MemorySpace.DEVICE_L1, (3, 2), 18 * 32 * 4),
        ((9, 8), F32, MemorySpace.DEVICE_L1, (2, 1), 5 * 8 * 4),
        ((64, 128), TILE, MemorySpace.DEVICE_L1, (1, 1), 8 * 4096),
        ((64, 128), TILE, MemorySpace.DEVICE_L1, (2, 2), 2 * 4096),
        ((0, 8), F32, MemorySpace.DEVICE_L1, (1, 1), 0),
        # DRAM: one page of up to 8192 elements, or whole pages that go round the 12 channels.
        ((64, 96), F32, MemorySpace.DEVICE_DRAM, (1, 1), 64 * 96 * 4),
        ((256, 128), F32, MemorySpace.DEVICE_DRAM, (1, 1), 32768),
        ((768, 128), F32, MemorySpace.DEVICE_DRAM, (1, 1), 32768),
        ((769, 128), F32, MemorySpace.DEVICE_DRAM, (1, 1), 2 * 32768),
        ((2048, 1024), F32, MemorySpace.DEVICE_DRAM, (1, 1), 22 * 32768),
        # The second row of shards begins after the eight that the device has in the first.
        ((64, 96), TILE, MemorySpace.DEVICE_DRAM, (2, 3), 11 * 4096),
    ],
)
def test_buffers_hold_whole_tensors(
    shape: tuple[int, ...],
    element: ScalarType | TileFormat,
    space: MemorySpace,
    grid: tuple[int, ...],
    size: int,
):
    """Bytes on one core or in one channel."""
    layout = TensorLayout.of(shape, element, space, grid)
    assert DEFAULT.buffer_bytes(layout, dram_channels=12) == size


@pytest.mark.parametrize(("grid", "text"), [((9, 1), "9x1"), ((1, 9), "1x9"), ((1, 2, 2), "1x2x2")])
def test_grids_beyond_the_device_are_refused(grid: tuple[int, ...], text: str):
    """A tensor's grid has cores that are there."""
    with pytest.raises(LayoutError) as error:
        DEFAULT.check_grid(Grid(grid))
    assert str(error.value) == f"a grid of {text} does not fit on the device's 8x8 cores"
    layout = TensorLayout.of((8, 24, 40), F32, MemorySpace.DEVICE_DRAM, grid)
    with pytest.raises(LayoutError, match=str(error.value)):
        DEFAULT.buffer_bytes(layout, dram_channels=12)


@pytest.mark.parametrize("space", [MemorySpace.SYSTEM, MemorySpace.SYSTEM_MMIO])
def test_host_memory_has_no_map(space: MemorySpace):
    """A device maps its own memories only."""
    with pytest.raises(LayoutError) as error:
        DEFAULT.memory_map(space)
    assert str(error.value) == (
        f"a device maps tensors to l1 and dram, got the memory space '{space.keyword}'"
    )


GRID = Grid((8, 8), parse_affine_map("(d0, d1) -> (0, d0, d1)"))
FOUR = parse_affine_map("(d0, d1) -> (0, 0, d0, d1)")
THREE = parse_affine_map("(d0, d1) -> (0, d0, d1)")


@pytest.mark.parametrize(
    ("grid", "l1_map", "dram_map", "mesh", "chips", "message"),
    [
        (GRID, FOUR, FOUR, (), (), "expected at least one chip"),
        (
            GRID,
            FOUR,
            FOUR,
            (2, 1),
            (0,),
            "expected chipIds size to match the volume of meshShape",
        ),
        (Grid((8, 0), THREE), FOUR, FOUR, (1,), (0,), "expected positive grid dimensions"),
        (
            Grid((8, 8)),
            FOUR,
            FOUR,
            (1,),
            (0,),
            "expected physical grid mapping to have PhysGridResultIdx::NumIndices results",
        ),
        (
            GRID,
            THREE,
            FOUR,
            (1,),
            (0,),
            "expected l1Map to have MemoryMapResultIdx::NumIndices results",
        ),
        (
            GRID,
            FOUR,
            THREE,
            (1,),
            (0,),
            "expected dramMap to have MemoryMapResultIdx::NumIndices results",
        ),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    grid: Grid,
    l1_map: AffineMap,
    dram_map: AffineMap,
    mesh: tuple[int, ...],
    chips: tuple[int, ...],
    message: str,
):
    """Each rule of a device, in tt-mlir's words."""
    with pytest.raises(LayoutError) as error:
        DeviceView(grid, l1_map, dram_map, mesh, chips)
    assert str(error.value) == message


def test_systems_that_are_too_small_or_uneven_are_refused():
    """Too few chips, chips that are not there, and different numbers of DRAM cores."""
    with pytest.raises(LayoutError, match="a mesh of 2x1x1 needs 2 chips, the system has 1"):
        DeviceView.from_system_desc(default_system_desc(), (2, 1, 1))
    with pytest.raises(LayoutError, match="needs 1000000000000 chips, the system has 1"):
        DeviceView.from_system_desc(default_system_desc(), (1000000, 1000000))
    with pytest.raises(LayoutError, match="chip 3 is not one of the 2 of the system"):
        DeviceView.from_system_desc(system(2), chip_ids=(3,))
    with pytest.raises(LayoutError, match="a mesh has at least one chip in each dimension"):
        DeviceView.from_system_desc(system(2), (0,))
    with pytest.raises(LayoutError, match="expected at least one chip"):
        DeviceView.from_system_desc(system(2), (), ())
    base = system(2)
    (chip,) = base.chip_descs
    fewer = _with_dram_cores(chip, 11)
    uneven = replace(base, chip_descs=(chip, fewer), chip_desc_indices=(0, 1))
    with pytest.raises(LayoutError, match=r"same number of DRAM cores, got \[11, 12\]"):
        DeviceView.from_system_desc(uneven, (1, 2))
    without = replace(default_system_desc(), chip_descs=(_with_dram_cores(chip, 0),))
    with pytest.raises(LayoutError, match="expected chips with at least one DRAM core"):
        DeviceView.from_system_desc(without)


def _with_dram_cores(chip: ChipDesc, count: int) -> ChipDesc:
    cores = replace(chip.physical_cores, dram=chip.physical_cores.dram[:count])
    return replace(chip, physical_cores=cores)


def test_grid_without_places_cannot_carry_maps():
    """Maps are derived from a mapping to (chip, y, x) only."""
    with pytest.raises(LayoutError, match="expected physical grid mapping"):
        DeviceView.on_grid(Grid((8, 8)), (1,), (0,))
