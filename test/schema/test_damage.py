"""Files that are not what their schema says."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import flatbuffers
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running.confinement import confined, limited_time

from ttmlir.schema import (
    SCHEMA_OF_IDENTIFIER,
    FlatbufferError,
    Schema,
    TableView,
    identify,
    load_schema,
)
from ttmlir.schema.parser import parse_schema
from ttmlir.schema.versions import load

GOLDEN = Path(__file__).parents[1] / "golden"
FILES = {path.name: path.read_bytes() for path in sorted(GOLDEN.glob("*.tt*"))}


def small(text: str) -> Schema:
    """A schema of one file."""
    document = parse_schema("t.fbs", lambda _: text + ' root_type T; file_identifier "TEST";')
    assert document.root is not None
    return Schema(document, document.root, "TEST", "")


def patched(data: bytes, offset: int, value: int, format: str = "<I") -> bytes:
    """The file with another number at a byte."""
    copy = bytearray(data)
    struct.pack_into(format, copy, offset, value)
    return bytes(copy)


def visit(value: Any) -> None:
    """Read everything that a view leads to, each table once."""
    seen: set[tuple[tuple[int, int], str]] = set()
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, tuple):
            pending += item
        elif isinstance(item, TableView) and (item.identity, item.table_type.name) not in seen:
            seen.add((item.identity, item.table_type.name))
            pending += [item[field.name] for field in item.table_type.fields]


@settings(max_examples=300, deadline=None)
@given(data=st.data(), name=st.sampled_from(sorted(FILES)))
def test_altered_bytes_are_noticed_or_harmless(data: st.DataObject, name: str) -> None:
    """A damaged file raises FlatbufferError, or can be read to its end."""
    original = FILES[name]
    altered = bytearray(original)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(original) - 1))
        altered[place] = data.draw(st.sampled_from([0, 1, 4, 0x7F, 0x80, 0xFF]))
    try:
        visit(load(bytes(altered), name).root)
    except FlatbufferError as error:
        message = str(error)
    else:
        return
    assert message.startswith(name + ": ")
    assert "; " in message


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_truncation_is_noticed(name: str) -> None:
    """Wherever the file ends; also when its size prefix has been made to agree."""
    original = FILES[name]
    for size in range(0, len(original), 29):
        with pytest.raises(FlatbufferError):
            load(original[:size], name)
    for size in range(16, len(original) // 2, 37):
        with pytest.raises(FlatbufferError):
            load(patched(original[:size], 0, size - 4), name)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "0 bytes are too few for a flatbuffer; the file is damaged: write it again"),
        (b"\x07\0\0\0\4\0\0\0TES", "11 bytes are too few"),
        (
            b"\x08\0\0\0\x10\0\0\0ABCD",
            "identifier at byte 8: expected TEST, got ABCD; give a file of the right kind",
        ),
        (b"\x08\0\0\0\x10\0\0\0\0\1\2\3", "expected TEST, got 00 01 02 03"),
        (
            b"\x08\0\0\0TEST\0\0\0\0",
            "file identifier at byte 4: the file does not start with its size; write it size-pref",
        ),
        (b"\x09\0\0\0\4\0\0\0TEST", "the file is truncated: it has 12 bytes instead of 13"),
        (b"\x07\0\0\0\4\0\0\0TEST", "followed by something else: it has 12 bytes instead of 11"),
    ],
)
def test_heads(data: bytes, message: str) -> None:
    """The size, identifier and kind of a file."""
    with pytest.raises(FlatbufferError) as error:
        small("table T {}").read(data, "f.test")
    assert message in str(error.value)
    assert str(error.value).startswith("f.test: ")


def test_messages_name_file_table_field_and_byte() -> None:
    """A vector that claims to be longer than the file."""
    schema = small("table T { numbers: [int]; }")
    data = schema.pack({"numbers": [7, 8]})
    place = data.index(struct.pack("<iii", 2, 7, 8))
    with pytest.raises(FlatbufferError) as error:
        schema.read(patched(data, place, 0x40000000), "x.test")
    assert str(error.value) == (
        f"x.test: T.numbers at byte {place}: 4294967300 bytes reach beyond the end of the file at "
        f"byte {len(data)}; the file is damaged or was written for another schema: compile it again"
    )
    assert (error.value.source, error.value.where, error.value.offset) == (
        "x.test",
        "T.numbers",
        place,
    )


VTABLE, TABLE, TEXT = 12, 20, 24


@pytest.mark.parametrize(
    ("place", "number", "message"),
    [
        (TABLE, 1000, "T at byte 20: its vtable would be at byte -980, outside the file"),
        (VTABLE, 12 << 16 | 7, "its vtable at byte 12 has the impossible size 7"),
        (VTABLE, 12 << 16 | 30, "its vtable at byte 12 has the impossible size 30"),
        (VTABLE, 3 << 16 | 8, "T at byte 20: it has the impossible size 3"),
        (
            VTABLE,
            21 << 16 | 8,
            "T at byte 20: 21 bytes reach beyond the end of the file at byte 40",
        ),
        (VTABLE + 4, 4 << 16 | 9, "T.n at byte 29: it does not lie within its table of 12 bytes"),
        (VTABLE + 4, 2 << 16 | 8, "T.s at byte 22: it does not lie within its table of 12 bytes"),
        (TEXT, 0, "T.s at byte 24: offset 0 leads out of the file"),
        (TEXT, 13, "T.s at byte 24: offset 13 leads out of the file"),
    ],
)
def test_places_lie_within_the_file(place: int, number: int, message: str) -> None:
    """Every number that says where something is, of a file of a vtable, a table and a text."""
    schema = small("table T { n: int; s: string; }")
    data = schema.pack({"n": 7, "s": "abc"})
    assert struct.unpack_from("<4H3i", data, VTABLE) == (8, 12, 8, 4, TABLE - VTABLE, 8, 7)
    with pytest.raises(FlatbufferError) as error:
        schema.read(patched(data, place, number), "x.test")
    assert str(error.value).startswith("x.test: T")
    assert message in str(error.value)


def test_strings_are_utf_8() -> None:
    """A byte that no text has."""
    schema = small("table T { s: string; }")
    data = schema.pack({"s": "text"}).replace(b"text", b"te\xfft")
    with pytest.raises(FlatbufferError, match=r"T\.s at byte \d+: the string is not UTF-8"):
        schema.read(data)


def test_unknown_enumerators_and_tags() -> None:
    """Numbers without a name, alone and in vectors."""
    new = "table A {} table B {} enum E: ubyte { P, Q } union U { A, B }"
    old = "table A {} enum E: ubyte { P } union U { A }"
    body = "table T { e: E; es: [E]; u: U; us: [U]; }"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"e": "Q"}, "T.e at byte"),
        ({"es": ["P", "Q"]}, "T.es at byte"),
        ({"u_type": "B", "u": {}}, "T.u_type at byte"),
        ({"us_type": ["A", "B"], "us": [{}, {}]}, "T.us_type at byte"),
    ]
    for value, message in cases:
        data = small(new + body).pack(value)
        with pytest.raises(FlatbufferError) as error:
            small(old + body).read(data)
        assert message in str(error.value)
        assert "has no number" in str(error.value)


def test_unions_need_both_halves() -> None:
    """A tag without a table, members without tags, and unequal numbers of them."""
    union = "table A { n: int; } union U { A }"
    halves = small(union + "table T { u_type: ubyte; u: A; us_type: [ubyte]; us: [A]; }")
    whole = small(union + "table T { u: U; us: [U]; }")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"u_type": 1}, "T.u at byte 20: there is no A"),
        ({"us": [{}]}, "the vector of union tags is missing"),
        ({"us_type": [1]}, "the vector of union members is missing"),
        ({"us_type": [1, 1], "us": [{}]}, "1 union members have 2 tags"),
    ]
    for value, message in cases:
        with pytest.raises(FlatbufferError) as error:
            whole.read(halves.pack(value))
        assert message in str(error.value)
    ignored = whole.read(halves.pack({"u": {"n": 1}, "us_type": [0], "us": [{}]}))
    assert (ignored.u_type, ignored.u, ignored.us) == ("NONE", None, (None,))


def test_overlapping_objects_are_refused_at_once() -> None:
    """20,000 vectors of 1,024 strings of 1,024 bytes, all within 80,000 bytes."""
    schema = small("table L { n: [string]; } table T { ls: [L]; }")
    count, length = 20_000, 1024
    sound = schema.pack({"ls": [{"n": []} for _ in range(count)]})
    data = bytearray(sound) + struct.pack("<I", length) * (2 * count)
    struct.pack_into("<I", data, 0, len(data) - 4)
    for index, leaf in enumerate(schema.read(sound).ls):
        field = leaf.identity[1] + 4
        struct.pack_into("<I", data, field, len(sound) + 4 * index - field)
    overlaps = pytest.raises(FlatbufferError, match="objects of the file overlap")
    with limited_time(5), overlaps:
        schema.read(bytes(data))


SHARING = "table A { x: [int]; } table B { a: [A]; } table C { b: [B]; } table T { c: [C]; }"


def test_shared_tables_do_not_grow_without_end() -> None:
    """A file of 8 kB that a reader would meet 500^4 numbers in is refused before it is read."""
    schema = small(SHARING)
    a = {"x": [1] * 500}
    b = {"a": [a] * 500}
    c = {"b": [b] * 500}
    data = schema.pack({"c": [c] * 500})
    assert len(data) < 10_000
    with (
        confined(megabytes=100, cpu_seconds=10),
        pytest.raises(FlatbufferError, match=r"bomb\.test: T at byte 12: .* written out"),
    ):
        schema.read(data, "bomb.test")


def test_moderate_sharing_is_read() -> None:
    """Parts that are used in some places, as writers do to keep files small, are no fault."""
    schema = small(SHARING)
    a = {"x": [1] * 500}
    b = {"a": [a] * 20}
    root = schema.read(schema.pack({"c": [{"b": [b] * 4}] * 4}), "shared.test")
    assert root.as_dict()["c"][3]["b"][0]["a"][7]["x"] == [1] * 500
    assert json.loads(root.to_json()) == root.as_dict()


def test_shared_strings_do_not_grow_without_end() -> None:
    """A long text that thousands of tables have in common is refused, too."""
    schema = small("table A { name: string; } table T { a: [A]; }")
    builder = flatbuffers.Builder(0)
    name = builder.CreateString("x" * 100_000)
    tables: list[int] = []
    for _ in range(10_000):
        builder.StartObject(1)
        builder.PrependUOffsetTRelativeSlot(0, name, 0)
        tables.append(builder.EndObject())
    builder.StartVector(4, len(tables), 4)
    for table in tables:
        builder.PrependUOffsetTRelative(table)
    vector = builder.EndVector()
    builder.StartObject(1)
    builder.PrependUOffsetTRelativeSlot(0, vector, 0)
    builder.FinishSizePrefixed(builder.EndObject(), b"TEST")
    data = bytes(builder.Output())
    assert len(data) < 300_000
    with (
        confined(megabytes=200, cpu_seconds=20),
        pytest.raises(FlatbufferError, match="written out"),
    ):
        schema.read(data, "bomb.test")


@pytest.mark.parametrize("name", sorted(FILES))
def test_sound_files_pass(name: str) -> None:
    """Files of tt-mlir itself, read to their end."""
    data = FILES[name]
    root = load_schema(SCHEMA_OF_IDENTIFIER[str(identify(data))]).read(data, name)
    visit(root)
    assert json.loads(root.to_json()) == root.as_dict()
