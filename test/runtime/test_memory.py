"""What a program's tensors take of DRAM and L1, against calculations by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from samples.ttnn_program import ProgramBuilder, Ref

import ttmlir
from ttmlir.layout.system import board
from ttmlir.runtime import BinaryError, BinaryProgram, read_binary
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.memory import memory_lines, program_memory

CHIP = board("default").chip(0)


def load(b: ProgramBuilder, **root: Any) -> BinaryProgram:
    """The program as the runtime reads it."""
    return read_binary(b.pack(**root), "net.ttnn").program(0)


def sharded(b: ProgramBuilder, shape: tuple[int, int], cores: tuple[int, int]) -> Ref:
    """Memory in L1 for tiles of bf16, in shards from core (0, 0) on."""
    ref = b.ref(shape, "bf16", "DeviceL1", tiled=True, memory_layout="BlockSharded")
    layout = ref["desc"]["layout"]
    layout["core_range_set"] = [((0, 0), cores)]
    rows, columns = (-(-extent // 32) for extent in shape)
    layout["memory_desc"]["shape"] = [-(-rows // cores[0]), -(-columns // cores[1])]
    b.op("EmptyOp", device=b.device, out=ref)
    return ref


def test_pages_go_round_the_channels() -> None:
    """33x70 numbers of f32 are 2x3 tiles of 4096 bytes: one in each of six of twelve channels."""
    b = ProgramBuilder()
    x = b.to_device(b.input((33, 70)))
    b.output(b.eltwise("Abs", [x]))
    memory = program_memory(load(b), CHIP)
    # get_device, to_layout on the host, to_device, the result's memory, abs, back to the host
    assert memory.dram.by_operation == (0, 0, 4096, 8192, 8192, 8192)
    assert (memory.dram.peak, memory.dram.peak_operation) == (8192, 3)
    assert memory.dram.capacity == (1 << 30) - 1024
    assert [each.name for each in memory.dram.largest] == ["ToDeviceOp", "EmptyOp"]
    assert memory.l1.peak == 0
    assert memory.fits


def test_thirteen_pages_take_two_of_every_channel() -> None:
    """All channels set aside as much as the first one needs."""
    b = ProgramBuilder()
    b.output(b.to_device(b.input((13 * 32, 32), "bf16")))
    assert program_memory(load(b), CHIP).dram.peak == 2 * 2048


def test_deallocated_tensors_are_gone_afterwards() -> None:
    """While the operation runs they are still there."""
    b = ProgramBuilder()
    x = b.to_device(b.input((32, 32)))
    y = b.eltwise("Abs", [x])
    b.op("DeallocOp", **{"in": x})
    b.output(b.eltwise("Exp", [y]))
    levels = program_memory(load(b), CHIP).dram.by_operation
    assert levels == (0, 0, 4096, 8192, 8192, 8192, 8192, 8192, 8192)


def test_shards_count_on_their_cores() -> None:
    """8 tiles on 2x2 cores and 16 on 2x4 are 2 for each; the first four cores have both."""
    b = ProgramBuilder()
    b.inputs.append(sharded(b, (64, 128), (2, 2)))
    sharded(b, (64, 256), (2, 4))
    memory = program_memory(load(b), CHIP)
    assert memory.l1.peak == (2 + 2) * 2048
    assert memory.l1.capacity == 1464 * 1024 - 1024


def too_large() -> BinaryProgram:
    """Two tensors of 6 GiB each, on 12 channels of 1 GiB."""
    b = ProgramBuilder()
    first = b.empty((3 << 10, 1 << 19))
    second = b.compute(
        "EltwiseOp",
        (3 << 10, 1 << 19),
        type="Abs",
        ins=[first],
        debug_info='"ttnn.abs" loc("big.py":7:1)',
    )
    b.output(second, on_device=True)
    return load(b)


def test_what_does_not_fit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operation, what it needs, and what to do; the runtime refuses it with the same words."""
    program = too_large()
    memory = program_memory(program, CHIP)
    assert memory.first_overflow is not None
    assert memory.first_overflow.startswith("net.ttnn: program 0 'forward': operation 2 (EmptyOp")
    assert "each of 12 channels of DRAM would be in use" in memory.first_overflow
    assert "1,073,740,800 are there" in memory.first_overflow
    assert "deallocate tensors earlier" in memory.first_overflow
    monkeypatch.setenv("TTMLIR_MEMORY_GIB", "1000")
    with pytest.raises(BinaryError, match="does not fit"):
        prepare(program)
    assert memory_lines(memory)[-1].startswith("does not fit: net.ttnn")


