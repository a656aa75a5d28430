"""What files may ask for of buffers in blocks, of described kernels and of references."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from samples.metal_examples import EXAMPLES

from ttmlir.runtime import RuntimeFailure, read_binary
from ttmlir.runtime.metal.golden import MetalGolden
from ttmlir.runtime.metal.program import MetalProgram
from ttmlir.runtime.metal.session import execute
from ttmlir.schema import load_schema
from ttmlir.schema.versions import load
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
    "outside_of_the_chip": ("exp_on_shards", beyond_the_chip, "core (0, 8)"),
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
        "the reference uses a value that is not there before row 0",
    ),
    "reference_type": (
        "sums_of_rows",
        in_row(0, element_type="None"),
        "the reference does not say the element type of row 0",
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
    with pytest.raises(RuntimeFailure, match=re.escape(message)) as caught:
        run(example, change)
    assert "x.ttm" in str(caught.value)


@pytest.mark.parametrize("name", ["exp_on_shards", "sums_of_rows"])
def test_unchanged_files_run(name: str) -> None:
    """What is changed above is sound before."""
    run(name, lambda commands, program: None)


def test_programs_without_a_reference_have_no_golden_results() -> None:
    """The calls of kernels of one's own say nothing."""
    message = "the file does not say what its kernels compute"
    with pytest.raises(RuntimeFailure, match=message):
        run("exp_on_shards", lambda commands, program: program.pop("reference"))
