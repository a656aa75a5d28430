"""Whole sections of a file that was written by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from samples.ttnn_program import ProgramBuilder, tensor_desc

from ttmlir.layout.system import board, system_desc_to_table
from ttmlir.runtime import BinaryError, read_binary
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.ttrt.reports import (
    MAX_BYTES,
    PLAIN_SECTIONS,
    SECTIONS,
    joined_documents,
    section_text,
)
from ttmlir.schema import load_schema


def program(name: str, size: int = 12) -> ProgramBuilder:
    """abs of a row of numbers, and a constant of `size` bytes."""
    b = ProgramBuilder(name)
    x = b.to_device(b.input((3, 5)))
    b.output(b.eltwise("Abs", [b.eltwise("Abs", [x])]))
    constant = {"global_id": 90, "desc": tensor_desc((size,), "ui8", constant=bytes(size))}
    b.op("ConstantOp", out=constant)
    return b


def section(name: str, *programs: ProgramBuilder, **root: Any) -> str:
    """A section of a file of programs."""
    first, *others = programs or (program("forward"),)
    return section_text("x.ttnn", first.pack(*others, **root), name)


def test_names_of_sections() -> None:
    """All of them, and those that are no JSON."""
    assert SECTIONS == (
        *("summary", "all", "version", "system_desc", "mlir", "cpp", "inputs", "outputs"),
        *("op_stats", "mesh_shape", "memory"),
    )
    assert PLAIN_SECTIONS == ("summary", "version", "mlir", "cpp")
    assert MAX_BYTES == 4096
    for name in SECTIONS:
        text = section(name)
        if name not in PLAIN_SECTIONS:
            assert isinstance(json.loads(text), dict)


def test_the_summary_of_a_file() -> None:
    """Its programs, what they take, give and do, and what else can be read."""
    text = section("summary", system="n300")
    size = len(program("forward").pack(system="n300"))
    assert text == (
        f"x.ttnn: calls of the ttnn library, {size:,} bytes, version 0.0.227\n"
        "compiled for board 'n300', 2 chips of wormhole_b0 with 8x8 cores\n"
        "\n"
        "program 0 'forward'\n"
        "  inputs    3x5xf32\n"
        "  outputs   3x5xf32\n"
        "  does      9 operations: 2 EmptyOp, 2 EltwiseOp Abs, 1 GetDeviceOp, 1 ToLayoutOp, "
        "1 ToDeviceOp, ... 2 more\n"
        "  constants 1, 12 bytes\n"
        "  also      its text in ttnn, its text in cpp\n"
        "\n"
        "more with --section all, version, system_desc, mlir, cpp, inputs, outputs, op_stats, "
        "mesh_shape, memory"
    )


def test_the_summary_of_a_large_file_fits_on_a_screen() -> None:
    """Programs, tensors and kinds of operations beyond the first ones are counted."""
    programs: list[ProgramBuilder] = []
    for name in ("first", "second", "third", "fourth"):
        b = ProgramBuilder(name)
        for kind in ("Abs", "Exp", "Relu", "Sqrt", "Neg", "Sigmoid"):
            b.output(b.eltwise(kind, [b.to_device(b.input((3, 5)))]))
        programs.append(b)
    lines = section("summary", *programs).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 120
    assert "            ... 2 more" in lines
    assert "more programs: second, third, fourth" in lines


@pytest.mark.parametrize(
    ("size", "shown"), [(4095, [0] * 4095), (4096, [0] * 4096), (4097, "<4097 bytes>")]
)
def test_large_constants_are_shown_by_their_size(size: int, shown: object) -> None:
    """In the whole file, and where they are inputs or outputs."""
    b = program("forward", size)
    [constant] = [each["type"]["out"] for each in b.operations if each["type_type"] == "ConstantOp"]
    b.inputs.append(constant)
    b.outputs.append(constant)
    operations = json.loads(section("all", b))["programs"][0]["operations"]
    [found] = [each["type"]["out"] for each in operations if each["type_type"] == "ConstantOp"]
    assert found["desc"]["constant_data"] == shown
    for name in ("inputs", "outputs"):
        assert json.loads(section(name, b))["forward"][-1]["desc"]["constant_data"] == shown


def test_the_mesh_of_each_program() -> None:
    """Every device that is opened, with extents, chips and number."""
    second = program("second")
    second.op("GetDeviceOp", mesh=(1, 2), chip_ids=[1, 0], out={"global_id": 7})
    opened = [
        {"mesh": {"y": 1, "x": 1}, "chip_ids": [0], "out": {"global_id": 0}},
        {"mesh": {"y": 1, "x": 2}, "chip_ids": [1, 0], "out": {"global_id": 7}},
    ]
    expected = {"first": opened[:1], "second": opened, "third": []}
    third = ProgramBuilder("third", device=False)
    text = section("mesh_shape", program("first"), second, third)
    assert text == json.dumps(expected, indent=2)


def test_the_number_of_operations() -> None:
    """By kind in alphabetical order, of each program."""
    counts = {
        "ConstantOp": 1,
        "EltwiseOp Abs": 2,
        "EmptyOp": 2,
        "GetDeviceOp": 1,
        "ToDeviceOp": 1,
        "ToLayoutOp": 1,
        "ToMemoryConfigOp": 1,
    }
    text = section("op_stats", program("first"), ProgramBuilder("second", device=False))
    assert text == json.dumps({"first": counts, "second": {}}, indent=2)


def test_sources() -> None:
    """Of every program under its number and name; the module and the C++ apart."""
    programs = program("first"), program("second")
    module = "program[0]: first\n[ttnn]\nmodule {}\nprogram[1]: second\n[ttnn]\nmodule {}"
    assert section("mlir", *programs) == module
    cpp = "program[0]: first\n[cpp]\n// none\nprogram[1]: second\n[cpp]\n// none"
    assert section("cpp", *programs) == cpp
    tables = [{**each.table(), "debug_info": None} for each in programs]
    bare = load_schema("TTNN/binary.fbs").pack({**stamp(), "programs": tables})
    none = "program[0]: first\nno debug information\nprogram[1]: second\nno debug information"
    assert section_text("x.ttnn", bare, "mlir") == none
    assert section_text("x.ttnn", bare, "cpp") == none
    unnamed = {"mlir": {"name": None, "source": None}, "cpp": None}
    tables = [{**programs[0].table(), "debug_info": unnamed}]
    data = load_schema("TTNN/binary.fbs").pack({**stamp(), "programs": tables})
    assert section_text("x.ttnn", data, "mlir") == "program[0]: first\n[mlir]\n"
    [read] = read_binary(data, "x.ttnn").programs
    assert read.debug_sources() == (("mlir", ""),)


def stamp(**fields: Any) -> dict[str, Any]:
    """The version of a file."""
    version = {"major": 0, "minor": 0, "patch": 227}
    return {"version": tuple(version.values()), "ttmlir_git_hash": "0f" * 20, **fields}


def test_versions() -> None:
    """Of files that have one and of files that do not say."""
    text = f"version: 0.0.227\ntt-mlir git hash: {'0f' * 20}"
    none = "version: unknown\ntt-mlir git hash: unknown"
    assert section("version", **stamp()) == text
    unknown = {"version": None, "ttmlir_git_hash": None}
    assert section("version", **unknown) == none
    binary = read_binary(program("forward").pack(**stamp()), "x.ttnn")
    assert (binary.version, binary.ttmlir_git_hash) == ((0, 0, 227), "0f" * 20)


def test_system_descriptions() -> None:
    """Of the file itself, and a file of nothing else, which has three sections."""
    system = system_desc_to_table(board("n300"))
    of_program = json.loads(section("system_desc", system="n300"))
    assert of_program["chip_desc_indices"] == [0, 1]
    data = load_schema("Common/system_desc.fbs").pack(stamp(system_desc=system))
    assert json.loads(section_text("s.ttsys", data, "system_desc")) == of_program
    whole = json.loads(section_text("s.ttsys", data, "all"))
    assert whole["system_desc"] == of_program
    assert whole["ttmlir_git_hash"] == "0f" * 20
    version = f"version: 0.0.227\ntt-mlir git hash: {'0f' * 20}"
    assert section_text("s.ttsys", data, "version") == version
    for name in ("mlir", "cpp", "inputs", "outputs", "op_stats", "mesh_shape"):
        with pytest.raises(InputError) as caught:
            section_text("s.ttsys", data, name)
        message = (
            f"s.ttsys: there is no section '{name}'; it has summary, all, version, system_desc"
        )
        assert str(caught.value) == message
    with pytest.raises(BinaryError, match=r"^x\.ttnn: field 'system_desc' is missing$"):
        section("system_desc", system_desc=None)


def test_documents_together() -> None:
    """An object with one entry for each; of none, an empty one."""
    assert joined_documents({}) == "{}"
    text = joined_documents({"a.ttnn": '{\n  "x": 1\n}\n', 'b"': "[]"})
    assert text == '{\n  "a.ttnn": {\n    "x": 1\n  },\n  "b\\"": []\n}'
