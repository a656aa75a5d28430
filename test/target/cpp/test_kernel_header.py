"""The header that declares every call: a compiler takes it, and one use of each definition against
it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from cores.kernel_operations import operand_types, operation
from running.ir_text import parse

from ttmlir.cpp.include_path import kernel_header
from ttmlir.optable.kernel import CALLS, Form, KernelCall, Template, TemplateKind, ValueKind
from ttmlir.optable.kernel.kernel_call import ENUMS
from ttmlir.target.cpp.from_ttkernel import write_kernels

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "metalium" / "kernels").glob("*.cpp"))
COMPILER = shutil.which("g++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++")

ARGUMENTS = {
    ValueKind.CB: "tt::CBIndex::c_1",
    ValueKind.I32: "(int32_t)3",
    ValueKind.NOC_ADDR: "(int64_t)5",
    ValueKind.ADDRESS: "4096u",
    ValueKind.SEMAPHORE: "get_semaphore(0)",
    ValueKind.L1_PTR: "pointer",
    ValueKind.DATA_FORMAT: "DataFormat::Float16_b",
    ValueKind.ADDR_GEN: "generator",
    ValueKind.ACCESSOR: "accessor",
    ValueKind.ACCESSOR_ARGS: "args",
    ValueKind.BOOL: "true",
    ValueKind.F32: "1.5f",
}
START = """
void kernel_main() {
  volatile tt_l1_ptr uint32_t* pointer = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(4096u);
  const InterleavedAddrGenFast<true> generator = {
      .bank_base_address = 32, .page_size = 2048, .data_format = DataFormat::Bfp8_b};
  constexpr auto args = TensorAccessorArgs<0>();
  constexpr auto more = TensorAccessorArgs<args.next_compile_time_args_offset()>();
  const auto accessor = TensorAccessor(args, 64u, get_tile_size(tt::CBIndex::c_0));
"""


def compiled(text: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """What the compiler says of a kernel."""
    header = tmp_path / "calls.h"
    header.write_text(kernel_header())
    command = [str(COMPILER), "-std=c++20", "-fsyntax-only", "-Wall", "-Wno-unused"]
    command += ["-Wno-int-to-pointer-cast", "-x", "c++", "-include", str(header), "-"]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=False)


def without_includes(text: str) -> str:
    """A kernel without the headers of tt-metal, in whose place ours stands."""
    return re.sub(r'^#include ".*"$', "", text, flags=re.MULTILINE)


def template_argument(template: Template) -> str:
    """Any value of the kind."""
    match template.kind:
        case TemplateKind.TYPE:
            return "int32_t"
        case TemplateKind.BOOL:
            return "true"
        case TemplateKind.INT:
            return "4"
        case TemplateKind.ENUM:
            member = f"{template.enum}::{list(ENUMS[template.enum].members)[1]}"
            return f"(uint32_t){member}" if template.number else member


def use(call: KernelCall, count: int | None = None) -> str:
    """The call as a statement, with its operands or the first few of them."""
    arguments = ["2"] * len(call.constants)
    arguments += [ARGUMENTS[kind] for _, kind in call.operands]
    arguments = arguments[:count]
    templates = ", ".join(template_argument(template) for template in call.templates)
    name = f"{call.cpp}<{templates}>" if templates else call.cpp
    return statement(call, name, arguments)


def statement(call: KernelCall, name: str, arguments: Sequence[str]) -> str:
    """The call as its form says."""
    match call.form:
        case Form.CALL | Form.OBJECT:
            return f"{name}({', '.join(arguments)});"
        case Form.METHOD:
            return f"{arguments[0]}.{name}({', '.join(arguments[1:])});"
        case Form.ELEMENT:
            return f"uint32_t at = {name}[{arguments[0]}];"
        case Form.LOAD:
            return f"uint32_t word = {arguments[0]}[{arguments[1]}];"
        case Form.STORE:
            return f"{arguments[1]}[{arguments[2]}] = {arguments[0]};"
        case Form.AGGREGATE:
            pairs = zip(call.operands, ("1", "2", ARGUMENTS[ValueKind.DATA_FORMAT]), strict=False)
            return f"{name}{{{', '.join(f'.{member[0]} = {text}' for member, text in pairs)}}};"
        case Form.CAST:
            return f"auto to = reinterpret_cast<volatile tt_l1_ptr uint32_t*>({arguments[0]});"
        case Form.STREAM:
            return f'{name} << "tile " << 1.5f << HEX() << 7u << ENDL();'


@needs_compiler
@pytest.mark.parametrize("kernel", EXAMPLES, ids=lambda path: path.stem)
def test_kernels_of_the_examples(kernel: Path, tmp_path: Path) -> None:
    """Whole kernels, as they are written for hardware."""
    text = kernel.read_text(encoding="utf-8")
    result = compiled(without_includes(text), tmp_path)
    assert result.returncode == 0, result.stderr


@needs_compiler
def test_one_use_of_every_call(tmp_path: Path) -> None:
    """Every call can be written as its definition says, with all operands and with the fewest."""
    lines = [START]
    for call in CALLS:
        if call.header:
            lines.append(f"  {{ {use(call)} }}")
            if call.defaults:
                lines.append(f"  {{ {use(call, call.fewest_arguments)} }}")
    result = compiled("\n".join((*lines, "}")), tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""


# A value of each type, for operands.
VALUES = """
  %i32 = arith.constant 3 : i32
  %i1 = arith.constant true
  %f32 = arith.constant 1.500000e+00 : f32
  %noc_addr = "ttkernel.get_noc_addr"(%i32, %i32, %i32) : (i32, i32, i32) -> !ttkernel.noc_addr
  %local_semaphore = "ttkernel.get_semaphore"(%i32) : (i32) -> !ttkernel.local_semaphore
  %l1_addr_ptr = "ttkernel.reinterpret_cast"(%i32) : (i32) -> !ttkernel.l1_addr_ptr<32>
  %DataFormat = "ttkernel.get_dataformat"(%cb) : (!cb) -> !ttkernel.DataFormat
  %interleaved_addr_gen_fast = "ttkernel.get_interleaved_addr_gen"(%i32, %i32) <{dram = false}>
      : (i32, i32) -> !ttkernel.interleaved_addr_gen_fast
  %TensorAccessorArgs = "ttkernel.TensorAccessorArgs"() <{cta_base = 0 : i32}>
      : () -> !ttkernel.TensorAccessorArgs
  %TensorAccessor = "ttkernel.TensorAccessor"(%TensorAccessorArgs, %i32, %i32)
      : (!ttkernel.TensorAccessorArgs, i32, i32) -> !ttkernel.TensorAccessor
"""


def kernel_with_every_call() -> str:
    """A kernel in IR with the operation of every definition that C++ has."""
    calls = [call for call in CALLS if call.header]
    types = [type for call in calls for type in operand_types(call) if ".cb<" in type]
    buffers = {type: f"%cb{i}" for i, type in enumerate(dict.fromkeys(types))}
    lines: list[str] = []
    for number, call in enumerate(calls):
        plain = (re.sub(r"!ttkernel\.|<.*", "", type) for type in operand_types(call))
        names = [
            buffers.get(type, f"%{name}")
            for type, name in zip(operand_types(call), plain, strict=True)
        ]
        lines.append(operation(call, names, f"%result{number}"))
    arguments = ", ".join(f"{name}: {type}" for type, name in (("!cb", "%cb"), *buffers.items()))
    head = f"func.func @k({arguments}) attributes {{ttkernel.thread = #ttkernel.thread<noc>}}"
    alias = "!cb = !ttkernel.cb<cb_in7, 1024, memref<1x!tt.tile<32x32, f32>>, 4096, 1>"
    end = '"ttkernel.return"() : () -> ()\n}'
    return "\n".join((alias, f"{head} {{", VALUES, *lines, end))


@needs_compiler
def test_what_is_written_for_the_operation_of_every_call(tmp_path: Path) -> None:
    """The C++ of each operation, all its attributes given, is C++ to a C++ compiler."""
    text = write_kernels(parse(kernel_with_every_call()))
    result = compiled(without_includes(text), tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""


@needs_compiler
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("add_tiles(tt::CBIndex::c_0, tt::CBIndex::c_1, 0, 0);", "too few arguments"),
        ("exp_tiles(0);", "not declared"),
        ("DataFormat format = 5;", "cannot convert"),
        ("noc_async_read_tile(0, 7, 4096);", "no matching function"),
        ("noc_semaphore_wait(get_semaphore(0), 1);", "invalid conversion"),
    ],
)
def test_a_wrong_use_is_refused(line: str, message: str, tmp_path: Path) -> None:
    """The header is strict enough to catch mistakes."""
    result = compiled(f"void kernel_main() {{ {line} }}", tmp_path)
    assert result.returncode != 0
    assert message in result.stderr


@needs_compiler
def test_numbers_of_formats_and_buffers(tmp_path: Path) -> None:
    """The numbers of tt-metal, as its headers give them."""
    facts = {
        "(int)DataFormat::Float16_b": 5,
        "(int)DataFormat::Bfp8_b": 6,
        "(int)tt::DataFormat::UInt32": 24,
        "(int)DataFormat::Int32": 8,
        "tt::CBIndex::c_16": 16,
        "::tt::CB::c_out0": 16,
        "::tt::CB::dataflow7": 15,
        "tt::c_intermed7": 31,
        "(int)PoolType::MAX": 2,
        "(int)ckernel::ReduceDim::REDUCE_SCALAR": 2,
        "(int)BroadcastType::ROW": 2,
        "ELWADD": 2,
        "VALID": 1,
        "INVALID": 0,
    }
    checks = "\n".join(f"static_assert({text} == {number});" for text, number in facts.items())
    result = compiled(checks, tmp_path)
    assert result.returncode == 0, result.stderr
