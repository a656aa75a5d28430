"""What is assumed where the host says nothing: the defaults of tt-metal's headers.

Sources: tt-metal, tt_metal/api/tt-metalium/buffer.hpp and kernel_types.hpp; those of the simulator
are documented in docs/metalium.md.
"""

from __future__ import annotations

import inspect

from ttmlir.metalium import (
    NOC,
    BufferType,
    ComputeConfig,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    CreateDevice,
    DataMovementConfig,
    DataMovementProcessor,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    InterleavedBufferConfig,
    MathFidelity,
    ReaderDataMovementConfig,
    ShardedBufferConfig,
    ShardOrientation,
    ShardSpecBuffer,
    TensorMemoryLayout,
    WriterDataMovementConfig,
)


def test_buffers() -> None:
    """Interleaved ones are in DRAM, sharded ones in L1, in rows of tiles."""
    device = CreateDevice(0)
    interleaved = InterleavedBufferConfig(device=device, size=64, page_size=32)
    assert interleaved.buffer_type is BufferType.DRAM
    spec = ShardSpecBuffer(CoreRange((0, 0), (0, 0)), (32, 32))
    assert spec.shard_orientation is ShardOrientation.ROW_MAJOR
    assert (spec.page_shape, spec.tensor2d_shape) == ((32, 32), (1, 1))
    sharded = ShardedBufferConfig(device=device, size=64, page_size=32, shard_parameters=spec)
    assert sharded.buffer_type is BufferType.L1
    assert sharded.buffer_layout is TensorMemoryLayout.HEIGHT_SHARDED


def test_data_movement() -> None:
    """The first processor on the first network; readers and writers are on one of their own."""
    assert (NOC.RISCV_0_default, NOC.RISCV_1_default, NOC.NOC_0, NOC.NOC_1) == (0, 1, 0, 1)
    for config, processor, noc in (
        (DataMovementConfig(), DataMovementProcessor.RISCV_0, NOC.NOC_0),
        (ReaderDataMovementConfig(), DataMovementProcessor.RISCV_1, NOC.NOC_0),
        (WriterDataMovementConfig(), DataMovementProcessor.RISCV_0, NOC.NOC_1),
    ):
        assert (config.processor, config.noc) == (processor, noc)
        assert (list(config.compile_args), dict(config.defines)) == ([], {})


def test_compute() -> None:
    """All phases of the matrix unit, DST of 16 bits and in halves, exact functions."""
    config = ComputeConfig()
    assert config.math_fidelity is MathFidelity.HiFi4
    assert not config.fp32_dest_acc_en
    assert not config.dst_full_sync_en
    assert not config.math_approx_mode
    assert list(config.unpack_to_dest_mode) == []
    assert (list(config.compile_args), dict(config.defines)) == ([], {})


def test_devices_and_queues() -> None:
    """A checked, timed n150 with the roundings of the chip; only programs do not block."""
    simulated = CreateDevice().simulated
    assert simulated.chip.name == "n150"
    options = simulated.options
    assert (options.numerics, options.sanitize, options.timed) == ("device", True, True)
    assert (options.schedule_seed, options.delay_copies) == (None, False)
    assert (options.cycle_limit, options.leniencies) == (100_000_000, frozenset())
    assert options.max_findings == 1
    for call, blocks in (
        *((EnqueueWriteBuffer, True), (EnqueueReadBuffer, True), (EnqueueProgram, False)),
    ):
        assert inspect.signature(call).parameters["blocking"].default is blocks


def test_cores() -> None:
    """A range of one core, and no ranges."""
    assert CoreRange((2, 3)).end_coord == CoreCoord(2, 3)
    assert list(CoreRangeSet()) == []
