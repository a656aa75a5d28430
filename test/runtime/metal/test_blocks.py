"""What files may ask for of buffers in blocks, of described kernels and of references."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from samples.metal_examples import EXAMPLES
from samples.metal_programs import HostFunction, make_module, on_device, on_host

from ttmlir.errors import Error
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalProgram
from ttmlir.runtime.metal_session import MetalGolden, Session, execute
from ttmlir.schema import load_schema
from ttmlir.schema.versions import load
from ttmlir.sim.machine.memory import Memory
from ttmlir.sim.options import SimOptions
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

Fields = dict[str, Any]
OPTIONS = SimOptions(timed=False)


@cache
def _bytes(name: str) -> bytes:
    return ttmetal_to_flatbuffer(EXAMPLES[name]().module)


def run(name: str, change: Callable[[list[Fields], Fields], None]) -> None:
    """Run an example after a change of its commands, with golden results; `change` also gets the
    only program's command."""
    root = load(_bytes(name), "x.ttm").root.as_dict()
    [queue] = root["programs"][0]["device_programs"][0]["command_queues"]
    commands: list[Fields] = queue["commands"]
    change(commands, next(c["type"] for c in commands if c["type_type"].startswith("EnqueueP")))
    binary = read_binary(load_schema("TTMetal/binary.fbs").pack(root), "x.ttm")
    [program] = binary.programs
    assert isinstance(program, MetalProgram)
    inputs = [np.ones(ref.desc.shape, np.float32) for ref in program.inputs]
    execute(program, inputs, OPTIONS, observer=MetalGolden(program, list(inputs)))


def buffer(commands: list[Fields], number: int) -> Fields:
    """The `TensorRef` that the command of this number creates, one object for all its uses."""
    created = [c["type"]["ref"] for c in commands if c["type_type"] == "CreateBufferCommand"]
    return created[number]


def in_buffer(number: int, **fields: Any) -> Callable[[list[Fields], Fields], None]:
    """Change fields of a buffer where it is created."""

    def change(commands: list[Fields], program: Fields) -> None:
        table = buffer(commands, number)
        for name, value in fields.items():
            target = table["buffer"] if name in table["buffer"] else table
            target[name] = value

    return change


def in_descriptor(change: Callable[[Fields], Any]) -> Callable[[list[Fields], Fields], None]:
    """Change the description of the kernels."""
    return lambda commands, program: change(program["descriptor"])


def in_row(number: int, **fields: Any) -> Callable[[list[Fields], Fields], None]:
    """Change a row of the reference."""
    return lambda commands, program: program["reference"]["rows"][number].update(fields)


def in_output(**fields: Any) -> Callable[[list[Fields], Fields], None]:
    """Change the output of the reference."""
    return lambda commands, program: program["reference"]["outputs"][0].update(fields)


def parameter(**fields: Any) -> Callable[[list[Fields], Fields], None]:
    """Change the first parameter of the first row of the reference."""
    return lambda commands, program: program["reference"]["rows"][0]["parameters"][0].update(fields)


def host_strides(commands: list[Fields], program: Fields) -> None:
    """Let the rows of the input overlap the end of its buffer."""
    write = next(c["type"] for c in commands if c["type_type"] == "EnqueueWriteBufferCommand")
    write["src"]["desc"]["layout"]["stride"] = [200, 1]


def beyond_the_chip(commands: list[Fields], program: Fields) -> None:
    """Put the first buffer on 200 rows of cores."""
    ref = buffer(commands, 0)
    ref["buffer"] = ref["buffer"] | {"grid": [200, 3]}
    cores = {"loc": {"y": 0, "x": 0}, "size": {"y": 200, "x": 3}}
    layout = ref["desc"]["layout"] | {"core_range_set": [cores]}
    ref["desc"] = ref["desc"] | {"shape": [64 * 200, 96], "layout": layout}


CORES = {"start_coord": {"x": 0, "y": 0}, "end_coord": {"x": 0, "y": 5}}

