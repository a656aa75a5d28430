"""Arguments that C++ would refuse, or that do not go together, are named where they stand."""

from __future__ import annotations

import pytest
from cores.compute_core import Recorder, call
from cores.tile_bytes import core_of, eighths

from ttmlir.layout.enums import DataType
from ttmlir.metalium import (
    CircularBufferConfig,
    ComputeConfig,
    CoreCoord,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    EnqueueProgram,
    ReaderDataMovementConfig,
)
from ttmlir.sim.errors import SimError

CORE = CoreCoord(0, 0)
TENSOR = (
    "InterleavedAddrGenFast<true> t = "
    "{.bank_base_address = 1024, .page_size = 2048, .data_format = DataFormat::Float16_b};\n"
)


def refusal(body: str, *, compute: bool = False) -> str:
    """What stops a kernel on a core with circular buffers 0 and 16 of two tiles."""
    device, program = CreateDevice(0), CreateProgram()
    for index in (0, 16):
        config = CircularBufferConfig(4096, {index: DataFormat.Float16_b})
        CreateCircularBuffer(program, CORE, config.set_page_size(index, 2048))
    kernel = f"void {'MAIN' if compute else 'kernel_main()'} {{\n{body}\n}}"
    text = f"namespace NAMESPACE {{\n{kernel}\n}}" if compute else kernel
    config = ComputeConfig() if compute else ReaderDataMovementConfig([])
    CreateKernelFromString(program, text, CORE, config)
    with pytest.raises(SimError) as raised:
        EnqueueProgram(device.command_queue(), program)
    return str(raised.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            "noc_async_read_tile(t, 0, get_write_ptr(0));",
            "3:21: error: the call takes a number here, not 'InterleavedAddrGenFast'",
        ),
        (
            "noc_async_read_tile(0, get_write_ptr(0), t);",
            "3:24: error: the call takes an address generator or accessor here, not 'uint32_t'",
        ),
        ("noc_async_write_tile(0, 5, 0);", "address generator or accessor here"),
        ("cb_push_back(t, 1);", "the call takes a number here"),
    ],
)
def test_address_generators_and_numbers_are_told_apart(call: str, message: str) -> None:
    """In every place of a call."""
    assert message in refusal(TENSOR + call)


@pytest.mark.parametrize(
    ("page_size", "data_format", "size"),
    [(2048, 0, "has 4096 bytes"), (4096, 5, "has 2048 bytes"), (2048, 10, "no size that is known")],
)
def test_tiles_are_found_by_the_size_of_their_format(
    page_size: int, data_format: int, size: str
) -> None:
    """A page size that is not that of a tile of the format."""
    text = refusal(f"InterleavedAddrGenFast<true> t = {{1024, {page_size}, {data_format}}};")
    assert f"with pages of {page_size} bytes, but a tile of data_format {data_format}" in text
    assert size in text


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("mm_block_init", (0, 1, 16)),
        ("mm_block_init_short", (0, 1)),
        ("mm_block_init_short_with_dt", (0, 1, 0)),
    ],
)
def test_blocks_are_multiplied_as_they_were_prepared(name: str, before: tuple[int, ...]) -> None:
    """The units are set up for the extents of blocks, at first or again."""
    watch = Recorder()
    core = core_of((eighths(1), DataType.BF16), (eighths(2), DataType.BF16), watch=watch)
    core.run(
        [
            *(call("mm_block_init", 0, 1, 16, 0, 1, 1, 3), call(name, *before, 0, 2, 1, 1)),
            call("tile_regs_acquire"),
            *(call("matmul_block", 0, 1, 0, 0, 0, 0, 1, 1, 3), call("tile_regs_commit")),
        ]
    )
    messages = [each.message for each in watch.findings if each.rule == "init"]
    assert messages == [
        "matmul_block of ct_dim 1, rt_dim 1, kt_dim 3, but the units are prepared for 2, 1, 1; "
        "call mm_block_init with the same"
    ]


def test_buffers_of_a_preparation_exist() -> None:
    """Names circular buffers that are there."""
    text = refusal(
        "binary_op_init_common(0, 0, 16);\nadd_tiles_init(0, 7);",
        compute=True,
    )
    assert "circular buffer 7" in text
