"""Programs on memrefs as commands of `.ttm` files: what the file says, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from samples.metal_examples import EXAMPLES, HAND_OVER
from samples.metal_programs import (
    HostFunction,
    compute,
    ct,
    host_layout,
    kernel,
    make_module,
    noc,
    on_device,
    on_host,
)

from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.schema.versions import load
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

MOVE = kernel("move", HAND_OVER % (1, 1))
COMPUTE = kernel(
    "compute",
    '#include "compute_kernel_api/common.h"\nnamespace NAMESPACE {\nvoid MAIN {\n'
    "  cb_wait_front(tt::CBIndex::c_0, 1);\n}\n}\n",
)
L1 = on_device((1, 2), (1, 1))


def commands(name: str) -> list[dict[str, Any]]:
    """The commands of an example's file, each with the name of its table."""
    data = ttmetal_to_flatbuffer(EXAMPLES[name]().module)
    root = load(data, "x.ttm").root.as_dict(defaults=False)
    [queue] = root["programs"][0]["device_programs"][0]["command_queues"]
    return [each.get("type", {}) | {"table": each["type_type"]} for each in queue["commands"]]


def test_buffers_say_where_their_shards_are() -> None:
    """In L1 on cores, behind each other if there are several; in DRAM in pages."""
    created = [c["ref"] for c in commands("streamed_add") if c["table"] == "CreateBufferCommand"]
    in_dram, pairs = created[0], created[3]
    assert (in_dram["address"], in_dram["size"]) == (0x10000, 24 * 2048)
    assert in_dram["buffer"] == {"grid": [1, 1, 1], "page_size": 2048}
    assert in_dram["desc"]["shape"] == [3, 64, 128]
    memory = in_dram["desc"]["layout"]["memory_desc"]
    assert memory["shape"] == [3, 2, 4]
    assert memory["memory_layout"] == "Interleaved"
    assert (pairs["address"], pairs["size"]) == (0x4000, 2 * 2048)
    assert pairs["buffer"] == {"grid": [2, 4], "num_buffers": 2}
    assert pairs["desc"]["layout"]["memory_desc"]["shape"] == [1, 1]
    assert pairs["desc"]["layout"]["core_range_set"] == [
        {"loc": {"y": 0, "x": 0}, "size": {"y": 2, "x": 4}}
    ]


def test_shards_of_dram_are_pages() -> None:
    """A shard lies in one bank."""
    main = HostFunction()
    main.create("x", on_device((2, 3), (1, 2), space="dram"), 0x8000)
    data = ttmetal_to_flatbuffer(make_module(main))
    root = load(data, "x.ttm").root.as_dict(defaults=False)
    [queue] = root["programs"][0]["device_programs"][0]["command_queues"]
    ref = queue["commands"][0]["type"]["ref"]
    assert ref["buffer"] == {"grid": [2, 3], "page_size": 2 * 4096}
    assert ref["size"] == 6 * 2 * 4096
    assert ref["desc"]["layout"]["memory_desc"]["shape"] == [2, 6]


def test_rows_fill_whole_pages_of_circular_buffers() -> None:
    """A shard of 32x160 numbers of f32 is 20480 bytes, which are five pages as they are."""
    refs = [c["ref"] for c in commands("tilize_and_back") if c["table"] == "CreateBufferCommand"]
    assert [ref["size"] for ref in refs] == [20480, 20480, 20480]
    main = HostFunction()
    main.create("x", on_device((1, 1), (33, 40), tiled=False, buffers=2), 0x8000)
    root = load(ttmetal_to_flatbuffer(make_module(main)), "x.ttm").root
    [queue] = root.programs[0].device_programs[0].command_queues
    # 33 * 40 * 4 bytes are more than one page of 4096, so each of two buffers has two.
    assert queue.commands[0].type.ref.size == 2 * 2 * 4096


def test_programs_describe_kernels() -> None:
    """Circular buffers on operands and on storages, semaphores, arguments by what they mean."""
    [program] = [c for c in commands("multicast_matmul") if c["table"] == "EnqueueProgramCommand"]
    assert [ref["global_id"] for ref in program["operands"]] == [3, 4, 5]
    assert [ref["global_id"] for ref in program["storages"]] == [6, 7]
    descriptor = program["descriptor"]
    assert [
        (cb["formats"][0].get("buffer_index", 0), cb["buffer"].get("tensor_operand_index", 0))
        for cb in descriptor["cbs"]
    ] == [(0, 3), (1, 4), (16, 2)]
    assert [cb["total_size"] for cb in descriptor["cbs"]] == [2 * 2 * 4096, 2 * 4096, 2 * 4096]
    assert len(descriptor["semaphores"]) == 4
    rows, columns, multiply = descriptor["kernels"]
    assert [kernel["name"] for kernel in descriptor["kernels"]] == ["rows", "columns", "multiply"]
    assert [each["arg_type"] for each in columns["ct_args"]["args"]] == [
        "KernelArgBufferAddressOfTensor",
        "KernelArgSemaphoreAt",
        "KernelArgSemaphoreAt",
    ]
    assert [each["arg"] for each in columns["ct_args"]["args"]] == [
        {"tensor_index": 1},
        {"semaphore_index": 2},
        {"semaphore_index": 3},
    ]
    assert (rows["config_type"], columns["config_type"]) == (
        "ReaderKernelConfig",
        "WriterKernelConfig",
    )
    assert multiply["config"]["fp32_dest_acc_en"]


