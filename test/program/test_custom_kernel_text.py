"""Texts of custom kernels: what is written is read, and nothing else is."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from running.confinement import confined
from samples.generic_programs import exp_program

from ttmlir.layout.enums import DataType, MathFidelity, NocIndex
from ttmlir.program import (
    MAX_LENGTH,
    CircularBufferDescription,
    CircularBufferFormat,
    ComputeConfig,
    CoreRange,
    CustomKernel,
    DataMovementConfig,
    DescriptionError,
    KernelDescription,
    KernelTensor,
    Processor,
    ProgramDescription,
    SemaphoreAt,
    SemaphoreDescription,
    read_custom_kernel,
    write_custom_kernel,
)

EXP = CustomKernel(
    name="exp",
    tensors=(
        KernelTensor(name="x", role="in", shape=(5, 70), element="f32"),
        KernelTensor(name="y", role="out", shape=(5, 70), element="f32"),
    ),
    program=exp_program(3),
)

_RANGES = (CoreRange((0, 0), (0, 3)), CoreRange((2, 1), (2, 1)))

EVERYTHING = CustomKernel(
    name='all "kinds"',
    tensors=(
        KernelTensor(name="a", role="in", shape=(), element="bf16", memory="l1"),
        KernelTensor(name="b", role="out", shape=(3,), element="ui16", layout="row_major"),
        KernelTensor(name="c", role="out", shape=(1, 2, 3), element="i32"),
    ),
    program=ProgramDescription(
        kernels=(
            KernelDescription(
                name="mover",
                source="void kernel_main() { /* \u00e9 */ }\n",
                config=DataMovementConfig(Processor.RISCV_1, NocIndex.NOC1),
                core_ranges=_RANGES,
                compile_time_args=(SemaphoreAt(0), 7),
                named_compile_time_args=(("first", 3), ("signal", SemaphoreAt(0))),
                runtime_args=(((0, 2), (0xFFFF_FFFF,)), ((2, 1), ())),
                defines=(("WIDTH", "3"), ("FLAG", "")),
            ),
            KernelDescription(
                name="maths",
                source="namespace NAMESPACE { void MAIN {} }",
                config=ComputeConfig(
                    math_fidelity=MathFidelity.LOFI,
                    fp32_dest_acc_en=True,
                    dst_full_sync_en=True,
                    math_approx_mode=True,
                    bfp8_pack_precise=True,
                    unpack_to_dest_fp32=(0, 31),
                ),
                core_ranges=_RANGES,
            ),
        ),
        circular_buffers=(
            CircularBufferDescription(
                total_size=4096,
                core_ranges=_RANGES,
                formats=(
                    CircularBufferFormat(3, DataType.BFP_BF8, 1024),
                    CircularBufferFormat(4, DataType.U16, 2048),
                ),
                tensor=0,
            ),
        ),
        semaphores=(SemaphoreDescription(core_ranges=_RANGES, initial_value=9, id=4),),
    ),
)


@pytest.mark.parametrize("kernel", [EXP, EVERYTHING], ids=["exp", "everything"])
def test_what_is_written_is_read(kernel: CustomKernel) -> None:
    """Nothing is lost."""
    assert read_custom_kernel(write_custom_kernel(kernel)) == kernel


def test_the_form_is_that_of_the_guide() -> None:
    """Names and forms of fields, written by hand."""
    content = json.loads(write_custom_kernel(EVERYTHING))
    assert content["version"] == 1
    assert content["tensors"][1] == {
        "name": "b",
        "role": "out",
        "shape": [3],
        "dtype": "ui16",
        "layout": "row_major",
        "memory": "dram",
    }
    mover, maths = content["kernels"]
    assert mover == {
        "name": "mover",
        "source": "void kernel_main() { /* \u00e9 */ }\n",
        "config": {"kind": "data_movement", "processor": 1, "noc": "noc1"},
        "cores": [[0, 0, 0, 3], [2, 1, 2, 1]],
        "compile_time_args": [{"semaphore": 0}, 7],
        "runtime_args": [[[0, 2], [4294967295]], [[2, 1], []]],
        "common_runtime_args": [],
        "defines": [["WIDTH", "3"], ["FLAG", ""]],
        "named_compile_time_args": [["first", 3], ["signal", {"semaphore": 0}]],
    }
    assert "named_compile_time_args" not in maths
    assert maths["config"] == {
        "kind": "compute",
        "math_fidelity": "lofi",
        "fp32_dest_acc_en": True,
        "dst_full_sync_en": True,
        "math_approx_mode": True,
        "bfp8_pack_precise": True,
        "unpack_to_dest_fp32": [0, 31],
    }
    assert content["circular_buffers"][0]["formats"][1] == {
        "index": 4,
        "data_type": "u16",
        "page_size": 2048,
    }
    assert content["circular_buffers"][0]["tensor"] == 0
    cores = [[0, 0, 0, 3], [2, 1, 2, 1]]
    assert content["semaphores"] == [{"cores": cores, "initial_value": 9, "id": 4}]


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    """The text of the exponential with something changed."""
    content = json.loads(write_custom_kernel(EXP))
    change(content)
    return json.dumps(content)


WRONG: list[tuple[str, str]] = [
    ("", "the text is no JSON: Expecting value"),
    ("[]", "the text is []; expected a table"),
    ('{"version": 1, "version": 1}', "the text is no JSON: an object has a field twice"),
    ("[" * 100_000, "the text is nested too deeply"),
    ("9" * 5000, "the text is no JSON: Exceeds the limit"),
    ("{}", "version is missing"),
    (" " * (MAX_LENGTH + 1), "the text has 16777217 characters; at most 16777216 are taken"),
    (changed(lambda it: it.update(version=2)), "version is 2; this reader knows 1"),
    (changed(lambda it: it.update(version=True)), "version is True; this reader knows 1"),
    (changed(lambda it: it.pop("kernels")), "kernels is missing"),
    (changed(lambda it: it.update(x=1)), "'x' is not known; known are version, name, tensors"),
    (changed(lambda it: it.update(name=3)), "name is 3; expected a text"),
    (changed(lambda it: it.update(tensors={})), "tensors is {}; expected a list"),
    (
        changed(lambda it: it["tensors"][0].update(shape=[5, -70])),
        "tensors[0].shape[1] is -70; expected an integer of 32 bits",
    ),
    (
        changed(lambda it: it["tensors"][0].update(shape=[5, 0])),
        "tensor 'x': the shape [5, 0] is not supported; kernels take tensors with elements",
    ),
    (
        changed(lambda it: it["tensors"][0].update(dtype="f64")),
        "tensor 'x': the element type 'f64' is not supported; supported are f32, bf16",
    ),
    (
        changed(lambda it: it["tensors"][0].update(role="inout")),
        "tensor 'x': the role 'inout' is not supported; supported are in, out",
    ),
    (
        changed(lambda it: it["tensors"].reverse()),
        "tensors that it reads come before those that it makes",
    ),
    (
        changed(lambda it: it["tensors"].pop()),
        "makes no tensor; give it at least one of role 'out'",
    ),
    (
        changed(lambda it: it["tensors"].pop(0)),
        "an argument of kernel 'writer' is about tensor 1, but there are 1",
    ),
    (
        changed(lambda it: it["kernels"][2].update(config={"kind": "ethernet"})),
        "kernels[2].config.kind is 'ethernet'; expected one of reader, writer, data_movement",
    ),
    (
        changed(lambda it: it["kernels"][2]["config"].update(math_fidelity="high")),
        "kernels[2].config.math_fidelity is 'high'; expected one of lofi, hifi2",
    ),
    (
        changed(lambda it: it["kernels"][2]["config"].update(fp32_dest_acc_en=1)),
        "kernels[2].config.fp32_dest_acc_en is 1; expected true or false",
    ),
    (
        changed(
            lambda it: it["kernels"][0].update(
                config={"kind": "data_movement", "processor": 2, "noc": "noc0"}
            )
        ),
        "kernels[0].config.processor is 2; expected 0 or 1",
    ),
    (
        changed(lambda it: it["kernels"][0].update(cores=[[0, 0, 1]])),
        "kernels[0].cores[0] has 3 numbers; expected 4",
    ),
    (
        changed(lambda it: it["kernels"][0].update(compile_time_args=[{"address": 1}])),
        "kernels[0].compile_time_args[0] is {'address': 1}; expected a number, or one of",
    ),
    (
        changed(lambda it: it["kernels"][0].update(runtime_args=[[[0, 0]]])),
        "kernels[0].runtime_args[0] is no pair of a core and its arguments",
    ),
    (
        changed(lambda it: it["kernels"][0].update(named_compile_time_args=[["A"]])),
        "kernels[0].named_compile_time_args[0] is no pair of a name and an argument",
    ),
    (
        changed(lambda it: it["kernels"][0].update(defines=[["A"]])),
        "kernels[0].defines[0] is no pair of a name and its text",
    ),
    (
        changed(lambda it: it["circular_buffers"][0]["formats"][0].update(data_type="f8")),
        "circular_buffers[0].formats[0].data_type is 'f8'; expected one of f32",
    ),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_wrong_is_said_with_its_place(text: str, message: str) -> None:
    """The message names the field, and what is expected there."""
    with pytest.raises(DescriptionError) as caught:
        read_custom_kernel(text)
    assert message in str(caught.value)


def test_kernels_on_too_many_cores_take_little_memory() -> None:
    """2000 kernels, each on 4096 cores: none of them is built after the fourth."""

    def repeat(content: dict[str, Any]) -> None:
        kernel = content["kernels"][0] | {"cores": [[0, 0, 63, 63]], "runtime_args": []}
        content["kernels"] = [kernel] * 2000

    text = changed(repeat)
    with confined(megabytes=100, cpu_seconds=10), pytest.raises(DescriptionError) as caught:
        read_custom_kernel(text)
    assert "kernels are on more cores than there can be" in str(caught.value)


def places(content: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a value in JSON, as its container and key."""
    keys = content.keys() if isinstance(content, dict) else range(len(content))
    for key in list(keys):
        yield content, key
        if isinstance(content[key], dict | list):
            yield from places(content[key])


ODD: tuple[Any, ...] = (None, -1, 1 << 40, 1.5, True, "x", [], {}, [[]], {"semaphore": 5})


def test_any_odd_value_anywhere_is_refused_or_means_something() -> None:
    """No other exception than DescriptionError, whatever stands in a field."""
    original = json.loads(write_custom_kernel(EVERYTHING))
    count = len(list(places(original)))
    refused = 0
    for number in range(count):
        for odd in ODD:
            content = copy.deepcopy(original)
            container, key = list(places(content))[number]
            container[key] = odd
            try:
                read_custom_kernel(json.dumps(content))
            except DescriptionError:
                refused += 1
    assert refused > count * len(ODD) // 2


def test_differing_types_are_named() -> None:
    """Operands and results are compared with the tensors of the kernel."""
    fits = ["tensor<5x70xf32>"]
    assert EXP.difference(fits, fits) is None
    assert EXP.difference([], fits) == "has 0 operands, but the kernel 'exp' is for 1"
    assert EXP.difference(fits, ["tensor<70x5xf32>"]) == (
        "result #0 is tensor<70x5xf32>, but 'y' of the kernel 'exp' is tensor<5x70xf32>"
    )
