"""Descriptions of memory, shards, tiles, cores, meshes and devices: equality, text, refusals."""

from __future__ import annotations

from typing import Any

import pytest

from ttmlir import ttnn

L1, DRAM = ttnn.BufferType.L1, ttnn.BufferType.DRAM
LAYOUT, ORDER, STRATEGY = ttnn.TensorMemoryLayout, ttnn.ShardOrientation, ttnn.ShardStrategy
TWO = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 0))])
FOUR = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])
SPEC = ttnn.ShardSpec(TWO, (32, 64), ORDER.COL_MAJOR)
SHARDED = ttnn.MemoryConfig(LAYOUT.HEIGHT_SHARDED, L1, SPEC)


def test_shards() -> None:
    """Two extents of at least one; equal if shape, order and cores are."""
    assert (SPEC.shape, SPEC.num_cores(), SPEC.orientation) == ((32, 64), 2, ORDER.COL_MAJOR)
    assert ttnn.ShardSpec(TWO, (1, 1)).orientation == ORDER.ROW_MAJOR
    same = ttnn.ShardSpec(TWO, [32, 64], ORDER.COL_MAJOR)
    assert SPEC == same
    assert hash(SPEC) == hash(same)
    for other in (
        ttnn.ShardSpec(TWO, (64, 32), ORDER.COL_MAJOR),
        ttnn.ShardSpec(TWO, (32, 64), ORDER.ROW_MAJOR),
        ttnn.ShardSpec(FOUR, (32, 64), ORDER.COL_MAJOR),
        (32, 64),
    ):
        assert SPEC != other
    text = repr(SPEC)
    assert text.startswith("ShardSpec(grid=")
    assert text.endswith(", shape=[32, 64], orientation=ShardOrientation::COL_MAJOR)")
    for shape in ((32,), (32, 0), (1, 2, 3)):
        with pytest.raises(RuntimeError, match="a shard has rows and columns, at least one; got"):
            ttnn.ShardSpec(TWO, shape)


def test_memory_configurations() -> None:
    """Layout, memory and shards; an interleaved tensor has none."""
    plain = ttnn.MemoryConfig()
    assert (plain.memory_layout, plain.buffer_type, plain.shard_spec) == (
        *(LAYOUT.INTERLEAVED, DRAM),
        None,
    )
    assert plain == ttnn.DRAM_MEMORY_CONFIG == ttnn.MemoryConfig(buffer_type=DRAM)
    assert ttnn.MemoryConfig(L1) == ttnn.MemoryConfig(LAYOUT.INTERLEAVED, L1)
    assert hash(plain) == hash(ttnn.DRAM_MEMORY_CONFIG)
    for config, facts in (
        (ttnn.DRAM_MEMORY_CONFIG, (True, False, False, True)),
        (ttnn.L1_MEMORY_CONFIG, (True, False, True, False)),
        (SHARDED, (False, True, True, False)),
    ):
        assert (config.interleaved, config.is_sharded(), config.is_l1(), config.is_dram()) == facts
        assert ttnn.MemoryConfig.from_json(config.to_json()) == config
    for other in (
        ttnn.MemoryConfig(LAYOUT.WIDTH_SHARDED, L1, SPEC),
        ttnn.MemoryConfig(LAYOUT.HEIGHT_SHARDED, DRAM, SPEC),
        ttnn.MemoryConfig(LAYOUT.HEIGHT_SHARDED, L1),
        "memory",
    ):
        assert SHARDED != other
    assert SHARDED.with_shard_spec(None) == ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
    assert repr(plain) == (
        "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::DRAM,"
        "shard_spec=std::nullopt)"
    )
    assert repr(SHARDED) == (
        "MemoryConfig(memory_layout=TensorMemoryLayout::HEIGHT_SHARDED,"
        f"buffer_type=BufferType::L1,shard_spec={SPEC})"
    )
    with pytest.raises(RuntimeError, match="an interleaved tensor has no shards; give a sharded"):
        ttnn.MemoryConfig(LAYOUT.INTERLEAVED, L1, SPEC)
    with pytest.raises(TypeError, match="buffer_type is a BufferType, not 'L1'"):
        ttnn.MemoryConfig(LAYOUT.INTERLEAVED, "L1")


GRID = ttnn.CoreGrid(y=2, x=4)


