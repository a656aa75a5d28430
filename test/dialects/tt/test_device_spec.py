"""Every example of tt-mlir's device specification, built and read.

The specification writes devices without `l1Map` and `dramMap`; they are read with the maps that
follow from the worker grid. Its worker grids carry terms that are zero on the grid (a division of
the rows by 8 where there are 8 rows): those read from text stay, those built leave them out, and
both name the same core everywhere.
"""

from dataclasses import replace

import pytest
from running.attribute_io import parse_attribute
from xdsl.dialects.builtin import TensorType, f32

from ttmlir.dialects.tt import DeviceAttr, DeviceType, LayoutAttr, SystemDescAttr, TileType
from ttmlir.layout.device import DeviceView
from ttmlir.layout.enums import DataType, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import SystemDesc, default_system_desc
from ttmlir.layout.tensor_layout import CoreRange, core_range_set
from ttmlir.mlir.printing import attribute_text

BFP8 = TileType.get(32, 32, DataType.BFP_BF8)


def system(chips: int) -> SystemDesc:
    """The specification's `[chips, 8x8]`."""
    return replace(default_system_desc(), chip_desc_indices=(0,) * chips)


def read(grid: str, mesh: str, chips: str) -> DeviceAttr:
    """A device in the specification's own words."""
    device = parse_attribute(
        f"#tt.device<\n  workerGrid = #tt.grid<{grid}>,\n  meshShape = {mesh},\n"
        f"  chipIds = [{chips}]\n>"
    )
    assert isinstance(device, DeviceAttr)
    return device


@pytest.mark.parametrize(
    ("grid", "mesh", "chips"),
    [
        ("8x8, (d0, d1) -> (0, d0, d1)", "1", "0"),
        ("2x8x8, (d0, d1, d2) -> (d0, d1, d2)", "2x1x1", "0, 1"),
        (
            "8x16, (d0, d1) -> ((d0 floordiv 8) * 2 + d1 floordiv 8, d0, d1 mod 8)",
            "1x2",
            "0, 1",
        ),
        (
            "2x8x16, (d0, d1, d2) -> (d0 * 2 + (d1 floordiv 8) * 2 + d2 floordiv 8, d1, d2 mod 8)",
            "2x1x2",
            "0, 1, 2, 3",
        ),
        (
            "16x16, (d0, d1) -> ((d0 floordiv 8) * 2 + d1 floordiv 8, d0 mod 8, d1 mod 8)",
            "2x2",
            "4, 5, 6, 7",
        ),
    ],
)
def test_meshes(grid: str, mesh: str, chips: str):
    """The device that is built for a mesh has the specification's cores in the same places."""
    written = read(grid, mesh, chips)
    mesh_shape = tuple(map(int, mesh.split("x")))
    chip_ids = tuple(map(int, chips.split(", ")))
    built = DeviceAttr.from_system_desc(system(8), mesh_shape, chip_ids)
    assert built.worker_grid.shape == written.worker_grid.shape
    for point in written.data.worker_grid.coordinates():
        assert built.worker_grid.mapping.eval(point) == written.worker_grid.mapping.eval(point)
    assert (built.mesh_shape, built.chip_ids) == (mesh_shape, chip_ids)
    assert attribute_text(written).startswith(f"#tt.device<workerGrid = #tt.grid<{grid}>, l1Map =")
    assert attribute_text(written).endswith(f"meshShape = {mesh}, chipIds = [{chips}]>")
    assert parse_attribute(attribute_text(written)) == written


@pytest.mark.parametrize(
    ("grid", "point", "core"),
    [
        # Transposed: row 2 of the grid is column 2 of the chip.
        ("8x8, (d0, d1) -> (0, d1, d0)", (2, 5), (0, 5, 2)),
        # Extra wide: core 19 is the fourth of the third row.
        ("1x64, (d0, d1) -> (0, d0 * 8 + d1 floordiv 8, d1 mod 8)", (0, 19), (0, 2, 3)),
        # Extra tall and transposed.
        ("64x1, (d0, d1) -> (0, d1 * 8 + d0 floordiv 8, d0 mod 8)", (19, 0), (0, 2, 3)),
        # Staircase: row 3 begins at column 3 and wraps around.
        ("8x8, (d0, d1) -> (0, d0, (d0 + d1) mod 8)", (3, 6), (0, 3, 1)),
    ],
)
def test_reinterpreted_grids(grid: str, point: tuple[int, ...], core: tuple[int, ...]):
    """Other views of one chip: every core once, and printed as written."""
    device = read(grid, "1", "0")
    mapping = device.worker_grid.mapping
    assert mapping.eval(point) == core
    cores = {mapping.eval(place) for place in device.data.worker_grid.coordinates()}
    assert len(cores) == 64
    assert f"#tt.grid<{grid}>" in attribute_text(device)


