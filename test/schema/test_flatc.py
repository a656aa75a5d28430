"""Agreement with flatc, Google's compiler for flatbuffers, in both directions."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from samples.schema_values import tables

from ttmlir.compiler import compile_to_ttm
from ttmlir.schema import SCHEMA_OF_IDENTIFIER, Schema, identify, load_schema

FLATC = shutil.which("flatc")
ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "test" / "golden"
needs_flatc = pytest.mark.skipif(FLATC is None, reason="flatc is not installed")


def to_json(data: bytes, schema: str, folder: Path, root: Path = ROOT) -> dict[str, Any]:
    """What flatc says a file holds; `root` is the folder above that of the schemas."""
    (folder / "file.bin").write_bytes(data)
    options = "--json --strict-json --raw-binary --size-prefixed --defaults-json".split()
    command = [str(FLATC), *options, "-o", str(folder), f"schema/{schema}", "--"]
    subprocess.run([*command, str(folder / "file.bin")], check=True, cwd=root)
    # flatc writes infinities bare, which is no JSON.
    infinity = re.compile(r'^( +(?:"\w+": )?)(-?inf)(,?)$', re.MULTILINE)
    return json.loads(infinity.sub(r'\1"\2"\3', (folder / "file.json").read_text()))


def from_json(text: str, schema: str, folder: Path) -> bytes:
    """The file that flatc makes of JSON."""
    (folder / "file.json").write_text(text)
    options = ["--binary", "--size-prefixed", "-o", str(folder)]
    command = [str(FLATC), *options, f"schema/{schema}", str(folder / "file.json")]
    subprocess.run(command, check=True, cwd=ROOT)
    extension = load_schema(schema).extension
    return (folder / f"file.{extension}").read_bytes()


def rounded(value: Any) -> Any:
    """Floats as float32 and with the six decimals that flatc prints."""
    match value:
        case float():
            return round(struct.unpack("<f", struct.pack("<f", value))[0], 6)
        case dict():
            return {name: rounded(item) for name, item in value.items()}
        case list():
            return [rounded(item) for item in value]
        case _:
            return value


@needs_flatc
@pytest.mark.parametrize("schema", SCHEMA_OF_IDENTIFIER.values())
def test_flatc_takes_the_schemas(schema: str, tmp_path: Path) -> None:
    """All of them, with relative includes only."""
    command = [str(FLATC), "--binary", "--schema", "-o", str(tmp_path), f"schema/{schema}"]
    subprocess.run(command, check=True, cwd=ROOT)
    assert list(tmp_path.iterdir())


@needs_flatc
@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.tt[ns]*")), ids=lambda path: path.name)
def test_reading_agrees(path: Path, tmp_path: Path) -> None:
    """The JSON of files that tt-mlir has written, and of our copies of them."""
    data = path.read_bytes()
    name = SCHEMA_OF_IDENTIFIER[str(identify(data))]
    schema = load_schema(name)
    expected = to_json(data, name, tmp_path)
    assert schema.read(data).as_dict() == expected
    assert json.loads(schema.read(data).to_json()) == expected
    assert to_json(schema.pack(expected), name, tmp_path) == expected


def programs_of_kernels() -> dict[str, bytes]:
    """Files that tt-mlir has written, and one that is made here."""
    model = (ROOT / "test" / "models" / "eltwise.mlir").read_text()
    files = {path.name: path.read_bytes() for path in sorted(GOLDEN.glob("*.ttm"))}
    return files | {"eltwise": compile_to_ttm(model)}


@needs_flatc
def test_reading_kernels_agrees(tmp_path: Path) -> None:
    """The JSON of `.ttm` files.

    flatc prints no vectors of unions. No compiler writes the only one, so that two plain vectors in
    its two slots make no difference.
    """
    shutil.copytree(ROOT / "schema", tmp_path / "schema")
    source = tmp_path / "schema" / "TTMetal" / "program.fbs"
    union, plain = (
        "runtime_args: [RuntimeArg];",
        "runtime_args_type: [ubyte]; runtime_args: [ubyte];",
    )
    text = source.read_text()
    assert text.count(union) == 1
    source.write_text(text.replace(union, plain))
    name = SCHEMA_OF_IDENTIFIER["TTM0"]
    for data in programs_of_kernels().values():
        assert (
            to_json(data, name, tmp_path, root=tmp_path) == load_schema(name).read(data).as_dict()
        )


@needs_flatc
@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.tt*")), ids=lambda path: path.name)
def test_writing_agrees(path: Path, tmp_path: Path) -> None:
    """flatc makes a file of our JSON that reads the same."""
    data = path.read_bytes()
    name = SCHEMA_OF_IDENTIFIER[str(identify(data))]
    schema = load_schema(name)
    root = schema.read(data)
    assert schema.read(from_json(root.to_json(), name, tmp_path)).as_dict() == root.as_dict()


@needs_flatc
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)
@given(value=tables(load_schema("TTNN/binary.fbs").root))
def test_random_programs_agree(value: dict[str, Any], tmp_path: Path) -> None:
    """Every table, union member and enumerator that comes up, in both directions."""
    name = "TTNN/binary.fbs"
    schema: Schema = load_schema(name)
    data = schema.pack(value)
    root = schema.read(data)
    assert rounded(to_json(data, name, tmp_path)) == rounded(root.as_dict())
    assert schema.read(from_json(root.to_json(), name, tmp_path)).as_dict() == root.as_dict()
