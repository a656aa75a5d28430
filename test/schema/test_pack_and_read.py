"""Writing and reading back."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
from flatbuffers import Builder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples.schema_values import tables

from ttmlir.schema import PackError, Schema, TableView, load_schema
from ttmlir.schema.parser import parse_schema

TEXT = """
enum Color: ushort { Red, Green, Blue }
enum Flag: uint (bit_flags) { P, Q }
struct Point { y: int; x: int; }
struct Box { low: Point; high: Point; }
table Leaf { n: ubyte; }
table Twig { name: string; }
union Part { Leaf, Twig }
table Root {
  small: ubyte; big: ulong; ratio: float; on: bool; count: int = 5;
  color: Color; flags: Flag; colors: [Color]; box: Box; boxes: [Box];
  name: string; names: [string]; numbers: [long]; data: [ubyte];
  leaf: Leaf; leaves: [Leaf]; part: Part; parts: [Part]; ratios: [float];
}
root_type Root; file_identifier "TEST"; file_extension "test";
"""


@pytest.fixture(scope="module")
def schema() -> Schema:
    """A schema with every kind of field."""
    document = parse_schema("test.fbs", lambda _: TEXT)
    assert document.root is not None
    return Schema(document, document.root, document.identifier, document.extension)


def test_bytes_of_a_small_file(schema: Schema) -> None:
    """Header, vtable and fields stand where the format wants them, worked out by hand."""
    data = schema.pack({"small": 7, "big": 1, "name": "hi"})
    expected = bytes.fromhex(
        "44000000"  # size of what follows
        "28000000"  # the root, counted from byte 4
        "54455354"  # TEST
    )
    assert data[:12] == expected
    assert len(data) == 0x44 + 4
    root = 4 + 0x28
    vtable = root - struct.unpack_from("<i", data, root)[0]
    # Table of 20 bytes, the widest field at its end: padding, slot 0, the text, slot 1.
    entries = struct.unpack_from("<13H", data, vtable)
    assert entries == (26, 20, 7, 12, 0, 0, 0, 0, 0, 0, 0, 0, 8)
    assert (root + 12) % 8 == 0
    assert struct.unpack_from("<BIQ", data, root + 7)[0::2] == (7, 1)
    name = root + 8 + struct.unpack_from("<I", data, root + 8)[0]
    assert data[name : name + 7] == b"\2\0\0\0hi\0"


def test_every_kind_of_field_is_read_back(schema: Schema) -> None:
    """Values come back with names for enumerators and tuples for vectors and structs."""
    root = schema.read(
        schema.pack(
            {
                "small": 255,
                "big": 2**64 - 1,
                "ratio": 0.1,
                "on": True,
                "count": -3,
                "color": "Blue",
                "flags": "Q P",
                "colors": ["Green", 2],
                "box": {"low": {"y": 1, "x": 2}, "high": (3, -4)},
                "boxes": [((0, 1), (2, 3)), ((4, 5), (6, 7))],
                "name": "grüße",
                "names": ["", "b"],
                "numbers": range(-1, 2),
                "data": b"\0\1\xff",
                "leaf": {"n": 3},
                "leaves": [{}, {"n": 1}],
                "part_type": "Twig",
                "part": {"name": "t"},
                "parts_type": ["Leaf", "Twig"],
                "parts": [{"n": 9}, {"name": "u"}],
            }
        )
    )
    assert (root.small, root.big, root.on, root.count) == (255, 2**64 - 1, True, -3)
    assert root.ratio == struct.unpack("<f", struct.pack("<f", 0.1))[0]
    assert (root.color, root.flags, root.colors) == ("Blue", "P Q", ("Green", "Blue"))
    assert (root.box.low.x, root.box.high) == (2, (3, -4))
    assert root.boxes[1] == ((4, 5), (6, 7))
    assert (root.name, root.names, root.numbers) == ("grüße", ("", "b"), (-1, 0, 1))
    assert (bytes(root.data), type(root.data)) == (b"\0\1\xff", memoryview)
    assert (root.leaf.n, [leaf.n for leaf in root.leaves]) == (3, [0, 1])
    assert (root.part_type, root["part"].name) == ("Twig", "t")
    assert root.parts_type == ("Leaf", "Twig")
    assert (root.parts[0].n, root.parts[1].name) == (9, "u")


def test_absent_fields(schema: Schema) -> None:
    """Numbers have their default, everything else is None; unknown names are errors."""
    root = schema.read(schema.pack({}))
    assert (root.small, root.ratio, root.on, root.count) == (0, 0.0, False, 5)
    assert (root.color, root.flags) == ("Red", 0)
    assert [root[name] for name in ("box", "name", "numbers", "leaf", "part", "parts")] == [
        None
    ] * 6
    assert list(root) == []
    assert root.get("missing") is None
    with pytest.raises(AttributeError, match="Root has no field missing"):
        root.missing  # noqa: B018


def test_empty_and_absent_are_different(schema: Schema) -> None:
    """An empty vector or text is stored."""
    root = schema.read(schema.pack({"numbers": [], "name": "", "data": b"", "leaves": []}))
    assert (root.numbers, root.name, bytes(root.data), root.leaves) == ((), "", b"", ())
    assert list(root) == ["name", "numbers", "data", "leaves"]


def test_defaults_are_not_stored_but_negative_zero_is(schema: Schema) -> None:
    """-0.0 equals the default 0.0 and is another number all the same."""
    root = schema.read(schema.pack({"small": 0, "count": 5, "ratio": -0.0, "color": "Red"}))
    assert list(root) == ["ratio"]
    assert math.copysign(1, root.ratio) == -1


def test_a_shared_table_is_stored_once(schema: Schema) -> None:
    """Also when it is packed again from a view or from a dict of it."""
    leaf = {"n": 1}
    shared = schema.pack({"leaf": leaf, "leaves": [leaf, leaf]})
    copied = schema.pack({"leaf": {"n": 1}, "leaves": [{"n": 1}, {"n": 1}]})
    assert len(shared) < len(copied)
    root = schema.read(shared)
    assert root.leaf == root.leaves[0] == root.leaves[1]
    assert schema.pack(root) == shared
    assert schema.pack(root.as_dict()) == shared


@pytest.mark.parametrize("size", [(1 << 18) - 1, 1 << 18, (1 << 18) + 1])
def test_much_behind_little(schema: Schema, size: int) -> None:
    """What is in the file already stays where it is when room is made for a large vector."""
    content = np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()
    value = {"name": "abc", "names": ["d", "ef"], "data": content, "numbers": [-5, 1 << 40]}
    view = schema.read(schema.pack(value), "x.test")
    assert (view["name"], tuple(view["names"])) == ("abc", ("d", "ef"))
    assert bytes(view["data"]) == content
    assert tuple(view["numbers"]) == (-5, 1 << 40)


def test_shared_tables_with_much_in_them_are_stored_once() -> None:
    """Fifteen levels, each with the one below twice: sixteen tables, not 2**15."""
    levels = "".join(f"table T{n} {{ a: T{n - 1}; b: T{n - 1}; }}" for n in range(1, 16))
    text = f"table T0 {{ data: [ubyte]; }} {levels} root_type T15;"
    document = parse_schema("t.fbs", lambda _: text)
    assert document.root is not None
    schema = Schema(document, document.root, "TEST", "")
    content = bytes(range(256)) * (1 << 13)
    value: dict[str, Any] = {"data": content}
    for _ in range(15):
        value = {"a": value, "b": value}
    data = schema.pack(value)
    assert len(content) < len(data) < len(content) + 2000
    view = schema.read(data, "t")
    for level in range(15):
        view = view["ab"[level % 2]]
    assert bytes(view["data"]) == content


def test_tables_are_packed_one_by_one(schema: Schema) -> None:
    """Each is let go of at once, and what several share, also large, is in the file once."""
    leaf_type, root_type = schema.table_type("Leaf"), schema.table_type("Root")
    content = np.random.default_rng(3).integers(0, 256, 3 << 19, np.uint8).tobytes()
    shared, packing = {"n": 3}, schema.packing()
    leaves: list[Any] = [packing.add(leaf_type, {"n": n % 256}) for n in range(1000)]
    inner = [
        packing.add(root_type, {"leaf": shared, "data": content, "part_type": "Leaf", "part": part})
        for part in [{"n": n} for n in range(7)]
    ]
    assert len(packing.tables) == 1
    assert len(set(inner)) == 7
    root = schema.read(packing.finish({"leaves": [*leaves, shared], "data": content, "name": "x"}))
    assert [leaf.n for leaf in root.leaves] == [n % 256 for n in [*range(1000), 3]]
    assert (bytes(root.data), root.name) == (content, "x")


def test_constants_are_read_without_a_copy(schema: Schema) -> None:
    """The memoryview is of the file itself."""
    data = schema.pack({"data": bytes(1000)})
    assert schema.read(data).data.obj is data


def test_arrays_are_byte_vectors(schema: Schema) -> None:
    """Anything contiguous with a buffer, whatever its shape."""
    array = np.array([[1, 2, 3], [4, 5, 6]], "<i2")
    root = schema.read(schema.pack({"data": array}))
    assert bytes(root.data) == bytes.fromhex("0100 0200 0300 0400 0500 0600")
    with pytest.raises(PackError, match=r"Root\.data: .* does not fit \[ubyte\]"):
        schema.pack({"data": array.T})


def test_json_form_of_wide_floats() -> None:
    """A double has more digits than a float of the same number, in vectors and structs, too."""
    text = (
        "struct S { d: double; f: float; } table R { d: double; f: float; s: S; ds: [double]; "
        'fs: [float]; } root_type R; file_identifier "WIDE";'
    )
    document = parse_schema("wide.fbs", lambda _: text)
    assert document.root is not None
    wide = Schema(document, document.root, document.identifier, document.extension)
    narrow = struct.unpack("<f", struct.pack("<f", 0.1))[0]
    given = {"d": narrow, "f": 0.1, "s": (narrow, 0.1), "ds": [narrow], "fs": [0.1]}
    assert wide.read(wide.pack(given)).as_dict() == {
        "d": 0.10000000149011612,
        "f": 0.1,
        "s": {"d": 0.10000000149011612, "f": 0.1},
        "ds": [0.10000000149011612],
        "fs": [0.1],
    }


def test_json_form(schema: Schema) -> None:
    """Defaults are shown, floats are as short as float32 allows, bytes are numbers."""
    data = schema.pack({"ratio": 0.1, "data": b"\1\2", "box": ((1, 2), (3, 4)), "leaf": {}})
    root = schema.read(data)
    assert root.as_dict() == {
        "small": 0,
        "big": 0,
        "ratio": 0.1,
        "on": False,
        "count": 5,
        "color": "Red",
        "flags": 0,
        "box": {"low": {"y": 1, "x": 2}, "high": {"y": 3, "x": 4}},
        "data": [1, 2],
        "leaf": {"n": 0},
        "part_type": "NONE",
    }
    assert root.as_dict(defaults=False).keys() == {"ratio", "box", "data", "leaf"}
    infinite = schema.read(schema.pack({"ratio": -math.inf, "ratios": [math.inf, 1.5]}))
    assert infinite.as_dict(defaults=False) == {"ratio": "-inf", "ratios": ["inf", 1.5]}
    assert schema.read(schema.pack(infinite.as_dict())).ratios == (math.inf, 1.5)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"small": 256}, "Root.small: 256 does not fit ubyte: bad number 256 for type uint8"),
        ({"small": "x"}, "Root.small: 'x' does not fit ubyte"),
        ({"ratio": 1e39}, "Root.ratio: 1e+39 does not fit float: float too large"),
        ({"color": "Pink"}, "Root.color: 'Pink' does not fit Color: Color has no 'Pink'; it has"),
        ({"color": 3}, "Root.color: 3 does not fit Color: Color has no number 3"),
        ({"colors": ["Pink"]}, "Root.colors: ['Pink'] does not fit [Color]"),
        ({"box": ((1, 2),)}, "Root.box: ((1, 2),) does not fit Box: Box needs 2 values, not 1"),
        ({"box": {"low": (1, 2)}}, "Box needs the fields low, high"),
        ({"box": ((1, 2), (3, 2**31))}, "does not fit Box: bad number 2147483648 for type int32"),
        (
            {"boxes": [((1, 2), (3, 0.5))]},
            "does not fit [Box]: required argument is not an integer",
        ),
        ({"data": [256]}, "Root.data: [256] does not fit [ubyte]: bytes must be in range(0, 256)"),
        ({"name": 3}, "Root.name: 3 does not fit string"),
        ({"numbers": [1, 2**63]}, "Root.numbers: [1, 9223372036854775808] does not fit [long]"),
        ({"leaf": {"m": 1}}, "Leaf has no field m"),
        ({"part": {"n": 1}}, "Root.part: {'n': 1} does not fit Part: the field that names its"),
        ({"parts": []}, "the field that names its tables is missing"),
        ({"leaf": 3}, "Root.leaf: 3 does not fit Leaf"),
    ],
)
def test_values_that_do_not_fit(schema: Schema, value: dict[str, Any], message: str) -> None:
    """The message names table and field."""
    with pytest.raises(PackError) as error:
        schema.pack(value)
    assert message in str(error.value)


def test_files_have_2_gib_at_most(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    """What offsets can reach; 2 MiB stand for it here."""
    monkeypatch.setattr(Builder, "MAX_BUFFER_SIZE", 1 << 21)
    assert len(schema.read(schema.pack({"data": bytes((1 << 21) - 64)})).data) == (1 << 21) - 64
    with pytest.raises(PackError, match="the file would exceed the 2 GiB that a flatbuffer can"):
        schema.pack({"data": bytes(1 << 21)})


def test_structs_are_padded_to_their_alignment() -> None:
    """Numbers stand at multiples of their size, and so do the structs after the first."""
    text = """
    struct Inner { a: ubyte; b: short; }
    struct Outer { inner: Inner; c: ulong; d: ubyte; }
    table Root { outers: [Outer]; }
    root_type Root; file_identifier "TEST";
    """
    document = parse_schema("test.fbs", lambda _: text)
    assert document.root is not None
    data = Schema(document, document.root, "TEST", "").pack({"outers": [((1, 2), 3, 4)] * 2})
    expected = bytes.fromhex("01000200 00000000 0300000000000000 0400000000000000")
    start = data.index(expected * 2)
    assert start % 8 == 0
    assert data[start - 4 : start] == b"\2\0\0\0"


def _matches(view: TableView, value: dict[str, Any]) -> bool:
    """True if a view has exactly the values of a dict, where None and defaults may be left out."""
    for field in view.table_type.fields:
        expected = value.get(field.name)
        actual = view[field.name]
        if expected is None:
            is_default = actual in (None, "NONE") or field.name not in view
            if not is_default:
                return False
        elif not _equal(actual, expected):
            return False
    return True


def _equal(actual: Any, expected: Any) -> bool:
    if isinstance(actual, TableView):
        return _matches(actual, expected)
    if isinstance(actual, memoryview):
        return bytes(actual) == expected
    if isinstance(expected, list):
        pairs = zip(actual, expected, strict=True)
        return len(actual) == len(expected) and all(_equal(a, e) for a, e in pairs)
    return actual == expected


PROGRAM = load_schema("TTNN/binary.fbs")
METAL = load_schema("TTMetal/binary.fbs")
SYSTEM = load_schema("Common/system_desc.fbs")


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data(), schema=st.sampled_from([PROGRAM, METAL, SYSTEM]))
def test_what_is_packed_is_read_back(data: st.DataObject, schema: Schema) -> None:
    """For random tables of the project's schemas, twice with the same bytes."""
    value = data.draw(tables(schema.root))
    packed = schema.pack(value)
    assert len(packed) % 4 == 0
    root = schema.read(packed)
    assert _matches(root, value)
    assert schema.pack(value) == packed
    assert schema.pack(root) == packed
    assert schema.pack(root.as_dict()) == packed