def test_maps_that_are_left_out_are_those_of_the_default_device():
    """The single chip of the specification is the default device, but for its mesh."""
    default = DeviceAttr.from_system_desc(SystemDescAttr.get_default(), (1,))
    assert read("8x8, (d0, d1) -> (0, d0, d1)", "1", "0") == default


def test_batch_parallel_tensor():
    """16x3x64x128 on 2x2x4 spans 2x4 cores of both chips of 2x1x1."""
    layout = LayoutAttr.get(
        TensorType(f32, [16, 3, 64, 128]), MemorySpace.DEVICE_L1, (2, 2, 4), [(1, -1)]
    ).with_element_type(BFP8)
    written = parse_attribute(
        "#tt.layout<(d0, d1, d2, d3) -> (d0, d1 * 64 + d2, d3), undef, <2x2x4>, "
        "memref<8x3x1x!tt.tile<32 x 32, bfp_bf8>, #tt.memory_space<l1>>>"
    )
    assert layout == written
    mapping = DeviceAttr.from_system_desc(system(2), (2, 1, 1)).worker_grid.mapping
    for chip in (0, 1):
        assert core_range_set((2, 2, 4), mapping, chip) == (CoreRange(0, 0, 2, 4),)


def test_wide_parallel_tensor():
    """256x1024 on 4x16 covers the upper half of both chips of 1x2."""
    layout = LayoutAttr.get(TensorType(f32, [256, 1024]), MemorySpace.DEVICE_L1, (4, 16))
    written = parse_attribute(
        "#tt.layout<(d0, d1) -> (d0, d1), undef, <4x16>, "
        "memref<2x2x!tt.tile<32 x 32, bfp_bf8>, #tt.memory_space<l1>>>"
    )
    assert layout.with_element_type(BFP8) == written
    mapping = DeviceAttr.from_system_desc(system(2), (1, 2)).worker_grid.mapping
    for chip in (0, 1):
        assert core_range_set((4, 16), mapping, chip) == (CoreRange(0, 0, 4, 8),)


def test_batch_and_wide_parallel_tensor():
    """64x256x1024 on 2x4x16.

    The specification gives this tensor of rank 3 the linear map (d0, d1) -> (d0, d1), which has two
    dimensions; without collapse it is the identity of rank 3. The memref is right: 64 / 2 batches,
    256 / 4 rows and 1024 / 16 columns in tiles of 32x32.
    """
    layout = LayoutAttr.get(
        TensorType(f32, [64, 256, 1024]), MemorySpace.DEVICE_L1, (2, 4, 16), []
    ).with_element_type(BFP8)
    assert str(layout.linear) == "(d0, d1, d2) -> (d0, d1, d2)"
    assert layout.memref.get_shape() == (32, 2, 2)
    assert layout.shard_shape == (32, 64, 64)


def test_two_devices_on_one_system():
    """Eight chips as two devices of four chips, seen differently."""
    first = DeviceAttr.from_system_desc(system(8), (2, 1, 2), (0, 1, 2, 3))
    second = DeviceAttr.from_system_desc(system(8), (2, 2), (4, 5, 6, 7))
    assert (first.worker_grid.shape, second.worker_grid.shape) == ((2, 8, 16), (16, 16))
    assert not set(first.chip_ids) & set(second.chip_ids)
    # Row 9, column 3 of the 16x16 grid: the third chip (index 2), row 1.
    assert second.worker_grid.mapping.eval((9, 3)) == (2, 1, 3)


def test_device_type():
    """A device as the type of a value."""
    device = DeviceAttr.from_system_desc(SystemDescAttr.get_default())
    assert attribute_text(DeviceType(device)).startswith("!tt.device<<workerGrid = #tt.grid<8x8,")
    assert parse_attribute(attribute_text(DeviceType(device))) == DeviceType(device)


def test_systems_that_are_too_small_are_refused():
    """A mesh needs as many chips as it has places."""
    with pytest.raises(LayoutError, match="a mesh of 2x2 needs 4 chips, the system has 2"):
        DeviceAttr.from_system_desc(system(2), (2, 2))
    assert isinstance(DeviceAttr.from_system_desc(system(4), (2, 2)).data, DeviceView)