@pytest.mark.parametrize(
    ("strategy", "orientation", "shard"),
    [
        (STRATEGY.HEIGHT, ORDER.ROW_MAJOR, (16, 256)),
        (STRATEGY.WIDTH, ORDER.ROW_MAJOR, (128, 32)),
        (STRATEGY.BLOCK, ORDER.ROW_MAJOR, (64, 64)),
        (STRATEGY.HEIGHT, ORDER.COL_MAJOR, (16, 256)),
        (STRATEGY.WIDTH, ORDER.COL_MAJOR, (128, 32)),
        (STRATEGY.BLOCK, ORDER.COL_MAJOR, (32, 128)),
    ],
)
def test_equal_shards(strategy: Any, orientation: Any, shard: tuple[int, int]) -> None:
    """Of 2x64 rows of 256 numbers, on 2x4 cores; rounded or not."""
    layout = getattr(LAYOUT, f"{strategy.name}_SHARDED")
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (3, 1))])
    expected = ttnn.MemoryConfig(layout, L1, ttnn.ShardSpec(cores, shard, orientation))
    corners = ttnn.CoreGrid(y=0, x=0), GRID
    for grid in (GRID, corners):
        made = ttnn.create_sharded_memory_config((2, 64, 256), grid, strategy, orientation)
        assert made == expected
    for kind in (strategy, layout):
        for grid in (GRID, cores, ttnn.CoreRange((0, 0), (3, 1))):
            made = ttnn.create_sharded_memory_config_((2, 64, 256), grid, kind, orientation)
            assert made == expected


def test_shards_that_are_given() -> None:
    """The last two extents are those of a shard, in the order of the cores; of sets, too."""
    for orientation, shard in ((ORDER.ROW_MAJOR, (32, 64)), (ORDER.COL_MAJOR, (64, 32))):
        for create in (ttnn.create_sharded_memory_config, ttnn.create_sharded_memory_config_):
            made = create((1, 32, 64), TWO, STRATEGY.HEIGHT, orientation, True)
            spec = ttnn.ShardSpec(TWO, shard, orientation)
            assert made == ttnn.MemoryConfig(LAYOUT.HEIGHT_SHARDED, L1, spec)
    default = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(y=1, x=2), STRATEGY.HEIGHT)
    assert default.shard_spec == ttnn.ShardSpec(TWO, (32, 64))


def test_shards_that_are_rounded_up() -> None:
    """To whole rows and columns, or to whole tiles; blocks fill the box of the cores."""
    create, height, block = ttnn.create_sharded_memory_config_, STRATEGY.HEIGHT, STRATEGY.BLOCK
    assert create((100, 50), GRID, height).shard_spec.shape == (13, 50)
    assert create((100, 50), GRID, height, tile_layout=True).shard_spec.shape == (32, 64)
    assert create((257, 50), GRID, height, tile_layout=True).shard_spec.shape == (64, 64)
    odd = ttnn.CoreRangeSet([ttnn.CoreRange((1, 1), (2, 1)), ttnn.CoreRange((1, 2), (1, 2))])
    assert create((10, 9), odd, block).shard_spec.shape == (5, 5)
    assert create((10, 9), odd, height).shard_spec.shape == (4, 9)


def test_grids_that_are_none() -> None:
    """Sets of cores need shards that are given, and nothing else is a grid."""
    message = "a CoreRangeSet needs use_height_and_width_as_shard_shape=True; use a CoreGrid"
    with pytest.raises(RuntimeError, match=message):
        ttnn.create_sharded_memory_config((64, 64), TWO, STRATEGY.HEIGHT)
    with pytest.raises(RuntimeError, match="core_grid is a CoreGrid or a CoreRangeSet, not 4"):
        ttnn.create_sharded_memory_config((64, 64), 4, STRATEGY.HEIGHT)
    for shape, down, across in (((63, 256), 2, 4), ((64, 255), 2, 4)):
        message = f"{shape[0]}x{shape[1]} elements are not divided by {down}x{across} cores"
        with pytest.raises(RuntimeError, match=message):
            ttnn.create_sharded_memory_config(shape, GRID, STRATEGY.BLOCK)
    assert (GRID.num_cores, GRID.to_core_range_set().num_cores()) == (8, 8)
    assert GRID.to_core_range_set().bounding_box() == ttnn.CoreRange((0, 0), (3, 1))


