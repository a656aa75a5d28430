"""Cores, shards and devices as the host API describes them, by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ttmlir.metalium import (
    BufferType,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    CreateBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    EnqueueReadBuffer,
    GetRuntimeArgs,
    InterleavedBufferConfig,
    MetaliumError,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
    ShardedBufferConfig,
    ShardOrientation,
    ShardSpecBuffer,
    TensorMemoryLayout,
    tilize_nfaces,
    untilize_nfaces,
)
from ttmlir.metalium.cores import cores_of
from ttmlir.metalium.enums import shard_cores, shard_pages, shards_of

ROWS, COLUMNS = ShardOrientation.ROW_MAJOR, ShardOrientation.COL_MAJOR
HEIGHT = TensorMemoryLayout.HEIGHT_SHARDED
BLOCK = TensorMemoryLayout.BLOCK_SHARDED


def test_ranges_and_sets_of_cores() -> None:
    """Both corners belong to a range; cores come row by row."""
    wide, single = CoreRange((1, 2), (3, 3)), CoreRange((5, 0))
    assert wide.grid_size() == CoreCoord(3, 2)
    assert (wide.size(), single.size()) == (6, 1)
    assert list(wide) == [(1, 2), (2, 2), (3, 2), (1, 3), (2, 3), (3, 3)]
    both = CoreRangeSet([single, wide])
    assert both.num_cores() == 7
    assert list(both)[:2] == [(5, 0), (1, 2)]
    assert (2, 3) in both
    assert (4, 2) not in both
    assert both == CoreRangeSet([wide, single])
    assert hash(both) == hash(CoreRangeSet([wide, single]))
    assert both != CoreRangeSet([wide])
    assert both.ranges() == (single, wide)
    assert repr(both) == "CoreRangeSet([CoreRange((5, 0), (5, 0)), CoreRange((1, 2), (3, 3))])"
    with pytest.raises(MetaliumError, match="must not overlap"):
        CoreRangeSet([wide, CoreRange((3, 3), (4, 4))])
    with pytest.raises(MetaliumError, match="from its first to its last corner"):
        CoreRange((1, 2), (3, 1))


def test_cores_of_calls() -> None:
    """A core, a range, a set; nothing else."""
    assert cores_of((4, 5)) == ((4, 5),)
    assert cores_of(CoreCoord(4, 5)) == ((4, 5),)
    assert cores_of(CoreRange((0, 1), (1, 1))) == ((0, 1), (1, 1))
    for other in ("all", (1, 2, 3), 7):
        with pytest.raises(MetaliumError, match="CoreCoord, CoreRange or CoreRangeSet, not as"):
            cores_of(other)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("orientation", "layout", "tensor", "expected"),
    [
        (ROWS, HEIGHT, (6, 1), [(1, 2), (2, 2), (3, 2), (1, 3), (2, 3), (3, 3)]),
        (COLUMNS, HEIGHT, (6, 1), [(1, 2), (1, 3), (2, 2), (2, 3), (3, 2), (3, 3)]),
        # Shards of 1x1 page: two rows of three; the columns of cores go with those of shards.
        (ROWS, BLOCK, (2, 3), [(1, 2), (2, 2), (3, 2), (1, 3), (2, 3), (3, 3)]),
        (ROWS, BLOCK, (1, 2), [(1, 2), (2, 2)]),
        # Three rows of two: rows of shards go along the rows of cores.
        (COLUMNS, BLOCK, (3, 2), [(1, 2), (1, 3), (2, 2), (2, 3), (3, 2), (3, 3)]),
    ],
)
def test_shards_go_to_cores(
    orientation: ShardOrientation,
    layout: TensorMemoryLayout,
    tensor: tuple[int, int],
    expected: list[tuple[int, int]],
) -> None:
    """In the order of shards, row of shards by row of shards."""
    spec = ShardSpecBuffer(CoreRange((1, 2), (3, 3)), (32, 32), orientation, tensor2d_shape=tensor)
    assert list(shard_cores(spec, layout)) == expected


@pytest.mark.parametrize(
    ("orientation", "tensor", "message"),
    [
        (ROWS, (3, 1), "3x1 shards need 1 columns and 3 rows of cores, but the rectangle has 3"),
        (ROWS, (1, 4), "1x4 shards need 4 columns and 1 rows of cores"),
        (COLUMNS, (4, 1), "4x1 shards need 4 columns and 1 rows of cores"),
        (COLUMNS, (1, 3), "1x3 shards need 1 columns and 3 rows of cores"),
    ],
)
def test_blocks_need_cores(
    orientation: ShardOrientation, tensor: tuple[int, int], message: str
) -> None:
    """There are three columns and two rows of cores."""
    cores = CoreRange((1, 2), (3, 3))
    spec = ShardSpecBuffer(cores, (32, 32), orientation, tensor2d_shape=tensor)
    with pytest.raises(MetaliumError) as caught:
        shard_cores(spec, BLOCK)
    assert message in str(caught.value)


def test_shards_in_pages() -> None:
    """Shards are counted up where the tensor does not fill the last ones."""
    cores = CoreRange((0, 0), (7, 7))
    spec = ShardSpecBuffer(cores, (64, 96), page_shape=(32, 16), tensor2d_shape=(5, 13))
    assert shard_pages(spec) == (2, 6)
    assert shards_of(spec) == (3, 3)


@pytest.mark.parametrize(
    ("shard", "page", "tensor", "message"),
    [
        ((48, 32), (32, 32), (1, 1), "a shard of 48x32 elements is not made of pages of 32x32"),
        ((32, 48), (32, 32), (1, 1), "a shard of 32x48 elements is not made of pages of 32x32"),
        ((0, 32), (32, 32), (1, 1), "extents of shards, pages and tensors are at least 1"),
        ((32, 32), (32, 0), (1, 1), "extents of shards, pages and tensors are at least 1"),
        ((32, 32), (32, 32), (1, 0), "extents of shards, pages and tensors are at least 1"),
    ],
)
def test_shards_are_made_of_pages(
    shard: tuple[int, int], page: tuple[int, int], tensor: tuple[int, int], message: str
) -> None:
    """Whole ones, in both directions."""
    spec = ShardSpecBuffer(CoreRange((0, 0)), shard, page_shape=page, tensor2d_shape=tensor)
    with pytest.raises(MetaliumError) as caught:
        shard_pages(spec)
    assert message in str(caught.value)


def test_a_device_and_its_buffers_tell_what_they_are() -> None:
    """The default device is a Wormhole: 8x8 cores, 12 channels of DRAM, 1 GHz."""
    device = CreateDevice(device_id=0)
    assert device.id() == 0
    assert device.compute_with_storage_grid_size() == CoreCoord(8, 8)
    assert device.num_dram_channels() == 12
    assert device.l1_size_per_core() == 1499136
    assert device.clock_hz() == 10**9
    with pytest.raises(MetaliumError, match="command queue 1 does not exist; a device has queue 0"):
        device.command_queue(1)
    config = InterleavedBufferConfig(device=device, size=192, page_size=64)
    buffer = CreateBuffer(config)
    assert (buffer.size(), buffer.page_size(), buffer.num_pages()) == (192, 64, 3)
    assert buffer.buffer_type() is BufferType.DRAM
    assert buffer.device() is device
    odd = CreateBuffer(InterleavedBufferConfig(device=device, size=6, page_size=6))
    with pytest.raises(MetaliumError, match="6 bytes does not hold whole numbers of type uint32"):
        EnqueueReadBuffer(device.command_queue(), odd, dtype=np.uint32)


def test_options_of_a_device_are_those_of_the_simulator() -> None:
    """Each one is passed on."""
    given: dict[str, Any] = {
        "numerics": "exact",
        "sanitize": False,
        "timed": False,
        "schedule_seed": 3,
        "delay_copies": True,
        "cycle_limit": 12345,
        "leniencies": frozenset({"aliased-cbs"}),
        "max_findings": 4,
    }
    options = CreateDevice(**given).simulated.options
    assert {name: getattr(options, name) for name in given} == given


def test_sharded_buffers_are_sharded() -> None:
    """Interleaved is the word of another configuration."""
    device = CreateDevice(device_id=0)
    spec = ShardSpecBuffer(CoreRange((0, 0)), (32, 32))
    interleaved = TensorMemoryLayout.INTERLEAVED
    with pytest.raises(MetaliumError, match="use InterleavedBufferConfig for the others"):
        CreateBuffer(
            ShardedBufferConfig(
                device=device,
                size=2048,
                page_size=2048,
                buffer_layout=interleaved,
                shard_parameters=spec,
            )
        )


def test_arguments_of_a_kernel_on_a_core() -> None:
    """Those that were set; none on another core."""
    program = CreateProgram()
    both = CoreRange((0, 0), (1, 0))
    text = "void kernel_main() {}"
    kernel = CreateKernelFromString(program, text, both, ReaderDataMovementConfig())
    SetRuntimeArgs(program, kernel, CoreCoord(1, 0), [7, 9])
    assert GetRuntimeArgs(program, kernel, (1, 0)) == [7, 9]
    assert GetRuntimeArgs(program, kernel, (0, 0)) == []


@pytest.mark.parametrize("function", [tilize_nfaces, untilize_nfaces])
def test_matrices_are_made_of_tiles(function: Callable[..., Any]) -> None:
    """Multiples of 32, at least one, and as many elements."""
    for rows, columns in ((0, 32), (32, 0), (31, 32), (32, 48)):
        with pytest.raises(MetaliumError, match="is not made of tiles of 32x32"):
            function(np.zeros(rows * columns), rows, columns)
    with pytest.raises(MetaliumError, match="1024 elements are not a matrix of 32x64"):
        function(np.zeros(1024), 32, 64)
    matrix = np.arange(32 * 64).reshape(32, 64)
    np.testing.assert_array_equal(
        untilize_nfaces(tilize_nfaces(matrix, 32, 64), 32, 64).reshape(32, 64), matrix
    )
    # The first face is the 16x16 corner; the second one the 16 columns to its right.
    faces = np.asarray(tilize_nfaces(matrix, 32, 64)).reshape(8, 16, 16)
    np.testing.assert_array_equal(faces[1], matrix[:16, 16:32])
    np.testing.assert_array_equal(faces[2], matrix[16:, :16])
    np.testing.assert_array_equal(faces[4], matrix[:16, 32:48])