def test_l1_overflows_on_the_fullest_core() -> None:
    """720 tiles of bf16 on a core are 1,474,560 bytes; another one does not fit beside them."""
    b = ProgramBuilder()
    sharded(b, (720 * 32, 32), (1, 1))
    assert program_memory(load(b), CHIP).fits
    sharded(b, (32 * 32, 32), (1, 1))
    problem = program_memory(load(b), CHIP).first_overflow
    assert problem is not None
    assert "the L1 of a core would be in use" in problem
    assert "divide it over more cores" in problem
    assert program_memory(load(b), replace(CHIP, l1_size=1 << 21)).fits


def test_lines_for_people() -> None:
    """Peaks, where they are reached, and the largest buffers."""
    b = ProgramBuilder()
    b.output(b.eltwise("Abs", [b.to_device(b.input((33, 70)))]))
    dram, first, second, l1 = memory_lines(program_memory(load(b), CHIP))
    assert dram == (
        "dram: peak of 8,192 bytes per channel, 0.00076 % of 1,073,740,800, at operation 3 "
        "(EmptyOp)"
    )
    assert first.startswith("  4,096 bytes per channel: 33x70xf32, f32 tiles 32x32, dram")
    assert second.endswith("of operation 3 (EmptyOp)")
    assert l1 == "l1: nothing"


@pytest.mark.parametrize(
    ("shape", "levels"),
    [((64, 32), (0, 0, 4096, 4096, 4096, 8192)), ((48, 40), (0, 0, 4096, 8192, 8192, 8192))],
)
def test_views_take_nothing(shape: tuple[int, int], levels: tuple[int, ...]) -> None:
    """A reshape that keeps whole tiles is one; what it is of stays until the view goes, too."""
    b = ProgramBuilder()
    x = b.to_device(b.input((2, 32, 32) if shape == (64, 32) else (40, 48)))
    y = b.ref(shape, "f32", "DeviceDRAM", tiled=True, memory_layout="Interleaved")
    b.op("ReshapeOp", **{"in": x}, out=y, shape=[*shape])
    b.op("DeallocOp", **{"in": x})
    b.output(b.eltwise("Abs", [y]))
    assert program_memory(load(b), CHIP).dram.by_operation[: len(levels)] == levels


def test_prepared_weights_are_there_once() -> None:
    """A matrix of 64x96; the definition's 96x64x1x1 would be 6144 tiles with one number each."""
    compiled = ttmlir.compile(
        """
        func.func @main(%image: tensor<1x3x3x64xf32>) -> tensor<1x3x3x96xf32> {
          %weight = stablehlo.constant dense<0.5> : tensor<1x1x64x96xf32>
          %0 = stablehlo.convolution(%image, %weight)
            dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
            {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
            : (tensor<1x3x3x64xf32>, tensor<1x1x64x96xf32>) -> tensor<1x3x3x96xf32>
          return %0 : tensor<1x3x3x96xf32>
        }
        """
    )
    program = compiled.binary.program(0)
    assert any("prepare_conv2d_weights" in each.debug_info for each in program.operations)
    memory = program_memory(program, board("p150").chip(0))
    assert memory.fits
    assert memory.dram.peak < 1 << 17
