"""Programs of kernels in `.ttnn` files: written, read and run; what cannot run is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from samples.generic_modules import generic_module, tiled_type
from samples.generic_programs import EXP, EXP_OF_TWO, exp_program

from ttmlir.compiler import write_ttnn
from ttmlir.errors import Error
from ttmlir.layout.enums import DataType
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.program import (
    ComputeConfig,
    ProgramDescription,
    SemaphoreAt,
    SemaphoreDescription,
    TensorAccessorArgs,
)
from ttmlir.runtime import Tensor, open_device, read_binary, submit
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.generic import read_generic
from ttmlir.runtime.tensor import Array
from ttmlir.schema import load_schema

ROOT = Path(__file__).parents[3]
CONTEXT = make_context({"tt": "ttmlir.dialects.tt:TT", "ttnn": "ttmlir.dialects.ttnn:TTNN"})
SHAPE = (5, 70)


def file_of(program: ProgramDescription, type_: str, outputs: int = 1) -> bytes:
    """The file of a function that runs a program."""
    text = generic_module(program, type_, outputs)
    return write_ttnn(parse_module(text, "x.mlir", CONTEXT))


def run(data: bytes, values: Array, numerics: str = "exact") -> list[Array]:
    """The results of the only program of a file."""
    from ttmlir.runtime.session import get_layout, to_host, to_layout

    binary, device = read_binary(data, "x.ttnn"), open_device(numerics=numerics)
    given = to_layout(Tensor.from_numpy(values), device, get_layout(binary, 0, 0))
    return [to_host(each).to_numpy() for each in submit(device, binary, 0, [given])]


NUMBERS = np.random.default_rng(1).uniform(-3, 3, SHAPE).astype(np.float32)


@pytest.mark.parametrize(("numerics", "error"), [("exact", 1e-5), ("device", 3 * 2**-10)])
def test_a_file_holds_all_that_runs(numerics: str, error: float) -> None:
    """Nothing but its bytes is there when it runs; devices cut operands to 11 bits."""
    (result,) = run(file_of(exp_program(3), tiled_type(SHAPE)), NUMBERS, numerics)
    np.testing.assert_allclose(result, np.exp(NUMBERS), rtol=error)


def test_tensors_in_l1_are_found() -> None:
    """Kernels find tensors in any memory by their accessors."""
    (result,) = run(file_of(exp_program(3), tiled_type(SHAPE, space="l1")), NUMBERS)
    np.testing.assert_allclose(result, np.exp(NUMBERS), rtol=1e-5)


def test_a_program_writes_several_tensors() -> None:
    """All outputs get out, in their order."""
    (first, second) = run(file_of(EXP_OF_TWO, tiled_type(SHAPE), outputs=2), NUMBERS)
    np.testing.assert_allclose(first, np.exp(NUMBERS), rtol=1e-5)
    np.testing.assert_allclose(second, np.exp(np.exp(NUMBERS)), rtol=1e-5)


def test_what_is_written_is_read() -> None:
    """The program of the file is the program of the module."""
    binary = read_binary(file_of(EXP_OF_TWO, tiled_type(SHAPE), outputs=2), "x.ttnn")
    operation = binary.programs[0].operations[-1]
    assert read_generic(operation).description == EXP_OF_TWO


def test_flatc_finds_a_mode_for_each_circular_buffer(tmp_path: Path) -> None:
    """All 32 have one, in order, whichever of them the kernel uses."""
    program = exp_program(3)
    config = ComputeConfig(unpack_to_dest_fp32=(1, 16, 31))
    kernels = tuple(
        replace(each, config=config) if isinstance(each.config, ComputeConfig) else each
        for each in program.kernels
    )
    data = file_of(replace(program, kernels=kernels), tiled_type(SHAPE))
    (tmp_path / "file.ttnn").write_bytes(data)
    flatc, schema = str(shutil.which("flatc")), "schema/TTNN/binary.fbs"
    options = ["--json", "--strict-json", "--raw-binary", "--size-prefixed", "-o", str(tmp_path)]
    command = [flatc, *options, schema, "--", str(tmp_path / "file.ttnn")]
    subprocess.run(command, check=True, cwd=ROOT)
    content = json.loads((tmp_path / "file.json").read_text())
    (generic,) = [
        step["type"]
        for step in content["programs"][0]["operations"]
        if step["type_type"] == "GenericOp"
    ]
    (modes,) = [
        kernel["config"]["unpack_to_dest_modes"]
        for kernel in generic["program"]["kernels"]
        if kernel["config_type"] == "ComputeKernelConfig"
    ]
    assert modes == ["Fp32" if index in (1, 16, 31) else "Default" for index in range(32)]


NAMED = """
#include "dataflow_api.h"

