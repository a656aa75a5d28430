"""Files of other versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples.schema_values import tables

from ttmlir.optable import DEFINITIONS
from ttmlir.schema import SCHEMA_OF_IDENTIFIER, FlatbufferError, load_schema
from ttmlir.schema.versions import load, version_stamp

GOLDEN = Path(__file__).parents[1] / "golden"
TTNN = load_schema("TTNN/binary.fbs")


def golden(name: str) -> dict[str, Any]:
    """What a file of tt-mlir 0.0.227 holds."""
    return load((GOLDEN / name).read_bytes(), name).root.as_dict()


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.tt*")), ids=lambda path: path.name)
def test_files_of_the_compatible_version_load_silently(path: Path) -> None:
    """They are of the version that is stamped here too."""
    loaded = load(path.read_bytes(), path.name)
    assert loaded.warning is None
    assert loaded.root.version == version_stamp()["version"]
    assert loaded.root.ttmlir_git_hash == version_stamp()["ttmlir_git_hash"]
    assert SCHEMA_OF_IDENTIFIER[loaded.identifier]


def test_what_golden_files_hold() -> None:
    """Names, shapes and numbers that the programs have by their source."""
    two = load((GOLDEN / "two_functions.ttnn").read_bytes(), "t").root
    assert [program.name for program in two.programs] == ["forward", "pass_through"]
    assert [tensor.desc.shape for tensor in two.programs[1].inputs] == [(33, 70)]
    splat = load((GOLDEN / "constant_splat.ttnn").read_bytes(), "t").root
    assert [step.type_type for step in splat.programs[0].operations] == ["GetDeviceOp", "FullOp"]
    assert splat.programs[0].operations[1]["type"].fill_value == 3.5
    convolution = load((GOLDEN / "conv2d_bias.ttnn").read_bytes(), "t").root
    step = convolution.programs[0].operations[2]["type"]
    assert (step.in_channels, step.out_channels, step.kernel_height) == (8, 24, 3)
    assert step.bias.desc.shape == (1, 1, 1, 24)
    chips = load((GOLDEN / "two_chips.ttsys").read_bytes(), "t").root.system_desc
    assert (len(chips.chip_descs), chips.chip_desc_indices) == (2, (0, 1))
    assert load((GOLDEN / "dram_to_l1.ttm").read_bytes(), "t").identifier == "TTM0"


@pytest.mark.parametrize("name", ["add.ttnn", "dram_to_l1.ttm", "one_chip.ttsys"])
def test_fitting_files_of_other_versions_load_with_a_warning(name: str) -> None:
    """The warning names the file and both versions."""
    root = golden(name)
    root["version"] = (0, 0, 230)
    loaded = load(_pack(root, name), name)
    assert loaded.warning == (
        f"{name}: written by tt-mlir 0.0.230; it is read as version 0.0.227, which its fields "
        "allow, but numbers may mean something else"
    )
    assert loaded.root.as_dict()["system_desc"] == root["system_desc"]


def test_a_file_without_a_version_loads_with_a_warning() -> None:
    """Nothing says that it is of another schema."""
    root = golden("one_chip.ttsys")
    del root["version"]
    warning = load(_pack(root, "x.ttsys"), "x.ttsys").warning
    assert warning is not None
    assert "written by an unknown version" in warning


def test_files_with_a_schema_digest_are_refused() -> None:
    """Since June 2025 the digest stands where the git hash was, and the rest one further."""
    root = golden("add.ttnn")
    root["version"] = (0, 0, 9000)
    root["ttmlir_git_hash"] = "0123456789abcdef" * 4
    with pytest.raises(FlatbufferError) as error:
        load(TTNN.pack(root), "new.ttnn")
    assert str(error.value) == (
        "new.ttnn: version: written by tt-mlir 0.0.9000, commit unknown, with another schema "
        "(SHA-256 0123456789ab...); the later schemas that are read are that of commit 19c86fca45 "
        "(tt-mlir of 21 August 2026), 912b70aa54f8... (jax-tt-plugin 0.1.3); compile it again with "
        "this program, or with tt-mlir 0.0.227, or with one of these"
    )


def test_files_whose_tables_do_not_fit_are_refused() -> None:
    """The message says which version they are of besides what does not fit."""
    root = golden("add.ttnn")
    root["version"] = (0, 0, 400)
    data = TTNN.pack(root)
    tag = TTNN.read(data).programs[0].operations[6].identity[1]
    assert bytes(data).count(b"\x07", tag, tag + 16) == 1
    place = data.index(b"\x07", tag)
    with pytest.raises(FlatbufferError) as error:
        load(data[:place] + b"\x63" + data[place + 1 :], "new.ttnn")
    message = str(error.value)
    assert "Operation.type_type: written by tt-mlir 0.0.400, whose schema does not fit" in message
    assert "OpType has no number 99" in message


def test_operations_that_contradict_their_text_are_refused() -> None:
    """A version that has inserted an enumerator before Add."""
    root = golden("add.ttnn")
    root["version"] = (0, 0, 240)
    root["programs"][0]["operations"][6]["type"]["type"] = "Multiply"
    with pytest.raises(FlatbufferError, match="does not fit: Multiply instead of add; compile"):
        load(TTNN.pack(root), "new.ttnn")
    root["version"] = (0, 0, 227)
    assert load(TTNN.pack(root), "new.ttnn").warning is None


def test_sizes_that_contradict_their_type_are_refused() -> None:
    """A version that has inserted a data type before Float32."""
    root = golden("add.ttnn")
    root["version"] = (0, 0, 300)
    memory = root["programs"][0]["inputs"][0]["desc"]["layout"]["memory_desc"]
    memory["data_type"] = "Float16"
    with pytest.raises(FlatbufferError, match="32768 bytes instead of 16384 for Float16; compile"):
        load(TTNN.pack(root), "new.ttnn")


TILES = [("Float32", 4096), ("Float16", 2048), ("BFloat16", 2048), ("UInt32", 4096)]
TILES += [("UInt16", 2048), ("UInt8", 1024)]


@pytest.mark.parametrize(("data_type", "size"), TILES)
@pytest.mark.parametrize(("height", "width", "part"), [(32, 32, 1), (16, 32, 2), (1, 1, 1024)])
def test_sizes_of_tiles_in_files_of_other_versions(
    data_type: str, size: int, height: int, width: int, part: int
) -> None:
    """Shards of 2x3 tiles of each data type have the bytes of their numbers, or are refused."""
    root = golden("add.ttnn")
    root["version"] = (0, 0, 300)
    memory = root["programs"][0]["inputs"][0]["desc"]["layout"]["memory_desc"]
    memory |= {"shape": (2, 3), "tile_shape": (height, width), "data_type": data_type}
    memory["size"] = 6 * size // part
    assert load(TTNN.pack(root), "new.ttnn").warning is not None
    memory["size"] = 6 * size // part - 1
    with pytest.raises(FlatbufferError, match=f"instead of {6 * size // part} for {data_type};"):
        load(TTNN.pack(root), "new.ttnn")


@pytest.mark.parametrize("data_type", ["BFP_Float8", "BFP_BFloat8", "BFP_Float4", "BFP_BFloat2"])
def test_sizes_of_formats_with_shared_exponents_are_not_compared(data_type: str) -> None:
    """An element has no bytes of its own."""
    root = golden("add.ttnn")
    root["version"] = (0, 0, 300)
    memory = root["programs"][0]["inputs"][0]["desc"]["layout"]["memory_desc"]
    memory["data_type"] = data_type
    assert load(TTNN.pack(root), "new.ttnn").warning is not None


@pytest.mark.parametrize(
    "mnemonic", [name for name, definition in DEFINITIONS.items() if definition.flatbuffer]
)
def test_the_text_of_every_operation_agrees_with_its_table(mnemonic: str) -> None:
    """The comparison of names knows all that are in use."""
    form = DEFINITIONS[mnemonic].flatbuffer
    assert form is not None
    member = {"type": form.kind} if form.kind else {}
    step = {
        "type_type": form.table,
        "type": member,
        "debug_info": f'"ttnn.{mnemonic}"() : () -> ()',
    }
    root = {"version": (0, 0, 228), "programs": [{"operations": [step]}]}
    assert load(TTNN.pack(root), "x.ttnn").warning is not None
    step["debug_info"] = '"ttnn.another"() : () -> ()'
    with pytest.raises(FlatbufferError, match="instead of another"):
        load(TTNN.pack(root), "x.ttnn")


def test_other_files_are_refused() -> None:
    """The message says what is expected."""
    with pytest.raises(FlatbufferError) as error:
        load(b"\x7fELF" * 4, "program.exe")
    assert str(error.value) == (
        "program.exe: neither a TTNN nor a TTMetal program nor a system description; "
        "give a .ttnn, .ttm or .ttsys file"
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), path=st.sampled_from(list(SCHEMA_OF_IDENTIFIER.values())))
def test_any_file_of_another_version_loads_or_is_refused(data: st.DataObject, path: str) -> None:
    """Whatever fields it lacks."""
    schema = load_schema(path)
    root = data.draw(tables(schema.root)) | {"version": (0, 0, 300)}
    try:
        loaded = load(schema.pack(root), "x")
    except FlatbufferError:
        return
    assert loaded.warning is not None


def _pack(root: dict[str, Any], name: str) -> bytes:
    suffix = Path(name).suffix.removeprefix(".")
    schemas = [load_schema(path) for path in SCHEMA_OF_IDENTIFIER.values()]
    return next(schema for schema in schemas if schema.extension == suffix).pack(root)
