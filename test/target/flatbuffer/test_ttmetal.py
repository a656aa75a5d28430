"""The writer of `.ttm` files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ttmlir.compiler import compile_to_ttm, lower, write_ttm
from ttmlir.dialects import DIALECTS, tt
from ttmlir.layout.system import default_system_desc
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.printing import attribute_text
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import execute
from ttmlir.schema.versions import load
from ttmlir.sim.options import SimOptions

GOLDEN = Path(__file__).parents[2] / "golden"
LOWERED = sorted((Path(__file__).parent / "Inputs").glob("*.mlir"))
CONTEXT = make_context(DIALECTS)
SYSTEM = tt.SystemDescAttr(default_system_desc())
DEVICE = tt.DeviceAttr.from_system_desc(SYSTEM)
ADD = """
#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @main(%a: tensor<96x160xf32>, %b: tensor<96x160xf32>) -> tensor<96x160xf32> {
  %0 = tensor.empty() : tensor<96x160xf32>
  %1 = "ttir.add"(%a, %b, %0) <{operandSegmentSizes = array<i32: 2, 1>,
      operand_constraints = [#any, #any, #any]}>
      : (tensor<96x160xf32>, tensor<96x160xf32>, tensor<96x160xf32>) -> tensor<96x160xf32>
  return %1 : tensor<96x160xf32>
}
"""


def module_text(*functions: str) -> str:
    """A module with the default system and these functions, the first of them on line 3."""
    attributes = f"attributes {{tt.device = #device, tt.system_desc = {attribute_text(SYSTEM)}}}"
    lines = [f"#device = {attribute_text(DEVICE)}", f"module {attributes} {{", *functions, "}"]
    return "\n".join(lines)


def tensor(shape: str, space: str, element: str = "f32") -> str:
    """The type of a two-dimensional tensor on one core, not tiled."""
    layout = f"(d0, d1) -> (d0, d1), undef, <1x1>, memref<{shape}x{element}, "
    return f"tensor<{shape}x{element}, #tt.layout<{layout}#tt.memory_space<{space}>>>>"


HOST, L1 = tensor("3x5", "system"), tensor("3x5", "l1")


def function(arguments: str, *body: str, attributes: str = "") -> str:
    """A function `main`, its body from the line after its own on."""
    return "\n".join([f"func.func @main({arguments}) {attributes} {{", *body, "return", "}"])


def alloc(name: str = "%m", address: int = 4096) -> str:
    """Memory in L1."""
    return (
        f'{name} = "ttmetal.alloc"() <{{address = {address} : i64, size = 60 : i64, '
        f"memory_space = #tt.memory_space<l1>}}> : () -> {L1}"
    )


def kernel(buffers: str, *body: str, ranges: str = "<0x0, 1x1>") -> str:
    """A dispatch of one data movement kernel from %m to %n."""
    listed = ", ".join(f"#ttmetal.core_range{each}" for each in ranges.split(";"))
    return "\n".join(
        [
            f'%r = "ttmetal.dispatch"(%m, %n) <{{core_ranges = [{listed}], kernelConfigs = '
            "[#ttkernel.noc_config<noc1>], operandSegmentSizes = array<i32: 1, 1>}> ({",
            f"^bb0({buffers}):",
            *body,
            '"ttkernel.return"() : () -> ()',
            f"}}) : ({L1}, {L1}) -> {L1}",
        ]
    )


def write(text: str) -> dict[str, Any]:
    """What the file of a module holds."""
    loaded = load(write_ttm(parse_module(text, "x.mlir", CONTEXT)), "x.ttm")
    assert loaded.warning is None
    return loaded.root.as_dict(defaults=False)


def commands(text: str) -> list[dict[str, Any]]:
    """The commands of a module's first function, each with the name of its table."""
    program = write(text)["programs"][0]
    [queue] = program["device_programs"][0]["command_queues"]
    return [each["type"] | {"table": each["type_type"]} for each in queue["commands"]]


@pytest.mark.parametrize("path", LOWERED, ids=lambda path: path.stem)
def test_files_equal_those_of_tt_mlir(path: Path) -> None:
    """Everything, kernels and lines of operations included, but for what is ours alone."""
    text = path.read_text()
    golden_path = GOLDEN / f"{path.stem}.ttm"
    golden = load(golden_path.read_bytes(), golden_path.name).root.as_dict()
    ours = load(write_ttm(parse_module(text, "x.mlir", CONTEXT)), "x.ttm").root.as_dict()
    assert ours.pop("producer").startswith("ttmlir-py ")
    for program in ours["programs"]:
        assert program.pop("debug_info")["mlir"] == {
            "name": "ttmetal",
            "source": text.rstrip() + "\n",
        }
    assert ours == golden


def test_pipeline_to_file() -> None:
    """From ttir to a file: each allocation has an address, and kernels are on the operands."""
    root = load(compile_to_ttm(ADD), "x.ttm").root
    [program] = root.programs
    assert [tensor.desc.shape for tensor in program.inputs] == [(96, 160), (96, 160)]
    # What the host reads and writes lies where the commands put it.
    [queue] = program.device_programs[0].command_queues
    made = {c.type.ref.global_id for c in queue.commands if c.type_type == "CreateBufferCommand"}
    assert program.outputs[0].global_id in made
    for command in queue.commands:
        if command.type_type != "EnqueueProgramCommand":
            continue
        for description in command.type.program.kernels:
            for buffer in description.cbs:
                assert buffer.address == buffer.tensor_ref.address


def test_a_model_computes_what_numpy_computes() -> None:
    """From text to a file to the cores of the simulator and back."""
    model = Path(__file__).parents[2] / "models" / "eltwise.mlir"
    pipeline = "ttir-to-ttmetal-backend-pipeline{fp32-dest-acc-en=true}"
    binary = read_binary(compile_to_ttm(model.read_text(), pipeline), "eltwise.ttm")
    assert isinstance(binary, MetalBinary)
    rng = np.random.default_rng(5)
    gate, x, residual, bias = rng.standard_normal((4, 96, 160), np.float32)
    # Kernels on buffers that stay in place do without synchronisation.
    leniencies = frozenset({"aliased-cbs", "pop-unfilled"})
    options = SimOptions(numerics="exact", timed=False, leniencies=leniencies)
    [output] = execute(binary.metal_programs[0], [gate, x, residual, bias], options).outputs
    expected = x / (1 + np.exp(-gate)) + np.maximum(residual - bias, 0)
    np.testing.assert_allclose(np.asarray(output), expected, rtol=1e-5, atol=1e-6)


def test_the_source_of_a_program_is_in_its_file() -> None:
    """The file holds the module that it was made from."""
    module = lower(ADD, "ttir-to-ttmetal-backend-pipeline")
    root = load(write_ttm(module), "x.ttm").root
    again = parse_module(root.programs[0].debug_info.mlir.source, "x.mlir", CONTEXT)
    assert print_module(again) == print_module(module)
    assert root.programs[0].debug_info.mlir.name == "ttmetal"


def test_constants_are_written_from_the_host() -> None:
    """A constant is a tensor of the host with elements; reading back goes to one without."""
    numbers = np.arange(15, dtype=np.float32).reshape(3, 5) * 0.5 - 1
    body = (
        f"%c = arith.constant dense<{numbers.tolist()}> : {HOST}",
        alloc(),
        f'%w = "ttmetal.host_write"(%c, %m) : ({HOST}, {L1}) -> {L1}',
        f"%h = tensor.empty() : {HOST}",
        f'%b = "ttmetal.host_read"(%w, %h) : ({L1}, {HOST}) -> {HOST}',
    )
    created, written, read = commands(module_text(function("", *body)))
    assert [c["table"] for c in (created, written, read)] == [
        "CreateBufferCommand",
        "EnqueueWriteBufferCommand",
        "EnqueueReadBufferCommand",
    ]
    assert bytes(written["src"]["desc"]["constant_data"]) == numbers.tobytes()
    assert written["dst"] == created["ref"] == read["src"]
    assert "constant_data" not in read["dst"]["desc"]
    assert read["dst"]["desc"]["layout"]["memory_desc"].get("memory_space", "System") == "System"


def test_buffers_beyond_the_operands_have_no_tensor() -> None:
    """Argument j of a kernel stands for operand j; others are memory of the kernel alone."""
    buffers = ", ".join(
        f"%{name}: !ttkernel.cb<{port}, {address}, memref<1x2x!tt.tile<32x32, bf16>>, 2048, {n}>"
        for name, port, address, n in (
            ("x", "cb_in0", 4096, 1),
            ("y", "cb_out0", 8192, 1),
            ("z", "cb_int1", 16384, 3),
        )
    )
    text = module_text(function("", alloc(), alloc("%n", 8192), kernel(buffers)))
    *_, dispatch = commands(text)
    [described] = dispatch["program"]["kernels"]
    assert described["kernel"]["config_type"] == "NocConfig"
    assert described["kernel"]["config"] == {"noc_index": "Noc1"}
    on_input, on_output, alone = described["cbs"]
    assert on_input["tensor_ref"] == dispatch["operands"][0]
    assert on_output["tensor_ref"] == dispatch["operands"][1]
    assert "tensor_ref" not in alone
    assert alone["address"] == 16384
    assert alone["desc"] == {
        "port": 25,
        "page_size": 2048,
        "num_buffers": 3,
        "memory_desc": {
            "shape": [1, 2],
            "tile_shape": {"y": 32, "x": 32},
            "data_type": "BFloat16",
            "memory_space": "DeviceL1",
            "size": 2 * 32 * 32 * 2,
        },
    }


REFUSALS = [
    (
        module_text(function("")).replace("tt.system_desc =", "other ="),
        "x.mlir:2:1: error: 'builtin.module' op has no attribute 'tt.system_desc' with the system "
        "to run on; add it with --ttir-load-system-desc",
    ),
    (
        module_text(function("")).replace("tt.device =", "other ="),
        "x.mlir:3:1: error: 'func.func' op has no attribute 'tt.device' around it with the device "
        "to run on; add it with --ttir-implicit-device, or lower the module with "
        "--ttir-to-ttmetal-backend-pipeline",
    ),
    (
        module_text(function(f"%a: {L1}")),
        "x.mlir:3:1: error: 'func.func' op has no attribute 'tt.arg_alloc' with the addresses of "
        "its arguments; add it with --ttir-allocate, or lower the module with "
        "--ttir-to-ttmetal-backend-pipeline",
    ),
    (
        module_text(function(f"%a: {L1}", attributes="attributes {tt.arg_alloc = []}")),
        "has 0 addresses in 'tt.arg_alloc' for 1 arguments",
    ),
    (
        module_text(
            function(
                f"%a: {L1}",
                attributes="attributes {tt.arg_alloc = [#tt.arg_alloc<32, 60, dram>]}",
            )
        ),
        "has argument #0 in dram by its 'tt.arg_alloc', but not by its layout",
    ),
    (
        module_text(function("", "%e = tensor.empty() : tensor<3x5xf32>")),
        "x.mlir:4:6: error: 'tensor.empty' op cannot be written to a .ttm file: type "
        "'tensor<3x5xf32>' has no layout; .ttm files hold tensors with a #tt.layout, which "
        "--ttir-to-ttmetal-backend-pipeline gives them",
    ),
    (
        module_text(function("", f"%e = tensor.empty() : {L1}")),
        "x.mlir:4:6: error: 'tensor.empty' op cannot be written to a .ttm file on the device; make "
        "it on the host and copy it with 'ttmetal.host_write', or allocate memory with "
        "'ttmetal.alloc'",
    ),
    (
        module_text(
            function(
                "",
                alloc(),
                f'%0 = "ttir.to_layout"(%m, %m) : ({L1}, {L1}) -> {L1}',
            )
        ),
        "x.mlir:5:6: error: 'ttir.to_layout' op cannot be written to a .ttm file, which holds "
        "'ttmetal' operations only; lower the module with --ttir-to-ttmetal-backend-pipeline first",
    ),
    (
        module_text(function("", '"ttkernel.tile_regs_wait"() : () -> ()')),
        "x.mlir:4:1: error: 'ttkernel.tile_regs_wait' op cannot be written to a .ttm file, which "
        "holds 'ttmetal' operations only; lower the module with "
        "--ttir-to-ttmetal-backend-pipeline first",
    ),
    (
        module_text(
            function(
                "",
                alloc(),
                alloc("%n"),
                kernel("", ranges="<0x0, 1x1>;<1x0, 1x1>"),
            )
        ),
        "x.mlir:6:6: error: 'ttmetal.dispatch' op has 1 kernels, 2 core_ranges and 1 "
        "kernelConfigs; give one of each per kernel",
    ),
    (
        module_text(
            function(
                "",
                alloc(),
                alloc("%n"),
                kernel("", '"ttkernel.pack_set_data_type"() <{data_type = 0 : i32}> : () -> ()'),
            )
        ),
        "x.mlir:8:1: error: 'ttkernel.pack_set_data_type' op has no form in C++",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSALS, ids=lambda value: value[-48:])
def test_refusals(text: str, message: str) -> None:
    """What no file can hold is refused at its place, with what to do."""
    with pytest.raises(DiagnosticError) as error:
        write_ttm(parse_module(text, "x.mlir", CONTEXT))
    assert message in str(error.value)