def test_numbers_are_aligned(schema: Schema) -> None:
    """Every number stands at a multiple of its size in the file, as C++ readers demand."""
    value = {"name": "odd", "small": 1, "big": 2, "numbers": [3, 4], "leaf": {"n": 1}}
    data = schema.pack(value)
    assert schema.read(data).leaf.identity[1] % 4 == 0
    root = 4 + struct.unpack_from("<I", data, 4)[0]
    vtable = root - struct.unpack_from("<i", data, root)[0]
    for field in schema.root.fields:
        entry = vtable + 4 + 2 * field.slot
        if entry >= vtable + struct.unpack_from("<H", data, vtable)[0]:
            continue
        at = struct.unpack_from("<H", data, entry)[0]
        if at:
            assert (root + at) % field.type.alignment == 0
    assert data.index(struct.pack("<qq", 3, 4)) % 8 == 0


def test_files_of_the_flatbuffers_package_are_read() -> None:
    """Its builder stores vtables once for several tables, and after some of them."""
    builder = Builder(0)
    chips: list[int] = []
    for size in (5, 6, 7):
        builder.StartObject(15)
        builder.PrependUint64Slot(2, size, 0)
        chips.append(builder.EndObject())
    builder.StartVector(4, 3, 4)
    for chip in reversed(chips):
        builder.PrependUOffsetTRelative(chip)
    vector = builder.EndVector()
    builder.StartObject(5)
    builder.PrependUOffsetTRelativeSlot(0, vector, 0)
    system = builder.EndObject()
    product = builder.CreateString("n300")
    builder.StartObject(4)
    builder.PrependUOffsetTRelativeSlot(3, system, 0)
    builder.PrependUOffsetTRelativeSlot(2, product, 0)
    root = builder.EndObject()
    builder.FinishSizePrefixed(root, b"TTSY")
    view = SYSTEM.read(bytes(builder.Output()))
    assert view.product_identifier == "n300"
    assert [chip.l1_size for chip in view.system_desc.chip_descs] == [5, 6, 7]


def test_unknown_fields_are_ignored() -> None:
    """A later schema may have added fields at the end of a table."""
    head = 'file_identifier "ABCD"; root_type T; table T { a: int;'
    old = parse_schema("old.fbs", lambda _: head + "}")
    new = parse_schema("new.fbs", lambda _: head + "b: string; c: ulong; }")
    assert old.root is not None
    assert new.root is not None
    data = Schema(new, new.root, "ABCD", "").pack({"a": 3, "b": "x", "c": 1})
    assert Schema(old, old.root, "ABCD", "").read(data).as_dict() == {"a": 3}