def test_specifications() -> None:
    """Equal if every part is."""
    spec = ttnn.TensorSpec((3, 33), ttnn.float32, ttnn.TILE_LAYOUT, ttnn.L1_MEMORY_CONFIG)
    assert spec == ttnn.TensorSpec([3, 33], ttnn.float32, ttnn.TILE_LAYOUT, ttnn.L1_MEMORY_CONFIG)
    assert hash(spec) == hash(spec.replace())
    for changes in (
        {"shape": (33, 3)},
        {"dtype": ttnn.int32},
        {"layout": ttnn.ROW_MAJOR_LAYOUT},
        {"memory_config": ttnn.DRAM_MEMORY_CONFIG},
    ):
        assert spec != spec.replace(**changes)
    assert spec != "spec"
    assert repr(spec) == (
        "TensorSpec(shape=Shape([3, 33]), dtype=DataType::FLOAT32, layout=Layout::TILE, "
        f"memory_config={ttnn.L1_MEMORY_CONFIG})"
    )
    assert (spec.padded_shape, spec.pages, spec.size_bytes) == ((32, 64), (1, 2), 2 * 4096)
    rows = spec.replace(layout=ttnn.ROW_MAJOR_LAYOUT)
    assert (rows.padded_shape, rows.pages, rows.size_bytes) == ((3, 33), (3, 1), 3 * 33 * 4)
    nothing = ttnn.TensorSpec((0, 4), ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
    assert (nothing.pages, nothing.size_bytes) == ((1, 1), 16)
    ttnn.TensorSpec((1,) * 8, ttnn.float32, ttnn.TILE_LAYOUT)
    with pytest.raises(RuntimeError, match="a tensor has 8 dimensions at most, got Shape"):
        ttnn.TensorSpec((1,) * 9, ttnn.float32, ttnn.TILE_LAYOUT)


def test_tiles_and_shapes() -> None:
    """Faces of tiles, bytes, equality; extents are not negative."""
    tile = ttnn.Tile((16, 32))
    assert (tile.num_faces, ttnn.Tile().num_faces) == (2, 4)
    assert (tile == ttnn.Tile([16, 32]), tile == ttnn.Tile(), tile == (16, 32)) == (
        *(True, False),
        False,
    )
    assert repr(tile) == "Tile with shape: [16, 32]"
    assert [tile.get_tile_size(each) for each in (ttnn.float32, ttnn.bfloat16, ttnn.uint8)] == [
        *(2048, 1024),
        512,
    ]
    assert ttnn.Tile().get_tile_size(ttnn.bfloat4_b) == 576
    with pytest.raises(ValueError, match=r"extents of a shape are not negative, got \[2, -1\]"):
        ttnn.Shape([2, -1])
    shape = ttnn.Shape([1, 1, 3])
    assert (shape.to_rank(1), shape.to_rank(3), shape.to_rank(4)) == ((3,), shape, (1, 1, 1, 3))
    assert shape != [1, 3]
    assert shape == [1, 1, 3]


def test_settings_of_compute_units() -> None:
    """Those that are given, or the defaults of the call; plans have sizes of at least one."""
    initial = ttnn.init_device_compute_kernel_config
    given = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi2)
    assert initial("wormhole_b0", given) is given
    names = ("math_fidelity", "math_approx_mode", "fp32_dest_acc_en", "packer_l1_acc")
    names += ("dst_full_sync_en",)
    plain = initial("wormhole_b0")
    found = [getattr(plain, name) for name in names]
    assert found == [ttnn.MathFidelity.LoFi, True, False, False, False]
    other = dict(zip(names, (ttnn.MathFidelity.HiFi4, False, True, True, True), strict=True))
    made = initial("wormhole_b0", **other)
    assert {name: getattr(made, name) for name in names} == other
    own = [getattr(ttnn.WormholeComputeKernelConfig(), name) for name in names]
    assert own == [ttnn.MathFidelity.Invalid, True, False, False, False]
    sizes = {"in0_block_w": 1, "per_core_M": 1, "per_core_N": 1}
    for name in sizes:
        plan = ttnn.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(**{**sizes, name: 0})
        with pytest.raises(ValueError, match="in0_block_w, per_core_M and per_core_N are at least"):
            plan.check(1)
    config = ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16, act_block_h_override=64)
    assert (
        repr(config)
        == "Conv2dConfig(weights_dtype=<DataType.BFLOAT16: 0>, act_block_h_override=64)"
    )
    assert repr(ttnn.Conv2dConfig()) == "Conv2dConfig()"
    with pytest.raises(ValueError, match="act_block_h_override=33 is not a multiple of 32"):
        ttnn.Conv2dConfig(act_block_h_override=33)


def test_cores_in_order() -> None:
    """By columns unless by rows, at most so many; a range is a set of one."""
    area, listed = ttnn.CoreRange((1, 2), (2, 4)), ttnn.corerange_to_cores
    by_column = [(1, 2), (1, 3), (1, 4), (2, 2), (2, 3), (2, 4)]
    by_row = [(1, 2), (2, 2), (1, 3), (2, 3), (1, 4), (2, 4)]
    for each in (area, ttnn.CoreRangeSet([area])):
        assert [tuple(core) for core in listed(each)] == by_column
        assert [tuple(core) for core in listed(each, None, True)] == by_row
        assert [tuple(core) for core in listed(each, 4, row_wise=True)] == by_row[:4]