def test_arguments_of_each_run_and_unpacking() -> None:
    """`rt_args` go to every core; modes of unpacking are by the number of a circular buffer."""
    main = HostFunction()
    main.create("x", L1, 0x8000)
    run_args = "ct_args = [<cb_port[1]>], rt_args = [<buffer_address[0]>, <cb_port[0]>]"
    kernels = [noc("move", run_args, "0x0, 1x2"), compute("compute", modes="default, fp32")]
    main.create("y", L1, 0x10000)
    main.run(("x",), ("x", "y"), (0, 7), kernels)
    root = load(ttmetal_to_flatbuffer(make_module(main, MOVE, COMPUTE)), "x.ttm").root.as_dict()
    [queue] = root["programs"][0]["device_programs"][0]["command_queues"]
    move, computing = queue["commands"][2]["type"]["descriptor"]["kernels"]
    assert move["ct_args"]["args"][0]["arg"] == {"buffer_index": 7}
    assert [each["core_coord"] for each in move["rt_args"]] == [{"x": 0, "y": 0}, {"x": 1, "y": 0}]
    assert [each["arg"] for each in move["rt_args"][1]["args"]] == [
        {"tensor_index": 0},
        {"buffer_index": 0},
    ]
    assert computing["config"]["unpack_to_dest_modes"][:3] == ["Default", "Fp32", "Default"]


def test_a_kernel_of_several_programs_stands_in_the_file_once() -> None:
    """Its text, not its arguments."""
    data = ttmetal_to_flatbuffer(EXAMPLES["tilize_and_back"]().module)
    assert data.count(b"cb_reserve_back(v1") == 1
    assert len([c for c in commands("tilize_and_back") if "descriptor" in c]) == 2


def _with_create(type_: str) -> Callable[[HostFunction], None]:
    return lambda main: main.create("x", type_, 0x8000)


def _program(*kernels: str, reference: str = "") -> Callable[[HostFunction], None]:
    def add(main: HostFunction) -> None:
        main.create("x", L1, 0x8000)
        main.run(("x",), ("x",), (0,), kernels, reference)

    return add


def _transfer(host: str, device: str) -> Callable[[HostFunction], None]:
    def add(main: HostFunction) -> None:
        main.argument("a", host)
        main.create("x", device, 0x8000)
        main.write("a", "x")

    return add


def _reference(text: str) -> Callable[[HostFunction], None]:
    return _program(noc("move"), reference=text)


_ROW = '{mnemonic = "exp", operands = [0], type = tensor<32x64xf32>}'