REFUSED: dict[str, tuple[str, Callable[[list[Fields], Fields], None], str]] = {
    "grid": (
        "exp_on_shards",
        in_buffer(0, grid=[2]),
        "is divided by a grid of [2] and has shards of [2, 1]; both have the same number",
    ),
    "grid_of_none": ("exp_on_shards", in_buffer(0, grid=[2, 0]), "is divided by a grid of [2, 0]"),
    "shape": (
        "exp_on_shards",
        in_buffer(0, grid=[3, 3]),
        "has the shape [128, 96], but its shards have [192, 96] numbers side by side",
    ),
    "outside_of_the_chip": (
        "exp_on_shards",
        beyond_the_chip,
        "a grid of 200x3 has 600 cores; the chip has 64, in 8 rows and 8 columns",
    ),
    "small": (
        "exp_on_shards",
        in_buffer(0, size=8191),
        "has 8191 bytes on each core; 1 buffers of its shards take 8192",
    ),
    "many_buffers": (
        "streamed_add",
        in_buffer(3, num_buffers=3),
        "has 4096 bytes on each core; 3 buffers of its shards take 6144",
    ),
    "reserved_l1": ("exp_on_shards", in_buffer(0, address=512), "outside of what buffers may take"),
    "overlap": ("exp_on_shards", in_buffer(1, address=0x5000), "overlap the buffer at 0x4000"),
    "end_of_l1": ("exp_on_shards", in_buffer(1, address=1499136), "outside of what buffers may"),
    "alignment": (
        "exp_on_shards",
        in_buffer(0, address=0x4008),
        "is at address 16392; addresses in l1 are multiples of 16",
    ),
    "dram_pages": (
        "streamed_add",
        in_buffer(0, page_size=2047),
        "49152 bytes are not made of pages of 2047",
    ),
    "dram_page_of_nothing": (
        "streamed_add",
        in_buffer(0, page_size=0),
        "49152 bytes are not made of pages of 0",
    ),
    "dram_size": (
        "streamed_add",
        in_buffer(0, size=2048),
        "has 2048 bytes and 1 buffers in dram; its shards take 49152",
    ),
    "dram_grid": (
        "streamed_add",
        in_buffer(0, grid=[1, 1, 3]),
        "a grid of [1, 1, 3] does not divide [3, 2, 4]",
    ),
    "made_twice": (
        "exp_on_shards",
        lambda commands, program: commands.insert(1, commands[0]),
        "is made twice",
    ),
    "not_made": (
        "exp_on_shards",
        lambda commands, program: commands.pop(0) and None,
        "has no buffer on the device",
    ),
    "host_strides": (
        "exp_on_shards",
        host_strides,
        "a tensor of shape [100, 70] with the strides [200, 1] is not within 12288 elements",
    ),
    "no_tensor": (
        "exp_on_shards",
        in_descriptor(lambda d: d["cbs"][0]["buffer"].update(tensor_operand_index=2)),
        "circular buffer 0 is about tensor 2, but there are 2",
    ),
    "cb_number": (
        "exp_on_shards",
        in_descriptor(lambda d: d["cbs"][0]["formats"][0].update(buffer_index=32)),
        "circular buffer 32 does not exist; they are numbered 0 to 31",
    ),
    "cb_pages": (
        "exp_on_shards",
        in_descriptor(lambda d: d["cbs"][0]["formats"][0].update(page_size=3000)),
        "8192 bytes are not made of pages of 3000",
    ),
    "cb_beyond_its_buffer": (
        "exp_on_shards",
        in_descriptor(lambda d: d["cbs"][0].update(total_size=3 * 4096)),
        "circular buffer 0 takes 12288 bytes from 0 on of a buffer that has 8192 bytes",
    ),
    "cb_beyond_its_cores": (
        "exp_on_shards",
        in_descriptor(lambda d: d["cbs"][0]["core_range"].update(core_ranges=[CORES])),
        "circular buffer 0 is on core (0, 2), but tensor 0 has no shard there",
    ),
    "cb_in_dram": (
        "streamed_add",
        in_descriptor(lambda d: d["cbs"][0]["buffer"].update(tensor_operand_index=0)),
        "circular buffer 0 is on tensor 0, which is interleaved",
    ),
    "semaphores": (
        "multicast_matmul",
        in_descriptor(lambda d: d["semaphores"].extend(d["semaphores"] * 4)),
        "no semaphore is left: a core has 16",
    ),
    "semaphore_number": (
        "multicast_matmul",
        in_descriptor(lambda d: d["semaphores"].pop()),
        "is semaphore 3, but the program has 3",
    ),
    "kernel_cores": (
        "exp_on_shards",
        in_descriptor(lambda d: d["kernels"][0]["core_ranges"].update(core_ranges=[])),
        "kernel 'hand_over' is on no core",
    ),
    "reference_mnemonic": (
        "sums_of_rows",
        in_row(0, mnemonic="nothing"),
        "there is no reference for the operation 'nothing'",
    ),
    "reference_operand": (
        "sums_of_rows",
        in_row(0, operands=[{"index": 2}]),
        "the reference uses a value that is not there before operation 0",
    ),
    "reference_type": (
        "sums_of_rows",
        in_row(0, element_type="None"),
        "the reference does not say the element type of operation 0",
    ),
    "reference_shape": (
        "sums_of_rows",
        in_row(0, shape=[70, 2]),
        "sum on operands of shape 70x150 makes 70x1, but its output is 70x2",
    ),
    "reference_size": (
        "sums_of_rows",
        in_row(0, shape=[1 << 30, 1 << 30]),
        "which no tensor has",
    ),
    "reference_memory": (
        "sums_of_rows",
        lambda commands, program: program["reference"]["rows"][0].update(
            mnemonic="exp", operands=[{"index": 0}], parameters=[], shape=[1 << 18, 1 << 18]
        ),
        "the values of its reference take 549755",
    ),
    "reference_parameter": (
        "sums_of_rows",
        parameter(name="dims"),
        "the reference gives 'sum' the parameter 'dims'; it has keep_dim, dim_arg",
    ),
    "reference_number": (
        "sums_of_rows",
        lambda commands, program: program["reference"]["rows"][0]["parameters"][1].update(
            numbers=[]
        ),
        "the reference has a parameter 'keep_dim' that is no bool",
    ),
    "reference_infinity": (
        "sums_of_rows",
        parameter(numbers=[float("inf")]),
        "the reference has a parameter 'dim_arg' that is no i32 array",
    ),
    "reference_output": (
        "sums_of_rows",
        in_output(value=4),
        "the reference has an output that is not there",
    ),
    "reference_strides": (
        "sums_of_rows",
        in_output(stride=[64, 1]),
        "a tensor of shape [70, 1] with the strides [64, 1] is not within 3072 elements",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_impossible_files_are_refused(name: str) -> None:
    """In words that name the file."""
    example, change, message = REFUSED[name]
    with pytest.raises(Error, match=re.escape(message)) as caught:
        run(example, change)
    assert "x.ttm" in str(caught.value)


@pytest.mark.parametrize("name", ["exp_on_shards", "sums_of_rows"])
def test_unchanged_files_run(name: str) -> None:
    """What is changed above is sound before."""
    run(name, lambda commands, program: None)


def test_programs_without_a_reference_have_no_golden_results() -> None:
    """The calls of kernels of one's own say nothing."""
    message = "the file does not say what its kernels compute"
    with pytest.raises(Error, match=message):
        run("exp_on_shards", lambda commands, program: program.pop("reference"))


def moved(type_: str, shape: tuple[int, ...], element: str = "f32") -> tuple[Session, np.ndarray]:
    """A device on which 0, 1, 2, ... lie in a buffer at 0x10000, and what the host reads back."""
    main = HostFunction()
    main.argument("a", on_host(shape, element))
    main.create("x", type_, 0x10000)
    main.write("a", "x")
    main.read("x", "r", on_host(shape, element))
    [program] = read_binary(ttmetal_to_flatbuffer(make_module(main)), "x.ttm").programs
    assert isinstance(program, MetalProgram)
    session = Session(program, SimOptions())
    numbers = np.arange(np.prod(shape)).reshape(shape)
    values = numbers.astype(program.inputs[0].desc.element.compute)
    session.give(program.input_tensors[0], values)
    for command in program.commands:
        session.carry_out(command)
    [output] = program.output_tensors
    result = session.value(output, "x.ttm")
    np.testing.assert_array_equal(np.asarray(result), values)
    return session, result


def words(memory: Memory, address: int, dtype: str) -> list[float]:
    """Two numbers of a memory."""
    return [float(each) for each in np.frombuffer(memory.read(address, 8), dtype)[:2]]


def test_rows_of_shards_are_on_cores() -> None:
    """64x96 numbers on 2x3 cores: core (2, 1) has the block that begins in row 32, column 64."""
    session, _ = moved(on_device((2, 3), (32, 32), tiled=False), (64, 96))
    first = 32 * 96 + 64
    memory = session.device.core(2, 1).l1
    assert words(memory, 0x10000, "<f4") == [first, first + 1]
    # The second row of the block.
    assert words(memory, 0x10000 + 32 * 4, "<f4") == [first + 96, first + 97]


@pytest.mark.parametrize("grid", [(1, 20), (4, 5, 1), (2, 2, 5)])
def test_grids_beyond_the_chip_count_cores(grid: tuple[int, ...]) -> None:
    """Row by row over 8x8 cores: shard 19 is on core (3, 2)."""
    session, _ = moved(on_device(grid, (1,) * len(grid), "f32"), (640 * 32,))
    memory = session.device.core(3, 2).l1
    shard = np.zeros(grid)
    shard.flat[19] = 1
    rows, columns = grid[-2] * 32, grid[-1] * 32
    *outer, y, x = np.argwhere(shard)[0]
    first = (int(np.ravel_multi_index(outer, grid[:-2])) if outer else 0) * rows * columns
    first += int(y) * 32 * columns + int(x) * 32
    assert words(memory, 0x10000, "<f4") == [first, first + 1]


def test_tiles_of_shards_are_in_faces() -> None:
    """A shard of 2x1 tiles: row 32 is in its second tile, column 16 in the second face."""
    session, _ = moved(on_device((1, 2), (2, 1)), (64, 64))
    memory = session.device.core(1, 0).l1
    assert words(memory, 0x10000, "<f4") == [32, 33]
    assert words(memory, 0x10000 + 256 * 4, "<f4") == [48, 49]
    assert words(memory, 0x10000 + 4096, "<f4") == [32 * 64 + 32, 32 * 64 + 33]


def test_shards_in_dram_go_round_the_banks() -> None:
    """15 shards of two tiles in 12 banks: shard 13, of row 2 and column 3, is second in bank 1."""
    session, _ = moved(on_device((3, 5), (1, 2), space="dram"), (96, 320))
    banks = session.device.network.dram
    assert len(banks) == 12
    first = 64 * 320 + 3 * 64
    assert words(banks[1].memory, 0x10000 + 2 * 4096, "<f4") == [first, first + 1]


def test_pages_of_tiles_go_round_the_banks() -> None:
    """Of 2x64x224 numbers, tile (1, 0, 3) is page 17, second in bank 5."""
    session, _ = moved(
        on_device((1, 1, 1), (2, 2, 7), space="dram", interleaved=True), (2, 64, 224)
    )
    first = 64 * 224 + 3 * 32
    memory = session.device.network.dram[5].memory
    assert words(memory, 0x10000 + 4096, "<f4") == [first, first + 1]


def test_pages_of_rows_go_round_the_banks() -> None:
    """Row 14 of 30x40 numbers is second in bank 2; rows of 160 bytes need no padding."""
    session, _ = moved(
        on_device((1, 1), (30, 40), tiled=False, space="dram", interleaved=True), (30, 40)
    )
    memory = session.device.network.dram[2].memory
    assert words(memory, 0x10000 + 160, "<f4") == [14 * 40, 14 * 40 + 1]


@pytest.mark.parametrize(
    ("element", "stored", "dtype"),
    [("i32", "si32", "<i4"), ("i32", "u32", "<u4"), ("f16", "f16", "<f2"), ("i8", "u8", "<u1")],
)
def test_numbers_of_any_format_are_moved(element: str, stored: str, dtype: str) -> None:
    """As the tiles of the device store them."""
    shape = (32, 32) if element != "i8" else (32, 4)
    tiled = element != "i8"
    type_ = on_device((1, 1), (1, 1) if tiled else shape, stored if tiled else element, tiled=tiled)
    session, _ = moved(type_, shape, element)
    assert words(session.device.core(0, 0).l1, 0x10000, dtype) == [0, 1]


def test_weights_are_packed_on_their_way() -> None:
    """bf16 of the host to tiles of block floats, 64 equal numbers each."""
    tile = "!ttcore.tile<32x32, bfp_bf8>"
    type_ = f"memref<1x1x1x1x{tile}, #ttcore.shard<1088x1088>, #ttcore.memory_space<l1>>"
    main = HostFunction()
    main.argument("a", on_host((32, 32), "bf16"))
    main.create("x", type_, 0x10000)
    main.write("a", "x")
    main.read("x", "r", on_host((32, 32), "bf16"))
    [program] = read_binary(ttmetal_to_flatbuffer(make_module(main)), "x.ttm").programs
    assert isinstance(program, MetalProgram)
    values = np.full((32, 32), 1.5, np.float32)
    [result] = execute(program, [values], SimOptions()).outputs
    np.testing.assert_array_equal(np.asarray(result, np.float32), values)