def test_meshes() -> None:
    """Extents one by one or as a list; a mesh within a block is closed after it."""
    shape = ttnn.MeshShape(2, 4)
    assert (shape.dims(), len(shape), shape.mesh_size(), shape[1]) == (2, 2, 8, 4)
    assert shape == ttnn.MeshShape([2, 4])
    assert hash(shape) == hash(ttnn.MeshShape([2, 4]))
    assert shape != ttnn.MeshShape(4, 2)
    assert shape != (2, 4)
    assert repr(shape) == "MeshShape([2, 4])"
    assert repr(ttnn.MeshCoordinate(1, 2)) == "MeshCoordinate([1, 2])"
    with ttnn.create_mesh_device(ttnn.MeshShape(1, 1)) as mesh:
        assert repr(mesh) == "MeshDevice(1x1 grid, 8x8 cores of n150)"
        assert mesh.get_submeshes() == []
        assert mesh.create_submeshes(ttnn.MeshShape(1, 1)) == [mesh]
        mesh.reshape(ttnn.MeshShape(1, 1))
        with pytest.raises(RuntimeError, match=r"\[1, 2\]\) has 2 devices, the mesh has 1"):
            mesh.reshape(ttnn.MeshShape(1, 2))
        part = ttnn.ones((2,))
        assert ttnn.from_host_shards([part], mesh.shape) is part
        for parts in ([], [part, part]):
            with pytest.raises(RuntimeError, match=f"{len(parts)} parts for a mesh of Mesh"):
                ttnn.from_host_shards(parts, mesh.shape)
        mapper = ttnn.ReplicateTensorToMesh(mesh)
        assert mapper.unwrap() is mapper
        assert ttnn.distribute_tensor(part, mapper).to_list() == [1, 1]
        assert ttnn.distribute_tensor(part, mapper, mesh).device() is mesh
        with ttnn.distribute(mapper):
            assert ttnn.ones((2,), device=mesh).to_list() == [1, 1]
    with pytest.raises(RuntimeError, match="device 0 is closed"):
        ttnn.ones((2,), device=mesh)
    other = ttnn.open_mesh_device(None, physical_device_ids=[0])
    assert other.id() == 0
    ttnn.close_mesh_device(other)


def test_devices_by_number() -> None:
    """One or several; queues, generations, the program cache."""
    device = ttnn.CreateDevice(0, 2)
    assert ttnn.open_device(device_id=0) is device
    ttnn.SetDefaultDevice(device)
    x = ttnn.ones([2, 3], device=device)
    ttnn.exp(x)
    assert device.num_program_cache_entries() > 0
    device.disable_and_clear_program_cache()
    assert (device.num_program_cache_entries(), device.caches_programs) == (0, False)
    ttnn.exp(x)
    assert device.num_program_cache_entries() == 0
    device.enable_program_cache()
    ttnn.exp(x)
    assert device.num_program_cache_entries() == 1
    ttnn.CloseDevice(device)
    ttnn.close_device(device)
    assert ttnn.GetDefaultDevice() is None
    devices = ttnn.CreateDevices([0])
    assert [*devices] == [0]
    assert devices[0].is_open
    ttnn.CloseDevices(devices)
    assert not devices[0].is_open
    with pytest.raises(RuntimeError, match="a device has one or two command queues, not 3"):
        ttnn.open_device(device_id=0, num_command_queues=3)
    with pytest.raises(RuntimeError):
        ttnn.open_device(device_id=1)
    assert ttnn.GetNumAvailableDevices() == ttnn.get_num_devices() == 1
    assert (ttnn.get_device_ids(), ttnn.GetPCIeDeviceID(0)) == ([0], 0)
    assert ttnn.device.is_wormhole_b0()
    assert not ttnn.device.is_grayskull()


def test_where_commands_come_from() -> None:
    """Types and axes that go together."""
    kind, axis = ttnn.DispatchCoreType, ttnn.DispatchCoreAxis
    config = ttnn.DispatchCoreConfig(kind.ETH, axis.ROW)
    assert (config.type, config.axis) == (kind.ETH, axis.ROW)
    assert ttnn.DispatchCoreConfig(kind.WORKER, axis.COL).axis == axis.COL
    for arguments, message in (
        (("eth", None), "type is a DispatchCoreType, not 'eth'"),
        ((None, "row"), "axis is a DispatchCoreAxis, not 'row'"),
        ((kind.ETH, axis.COL), r"Ethernet cores dispatch by rows: axis is DispatchCoreAxis\.ROW"),
    ):
        with pytest.raises(ValueError, match=message):
            ttnn.DispatchCoreConfig(*arguments)