REFUSED: dict[str, tuple[Callable[[HostFunction], None], str]] = {
    "gaps": (
        _with_create(L1.replace("4096x4096", "8192x4096")),
        "has gaps in its shards; supported are the byte strides 4096x4096",
    ),
    "too_many_cores": (
        _with_create(on_device((13, 5), (1, 1))),
        "a grid of 13x5 has 65 cores; the chip has 64, in 8 rows and 8 columns",
    ),
    "buffers_in_dram": (
        _with_create(on_device((1, 1), (1, 1), space="dram", buffers=2)),
        "has several buffers in dram; supported are those in l1",
    ),
    "no_layout": (
        _with_create("memref<32x32xf32, #ttcore.memory_space<l1>>"),
        "says no location on the device; buffers have the layout #ttcore.shard or "
        "#ttcore.interleaved",
    ),
    "on_host": (_with_create("memref<32x32xf32>"), "its memref is not in dram or l1"),
    "unknown_kernel": (
        _program(noc("missing")),
        "runs kernel @missing, which is not in the module",
    ),
    "wrong_thread": (
        _program(noc("compute")),
        "runs kernel @compute as one of thread noc, but the function's 'ttkernel.thread' is tensix",
    ),
    "port": (
        _program(noc("move", ct("cb_port[1]"))),
        "has a kernel with circular buffer 1 among its arguments, but the program has 1; they are "
        "numbered from 0",
    ),
    "address": (
        _program(noc("move", ct("buffer_address[3]"))),
        "has a kernel with buffer 3 among its arguments, but the program has 1",
    ),
    "no_cores": (
        _program(noc("move", cores="0x0, 0x2")),
        "runs kernel @move on no rectangle of cores",
    ),
    "volumes": (
        _transfer(on_host((30, 60)), L1),
        "copies a host buffer of 1800 elements to or from one of 2048 on the device; give the "
        "host's memref the padding by #ttcore.host_layout",
    ),
    "elements": (
        _transfer(on_host((32, 64), "bf16"), L1),
        "copies bf16 to f32; a transfer moves bytes: convert the numbers with a kernel, or on the "
        "host",
    ),
    "way": (
        _transfer(L1, L1),
        "copies from the host to the device, but its memrefs are elsewhere",
    ),
    "reference_value": (
        _reference(f"{{rows = [{_ROW}], outputs = [{{buffer = 0, value = 2}}]}}"),
        "'ttmetal.reference' uses value 2 where there are 2",
    ),
    "reference_later_value": (
        _reference(
            "{rows = [" + _ROW.replace("[0]", "[1]") + "], outputs = [{buffer = 0, value = 1}]}"
        ),
        "'ttmetal.reference' uses value 1 where there are 1",
    ),
    "reference_buffer": (
        _reference(f"{{rows = [{_ROW}], outputs = [{{buffer = 1, value = 1}}]}}"),
        "'ttmetal.reference' writes buffer 1; the program has 1",
    ),
    "reference_without_outputs": (
        _reference(f"{{rows = [{_ROW}]}}"),
        "'ttmetal.reference' has no outputs",
    ),
    "reference_without_type": (
        _reference("{outputs = [{buffer = 0, value = 0}]}"),
        "'ttmetal.reference' has an output without layout or type; give it one of them",
    ),
    "reference_key": (
        _reference("{operations = [], outputs = [{buffer = 0, value = 0}]}"),
        "'ttmetal.reference' has 'operations'; known are rows, outputs",
    ),
    "reference_row": (
        _reference('{rows = [{mnemonic = "exp"}], outputs = []}'),
        "'ttmetal.reference' has an operation without mnemonic, operands and type of a tensor",
    ),
    "reference_parameter": (
        _reference(
            "{rows = ["
            + _ROW.replace("type", "parameters = {x = unit}, type")
            + "], outputs = [{buffer = 0, value = 1}]}"
        ),
        "'ttmetal.reference' has parameter 'x' of form 'unit'; supported are numbers, lists of "
        "integers, and texts",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_file_holds_is_refused(name: str) -> None:
    """With the place of the operation."""
    add, message = REFUSED[name]
    main = HostFunction()
    add(main)
    with pytest.raises(DiagnosticError, match=re.escape(message)) as caught:
        ttmetal_to_flatbuffer(make_module(main, MOVE, COMPUTE))
    assert re.match(r"x\.mlir:\d+:\d+: error: ", str(caught.value))


def test_kernels_use_circular_buffers_of_their_program() -> None:
    """A kernel that names port 0 in a program that has port 5."""
    main = HostFunction()
    main.create("x", L1, 0x8000)
    main.run(("x",), ("x",), (5,), [noc("move")])
    message = r"runs kernel @move, which uses circular buffer 0; the program has \[5\]"
    with pytest.raises(DiagnosticError, match=message):
        ttmetal_to_flatbuffer(make_module(main, MOVE))


def test_circular_buffers_are_in_l1() -> None:
    """One in DRAM."""
    main = HostFunction()
    main.create("x", on_device((1, 1), (1, 1), space="dram"), 0x8000)
    main.run(("x",), ("x",), (0,), [noc("move")])
    with pytest.raises(DiagnosticError, match=r"has circular buffer 0 on .* no buffer in l1"):
        ttmetal_to_flatbuffer(make_module(main, MOVE))


def test_other_operations_are_refused() -> None:
    """What the host's program cannot do."""
    text = """func.func @main(%a: memref<4xf32>) {
  %b = memref.alloc() : memref<4xf32>
  "ttmetal.finish"() : () -> ()
  "memref.copy"(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}"""
    message = "a program on memrefs has operations of ttmetal, and 'memref.alloc'"
    with pytest.raises(DiagnosticError, match=re.escape(message)):
        ttmetal_to_flatbuffer(make_module(text))


def test_hosts_may_have_constants() -> None:
    """The elements of a global are those of its tensor."""
    layout = host_layout((2, 3), (32, 1), 1024)
    text = f""""memref.global"() <{{sym_name = "k", type = memref<2x3xf32, {layout}>, constant,
    initial_value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>,
    sym_visibility = "private"}}> : () -> ()
func.func @main() -> memref<2x3xf32, {layout}> {{
  %0 = "memref.get_global"() <{{name = @k}}> : () -> memref<2x3xf32, {layout}>
  return %0 : memref<2x3xf32, {layout}>
}}"""
    root = load(ttmetal_to_flatbuffer(make_module(text)), "x.ttm").root
    [output] = root.programs[0].outputs
    assert bytes(output.desc.constant_data)[:8] == b"\x00\x00\x80\x3f\x00\x00\x00\x40"
    assert list(output.desc.layout.stride) == [32, 1]
