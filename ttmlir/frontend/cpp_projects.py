"""Compiled models as projects in C++ that call the ttnn library, ready to build and run on a card.

Beside the program stand a `CMakeLists.txt`, the header that it includes, and a folder of tensors:
inputs, weights, constants that are too long to read, and golden results.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from ttmlir.errors import ArgumentError
from ttmlir.files import path_error, write_file
from ttmlir.frontend.scripts import ScriptData, prepare
from ttmlir.frontend.tensor_files import SUFFIX, write_tensor
from ttmlir.version import TTNN_VERSION, VERSION

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

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
    text = emit_cpp(to_emitc(module))
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
