"""The reader of schema texts."""

from __future__ import annotations

import struct

import pytest

from ttmlir.schema import Schema, SchemaError, TableView, load_schema
from ttmlir.schema.parser import SCHEMA_OF_IDENTIFIER, SchemaDocument, parse_schema
from ttmlir.schema.types import EnumType, StructType, TableType, UnionType, VectorType


def parse(text: str, **included: str) -> SchemaDocument:
    """Parse a schema that is the file `a/root.fbs`, next to `a/NAME.fbs` for each keyword."""
    files = {"a/root.fbs": text} | {f"a/{name}.fbs": body for name, body in included.items()}
    return parse_schema("a/root.fbs", files.__getitem__)


def test_slots_are_declaration_order_and_a_union_takes_two() -> None:
    """A union field is preceded by its tag, a vector of unions by a vector of tags."""
    document = parse(
        "table A {} table B {} union U { A, B }"
        "table T { x: int; u: U; y: [U]; z: string; } root_type T;"
    )
    assert document.root is not None
    fields = [(field.slot, field.name, field.type.name) for field in document.root.fields]
    assert fields == [
        (0, "x", "int"),
        (1, "u_type", "U"),
        (2, "u", "U"),
        (3, "y_type", "[U]"),
        (4, "y", "[U]"),
        (5, "z", "string"),
    ]
    assert document.root.by_name["u_type"].type.size == 1
    assert document.root.by_name["u"].type.size == 4


def test_enumerators_count_on_and_flags_are_bits() -> None:
    """A member without a number follows the one before; a flag's number is its bit."""
    document = parse(
        "enum E: short { A, B = 5, C, D = -2 } enum F: ubyte (bit_flags) { P, Q = 3, }"
    )
    e, f = document.types["E"], document.types["F"]
    assert isinstance(e, EnumType)
    assert isinstance(f, EnumType)
    assert dict(e.members) == {"A": 0, "B": 5, "C": 6, "D": -2}
    assert dict(f.members) == {"P": 1, "Q": 8}
    assert [f.decode(number) for number in (0, 1, 8, 9, 2, 10)] == [0, "P", "Q", "P Q", None, None]
    assert f.encode("Q P") == 9


@pytest.mark.parametrize(
    ("names", "low", "high", "code"),
    [
        (("bool",), 0, 1, "?"),
        (("byte", "int8"), -128, 127, "b"),
        (("ubyte", "uint8"), 0, 255, "B"),
        (("short", "int16"), -(2**15), 2**15 - 1, "h"),
        (("ushort", "uint16"), 0, 2**16 - 1, "H"),
        (("int", "int32"), -(2**31), 2**31 - 1, "i"),
        (("uint", "uint32"), 0, 2**32 - 1, "I"),
        (("long", "int64"), -(2**63), 2**63 - 1, "q"),
        (("ulong", "uint64"), 0, 2**64 - 1, "Q"),
        (("float", "float32"), -1.5, 2.0**127, "f"),
        (("double", "float64"), -1.5, 2.0**1023, "d"),
    ],
)
def test_numbers_have_the_ranges_of_flatbuffers(
    names: tuple[str, ...], low: float, high: float, code: str
) -> None:
    """Each name stands for the number type of flatbuffers; texts show the first of its names."""
    for name in names:
        document = parse(f"table T {{ x: {name}; y: [{name}]; }} root_type T;")
        assert document.root is not None
        type = document.root.by_name["x"].type
        assert (type.name, type.size) == (names[0], struct.calcsize(code))
        schema = Schema(document, document.root, "TEST", "")
        data = schema.pack({"x": high, "y": [low, high]})
        assert struct.pack(f"<I2{code}", 2, low, high) in data
        view = schema.read(data, "t")
        assert (view["x"], tuple(view["y"])) == (high, (low, high))


def test_structs_are_padded_to_their_alignment() -> None:
    """Numbers stand at multiples of their size, and so does the end."""
    document = parse("struct I { a: ubyte; b: short; } struct S { i: I; c: ulong; d: ubyte; }")
    inner, outer = document.types["I"], document.types["S"]
    assert isinstance(inner, StructType)
    assert isinstance(outer, StructType)
    assert (inner.offsets, inner.size, inner.alignment) == ([0, 2], 4, 2)
    assert (outer.offsets, outer.size, outer.alignment) == ([0, 8, 16], 24, 8)


def test_names_are_looked_up_from_the_inside_out() -> None:
    """The innermost namespace that declares a name gives its meaning."""
    document = parse(
        'include "outer.fbs"; namespace a.b; table In { x: Same; y: Other; } root_type In;',
        outer="namespace a; table Same {} table Other {} namespace a.b; table Same { z: int; }",
    )
    assert document.root is not None
    same, other = (field.type for field in document.root.fields)
    assert isinstance(same, TableType)
    assert "z" in same.by_name
    assert other is document.types["a.Other"]


def test_types_may_be_declared_after_their_use() -> None:
    """Also the members of a union that a table before it uses."""
    document = parse("table T { u: [U]; } union U { V } table V { t: uint = 7; } root_type T;")
    assert document.root is not None
    vector = document.root.by_name["u"].type
    assert isinstance(vector, VectorType)
    assert isinstance(vector.element, UnionType)
    assert vector.element.by_name["V"].by_name["t"].default == 7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("table T {\n x: int (deprecated); }", "a/root.fbs:2: attributes of fields are not"),
        ("table T { x: Missing; }", "a/root.fbs:1: unknown type Missing"),
        ("struct S { x: string; }", "S.x: structs hold numbers and structs only"),
        ("enum E: float { A }", "'float' is not an integer type"),
        ("enum E: ubyte { A = 1 } table T { e: E; }", "E has no member 0 as default"),
        ("table T { t: [T]; } root_type T;", "table T contains itself"),
        ("rpc_service S {}", "unsupported declaration 'rpc_service'; supported are namespace"),
        ("table T { x: int }", "expected ';', got '}'"),
        ("table T { x: string = 3; }", "a field of type string cannot have the default 3"),
        ("table T {} table T {}", "T is declared twice"),
        ("enum E: int { A } root_type E;", "the root type E is not a table"),
        ("union U { int }", "U.int is not a table"),
        ("table T { x: int; } %", "unexpected character '%'"),
        ("include 3;", "expected a quoted string, got '3'"),
        ("table 3 {}", "expected a name, got '3'"),
    ],
)
def test_what_is_not_understood_is_refused(text: str, message: str) -> None:
    """The message names file, line and reason."""
    with pytest.raises(SchemaError) as error:
        parse(text)
    assert message in str(error.value)


@pytest.mark.parametrize(("identifier", "path"), SCHEMA_OF_IDENTIFIER.items())
def test_the_schemas_of_the_project(identifier: str, path: str) -> None:
    """They have their identifiers, and no field that a view's own attributes would hide."""
    schema = load_schema(path)
    assert schema.identifier == identifier
    own = {name for name in dir(TableView) if not name.startswith("__")}
    for type in schema.document.types.values():
        if isinstance(type, TableType):
            assert not own & set(type.by_name), type.name


def test_files_need_a_root() -> None:
    """Of the project's schemas, those that others include describe no files."""
    with pytest.raises(SchemaError, match=r"^Common/types\.fbs: no root_type is declared$"):
        load_schema("Common/types.fbs")