void kernel_main() {
    constexpr auto args = TensorAccessorArgs<0>();
    const auto target = TensorAccessor(args, get_common_arg_val<uint32_t>(0), 4096);
    auto numbers = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(0));
    cb_reserve_back(0, 1);
    for (uint32_t i = 0; i < 1024; i++) {
        numbers[i] = get_named_compile_time_arg_val("bits");
    }
    numbers[1] = get_named_compile_time_arg_val("signal");
    for (uint32_t tile = 0; tile < 3; tile++) {
        noc_async_write_tile(tile, target, get_write_ptr(0));
    }
    noc_async_write_barrier();
}
"""


def test_named_arguments_and_numbers_of_semaphores_are_in_the_file() -> None:
    """Kernels get 2.0 by a name, and the number 9 that the semaphore was given."""
    program = exp_program(3, grid=(1, 1))
    cores = program.kernels[0].core_ranges
    writer = replace(
        program.kernels[1],
        source=NAMED,
        compile_time_args=(TensorAccessorArgs(1),),
        named_compile_time_args=(("bits", 0x4000_0000), ("signal", SemaphoreAt(1))),
        runtime_args=(),
    )
    program = replace(
        program,
        kernels=(writer,),
        semaphores=(
            SemaphoreDescription(core_ranges=cores, initial_value=3),
            SemaphoreDescription(core_ranges=cores, id=9),
        ),
    )
    data = file_of(program, tiled_type(SHAPE))
    assert read_generic(read_binary(data, "x.ttnn").programs[0].operations[-1]).description == (
        program
    )
    (result,) = run(data, NUMBERS)
    expected = np.full(SHAPE, 2, np.float32)
    expected[0, [1, 33, 65]] = np.array(9, np.uint32).view(np.float32)
    assert np.array_equal(result.view(np.uint32), expected.view(np.uint32))


def test_memory_of_all_results_counts() -> None:
    """The peak is that of the input and of both outputs."""
    binary = read_binary(file_of(EXP_OF_TWO, tiled_type(SHAPE), outputs=2), "x.ttnn")
    prepared = prepare(binary.programs[0])
    assert sum(prepared.peak_bytes.values()) == 3 * 3 * 4096


FLATC = shutil.which("flatc")
needs_flatc = pytest.mark.skipif(FLATC is None, reason="flatc is not installed")


@needs_flatc
def test_flatc_reads_the_same(tmp_path: Path) -> None:
    """The C++ text and the arguments of the file, by Google's reader."""
    data = file_of(exp_program(3), tiled_type(SHAPE))
    (tmp_path / "file.bin").write_bytes(data)
    options = "--json --strict-json --raw-binary --size-prefixed --defaults-json".split()
    command = [str(FLATC), *options, "-o", str(tmp_path), "schema/TTNN/binary.fbs", "--"]
    subprocess.run([*command, str(tmp_path / "file.bin")], check=True, cwd=ROOT)
    seen = json.loads((tmp_path / "file.json").read_text())
    assert seen == load_schema("TTNN/binary.fbs").read(data).as_dict()
    operation = seen["programs"][0]["operations"][-1]
    assert operation["type_type"] == "GenericOp"
    kernels = operation["type"]["program"]["kernels"]
    assert kernels[2]["source"] == EXP
    assert kernels[0]["config_type"] == "ReaderKernelConfig"
    assert kernels[0]["common_rt_args"]["args"] == [
        {"arg_type": "KernelArgBufferAddressOfTensor", "arg": {"tensor_index": 0}}
    ]
    assert kernels[1]["rt_args"][1] == {
        "core_coord": {"x": 1, "y": 0},
        "args": [
            {"arg_type": "KernelArgScalar", "arg": {"value": 2}},
            {"arg_type": "KernelArgScalar", "arg": {"value": 1}},
        ],
    }


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """The file of the exponential with the table of its operation changed."""
    schema = load_schema("TTNN/binary.fbs")
    root = schema.read(file_of(exp_program(3), tiled_type(SHAPE))).as_dict()
    change(root["programs"][0]["operations"][-1]["type"])
    return schema.pack(root)


def kernel(table: dict[str, Any], index: int = 0) -> dict[str, Any]:
    """A kernel of an operation."""
    return table["program"]["kernels"][index]


