"""Compiled models as projects in C++ that call the ttnn library, ready to build and run on a card.

Beside the program stand a `CMakeLists.txt`, the header that it includes, and a folder of tensors:
inputs, weights, constants that are too long to read, and golden results.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ttmlir.errors import ArgumentError
from ttmlir.files import path_error, write_file
from ttmlir.frontend.scripts import ScriptData, prepare
from ttmlir.frontend.tensor_files import SUFFIX, write_tensor
from ttmlir.version import TTNN_VERSION, VERSION

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ArrayAttr, ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.target.notes import Notes

HEADER = "ttnn-precompiled.hpp"
_CMAKE = "CMakeLists.txt"
_OWN = "# Written by ttmlir"
_CMAKE_TEXT = """\
{own} {version}: needs TT-NN {library} of tt-metal, and a compiler for C++20.
#
#     cmake -B build -DCMAKE_PREFIX_PATH=$TT_METAL_HOME/build
#     cmake --build build
#     build/{name} --check
cmake_minimum_required(VERSION 3.22)
project({name} LANGUAGES CXX)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
find_package(TT-NN REQUIRED)

add_executable({name} {name}.cpp)
target_link_libraries({name} PRIVATE TTNN::CPP)
"""
_INTERLEAVED = "ttnn::MemoryConfig{{ttnn::TensorMemoryLayout::INTERLEAVED, ttnn::BufferType::{}}}"
"""What the library has shorter names for."""
_MAIN = """
int main(int argc, char **argv) {{
  const auto results = {call};
  return utils::finish(argc, argv, utils::as_list(results), {{{golden}}});
}}
"""


def write_project(module: ModuleOp, data: ScriptData, options: str, path: str | Path) -> Path:
    """Write a module in ttir of 2026 as a program, and what it needs; returns its path.

    `options` are those of the pipeline to ttnn. ArgumentError if the folder has another project.
    """
    from ttmlir.passes.emitc.convert_ttnn_to_emitc import to_emitc
    from ttmlir.target.cpp.emitter import emit_cpp

    program = Path(path)
    name = program.stem
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise ArgumentError(
            f"'{program.name}' is no name of a program that CMake builds; 'model.cpp' is one"
        )
    cmake = program.with_name(_CMAKE)
    _refuse_other_project(cmake)
    kept = prepare(module, data, options)
    outputs = [] if data.outputs is None else list(data.outputs)
    folder = f"{name}_tensors"
    paths = _paths(kept, folder)
    golden = [f"{folder}/golden{number}{SUFFIX}" for number in range(len(outputs))]
    _read_from(module, paths)
    described: dict[SSAValue, str] = {}
    _check_integers(module)
    converted = to_emitc(module, described)
    _keep_exact(converted, described)
    text = emit_cpp(converted, notes=_notes_of(converted, described, data))
    inputs = "load_inputs_for_forward()"
    calls = ["forward()", f"forward({inputs})", f"std::apply(forward, {inputs})"]
    main = _MAIN.format(
        call=calls[min(len(data.inputs), 2)], golden=", ".join(f'"{each}"' for each in golden)
    )
    text = text.replace(_INTERLEAVED.format("DRAM"), "ttnn::DRAM_MEMORY_CONFIG")
    text = text.replace(_INTERLEAVED.format("L1"), "ttnn::L1_MEMORY_CONFIG")
    _make_folder(program.with_name(folder))
    for each, array in zip((*paths.values(), *golden), (*kept.values(), *outputs), strict=True):
        write_tensor(program.parent / each, array)
    head = f"// {name}, as calls of ttnn {TTNN_VERSION}; written by ttmlir {VERSION}.\n"
    write_file(program, f"{head}{text.rstrip()}\n{main}".encode())
    header = files("ttmlir.target.cpp").joinpath(HEADER).read_bytes()
    write_file(program.with_name(HEADER), header)
    settings = _CMAKE_TEXT.format(own=_OWN, version=VERSION, library=TTNN_VERSION, name=name)
    write_file(cmake, settings.encode())
    return program


def _check_integers(module: ModuleOp) -> None:
    """Refuse what the library takes no integers for, and scripts of Python compose."""
    from ttmlir.ir.rewriting import refuse_to_legalize
    from ttmlir.ir.tensor_types import element_type

    for op in module.walk():
        integers = _OF_FLOATS.get(op.name, ())
        if integers and str(element_type(op.operands[0])) in integers:
            refuse_to_legalize(
                op,
                "the library computes it of floats; a script of Python composes it: "
                "save a file that ends with .py",
            )


_OF_FLOATS = {
    "ttnn.div": ("ui32",),
    "ttnn.divide": ("ui32",),
    "ttnn.sort": ("si32", "i32", "ui32"),
    "ttnn.topk": ("si32", "i32", "ui32", "ui16", "ui8"),
}


def _keep_exact(module: ModuleOp, described: dict[SSAValue, str]) -> None:
    """Call what divides integers without floats, and what has the sign of the dividend."""
    from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr
    from xdsl.dialects.emitc import EmitC_OpaqueAttr

    for op in module.walk():
        callee = op.properties.get("callee")
        if op.name != "emitc.call_opaque" or not op.results or not isinstance(callee, StringAttr):
            continue
        text, args = described.get(op.results[0], ""), op.properties.get("args")
        operands = [IntegerAttr.from_index_int_value(number) for number in range(2)]
        given: list[Attribute] = [*operands]
        if isinstance(args, ArrayAttr):
            given = [*cast("ArrayAttr[Attribute]", args).data]
        if callee.data == "ttnn::remainder" and " uint32 " not in text:
            function, given = "ttnn::fmod", [*operands, *given[3:4]]
        elif callee.data == "ttnn::divide" and " int32 " in text:
            mode = [EmitC_OpaqueAttr(StringAttr(word)) for word in ("false", '"trunc"')]
            function, given = "ttnn::div", [*operands, *mode, *given[2:]]
        else:
            continue
        op.properties["callee"], op.properties["args"] = StringAttr(function), ArrayAttr(given)


def _notes_of(module: ModuleOp, described: dict[SSAValue, str], data: ScriptData) -> Notes:
    """The names of the model, and the lines that the calls are of."""
    from xdsl.dialects.builtin import StringAttr
    from xdsl.dialects.emitc import EmitC_OpaqueAttr
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import BlockArgument

    from ttmlir.frontend.scripts import line_of
    from ttmlir.mlir.reporting import name_of
    from ttmlir.passes.emitc.convert_ttnn_to_emitc import WORDS
    from ttmlir.target.python.model_script import PROGRAM, ScriptNotes

    class ProjectNotes(ScriptNotes):
        """Names without words of C++."""

        def stem(self, op: Operation) -> str:
            callee = op.properties.get("callee")
            if not isinstance(callee, StringAttr):
                return ""
            words = callee.data.split("::")[-1]
            if words in _WHERE_NAMED:
                named = op.properties[_WHERE_NAMED[words]]
                first = cast("ArrayAttr[Attribute]", named).data[0]
                text = first.value.data if isinstance(first, EmitC_OpaqueAttr) else ""
                return _in_cpp(Path(text.strip('"')).stem.removeprefix("make_"))
            if words == "getInstance":
                return "device"
            return _in_cpp(self.name_of_call(op, _SHORT.get(words, words)))

        def stem_of_argument(self, value: SSAValue) -> str:
            assert isinstance(value, BlockArgument)
            return _in_cpp(name_of(value.location) or "")

    functions = [op for op in module.walk() if isinstance(op, FuncOp)]
    names = {
        name_of(each.location) or ""
        for op in functions
        if op.sym_name.data == PROGRAM
        for each in op.body.blocks[0].args
    }
    reserved = {*WORDS, *_TAKEN, *(op.sym_name.data for op in functions)}
    source_line = line_of if data.is_python else None
    return ProjectNotes(described, source_line, frozenset(names), frozenset(reserved))


_TAKEN = ("main", "std", "ttnn", "utils", "results", "argc", "argv", "util_create_vec")
_SHORT = {"util_create_vec": "tensors", "result": "part"}
"""What results of functions of the header are called."""
_WHERE_NAMED = {"compute_once": "template_args", "load_tensor": "args"}
"""Functions that are given a name first, of a function or of a file."""


def _in_cpp(text: str) -> str:
    """A name for C++ made of any text."""
    from ttmlir.target.python.model_script import identifier

    return re.sub(r"__+", "_", identifier(text))


def _refuse_other_project(cmake: Path) -> None:
    try:
        with cmake.open("rb") as file:
            is_own = file.read(len(_OWN)) == _OWN.encode()
    except FileNotFoundError:
        return
    if not is_own:
        raise ArgumentError(
            f"{cmake} belongs to another project; save to a folder of its own, such as "
            "'model_cpp/model.cpp'"
        )


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise path_error(path, error) from error


def _paths(names: Iterable[str], folder: str) -> dict[str, str]:
    """A file for each name of a tensor, whatever letters that has."""
    found: dict[str, str] = {}
    taken = set[str]()
    for name in names:
        stem = re.sub(r"[^A-Za-z0-9_.]+", "_", name).strip(".")[:80] or "tensor"
        free, number = stem, 0
        while free.lower() in taken or re.fullmatch(r"golden\d+", free):
            number += 1
            free = f"{stem}_{number}"
        taken.add(free.lower())
        found[name] = f"{folder}/{free}{SUFFIX}"
    return found


def _read_from(module: ModuleOp, paths: dict[str, str]) -> None:
    """Let the program read tensors from their files."""
    from xdsl.dialects.builtin import StringAttr

    from ttmlir.dialects import ttnn

    for op in module.walk():
        if isinstance(op, ttnn.TTNNOp) and op.name == "ttnn.load_tensor":
            name = op.properties["file_path"]
            assert isinstance(name, StringAttr)
            op.properties["file_path"] = StringAttr(paths[name.data])