WRONG: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("field 'program' is missing", lambda it: it.pop("program")),
    ("writes 0 of 2 tensors", lambda it: it.update(num_outputs=0)),
    ("writes 3 of 2 tensors", lambda it: it.update(num_outputs=3)),
    ("writes 1 of 0 tensors", lambda it: it.update(io_tensors=[])),
    ("about tensor 1, but there are 1", lambda it: it["io_tensors"].pop()),
    (
        "writes a tensor twice",
        lambda it: it.update(num_outputs=2, io_tensors=2 * it["io_tensors"][:1]),
    ),
    ("a program without kernels", lambda it: it["program"].pop("kernels")),
    (
        "kernel 0 is the name of a file; no file of the machine that runs a program is opened",
        lambda it: kernel(it).update(source_type="FILE_PATH", source="/etc/passwd"),
    ),
    (
        "kernel 0: field 'config' is missing",
        lambda it: [kernel(it).pop(name) for name in ("config_type", "config")],
    ),
    ("kernel 'reader' is on no core", lambda it: kernel(it).pop("core_ranges")),
    (
        "has an argument of kind KernelArgBufferAddress; addresses come from tensors",
        lambda it: kernel(it).update(
            common_rt_args={
                "args": [{"arg_type": "KernelArgBufferAddress", "arg": {"address": 64}}]
            }
        ),
    ),
    (
        "kernel 0: an argument says nothing",
        lambda it: kernel(it).update(ct_args={"args": [{}]}),
    ),
    (
        "kernel 0: run-time arguments without a core",
        lambda it: kernel(it)["rt_args"][0].pop("core_coord"),
    ),
    (
        "are on no chip",
        lambda it: kernel(it).update(
            core_ranges={
                "core_ranges": [
                    {"start_coord": {"x": 0, "y": 0}, "end_coord": {"x": 1 << 31, "y": 0}}
                ]
            }
        ),
    ),
    (
        "kernel 'reader' is on more than 4096 cores",
        lambda it: kernel(it).update(
            core_ranges={
                "core_ranges": [
                    {"start_coord": {"x": 0, "y": 0}, "end_coord": {"x": 65535, "y": 65535}}
                ]
            }
        ),
    ),
    (
        "the circular buffers of core (0, 0) reach",
        lambda it: it["program"]["cbs"][0].update(total_size=(1 << 32) - 4096),
    ),
    (
        "circular buffer 77 does not exist",
        lambda it: it["program"]["cbs"][0]["formats"][0].update(buffer_index=77),
    ),
    (
        "kernel 0: an argument says nothing",
        lambda it: kernel(it).update(named_ct_args=[{"name": "x"}]),
    ),
    (
        "semaphore -7 does not exist",
        lambda it: it["program"].update(
            semaphores=[
                {
                    "core_type": "WORKER",
                    "core_ranges": kernel(it)["core_ranges"],
                    "initial_value": 0,
                    "id": -7,
                }
            ]
        ),
    ),
    (
        "semaphore 0 is one of ETH cores",
        lambda it: it["program"].update(semaphores=[{"core_type": "ETH", "initial_value": 0}]),
    ),
]


@pytest.mark.parametrize(("message", "change"), WRONG, ids=[message for message, _ in WRONG])
def test_what_a_file_cannot_mean_is_refused(
    message: str, change: Callable[[dict[str, Any]], object]
) -> None:
    """In words that name the operation, before anything runs or is allocated."""
    with pytest.raises(Error) as caught:
        run(changed(change), NUMBERS)
    assert message in str(caught.value)
    assert "x.ttnn: program 0 'main': operation 2 (GenericOp" in str(caught.value)


def test_kernels_reach_no_other_memory() -> None:
    """An address beyond the tensors is found by the simulator."""
    program = exp_program(3)
    reader = program.kernels[0]
    beyond = replace(reader, runtime_args=(((0, 0), (1000, 2)), ((1, 0), (2, 1))))
    data = file_of(replace(program, kernels=(beyond, *program.kernels[1:])), tiled_type(SHAPE))
    with pytest.raises(Error, match=r"\(GenericOp.*reader.cpp:12:9: error: copies page"):
        run(data, NUMBERS)


def test_kernels_without_text_are_not_written() -> None:
    """The writer names the kernel."""
    program = exp_program(3)
    empty = replace(program.kernels[0], source="")
    program = replace(program, kernels=(empty, *program.kernels[1:]))
    with pytest.raises(Exception, match="kernel 'reader' has no text; give it its C\\+\\+"):
        file_of(program, tiled_type(SHAPE))


def test_tensors_on_the_host_are_refused() -> None:
    """A program finds its tensors on the device."""
    layout = (
        "#tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<5x70xf32, #tt.memory_space<system>>>"
    )
    data = file_of(exp_program(3), f"tensor<5x70xf32, {layout}>")
    with pytest.raises(Error, match=r"operand 0 of ttnn.generic \(tensor 1\) is in host"):
        run(data, NUMBERS)


def test_element_types_of_the_program_and_the_tensors_may_differ_only_knowingly() -> None:
    """A bf16 tensor read as f32 tiles runs past its pages, which the simulator finds."""
    data = file_of(exp_program(3, DataType.F32), tiled_type(SHAPE, "bf16"))
    with pytest.raises(Error, match="GenericOp"):
        run(data, NUMBERS.astype(ml_dtypes.bfloat16))
