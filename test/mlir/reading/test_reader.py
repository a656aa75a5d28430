"""What the reader makes of a text: places, names, properties, aliases, resources."""

from __future__ import annotations

import time

import pytest
from oracles.mlir_opt import FILE, ours
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FileLineColLoc,
    FusedLoc,
    ModuleOp,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Operation

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.attributes import blob_bytes
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError, FileLineCol, file_line_col, name_of


def read(text: str, **options: int) -> ModuleOp:
    """The module that a text spells; operations without a definition are allowed."""
    return parse_module(text, FILE, make_context(DIALECTS, allow_unregistered=True), **options)


def first(text: str) -> Operation:
    """The first operation of a text."""
    return next(iter(read(text).ops))


def test_operation_stands_where_its_name_stands() -> None:
    """The place of an operation is that of its name, after its results."""
    op = first('\n\n  %0, %1 = "a.b"() : () -> (i8, i8)')
    assert file_line_col(op.location) == FileLineCol(FILE, 3, 12)


def test_first_line_shifts_places() -> None:
    """A part of a file has the line numbers of the file."""
    module = read('\n"a.b"() : () -> ()', first_line=10)
    assert file_line_col(next(iter(module.ops)).location) == FileLineCol(FILE, 11, 1)


def test_arguments_have_places() -> None:
    """Arguments of functions and blocks stand where their names stand, or where the text says."""
    function = first(
        'func.func @f(%a: i32, %b: i8 loc("named")) {\n^bb0:\n  return\n}'.replace("^bb0:\n", "")
    )
    a, b = function.regions[0].blocks[0].args
    assert file_line_col(a.location) == FileLineCol(FILE, 1, 14)
    assert name_of(b.location) == "named"


def test_implicit_module_and_its_place() -> None:
    """Bare operations get a module at line 0, a lone module stays, nothing gives an empty one."""
    assert file_line_col(read('"a.b"() : () -> ()').location) == FileLineCol(FILE, 0, 0)
    assert file_line_col(read("\nmodule {}").location) == FileLineCol(FILE, 2, 1)
    assert len(list(read("module {}\nmodule {}").ops)) == 2
    assert not list(read("// nothing").ops)


def test_explicit_unknown_location_stays_unknown() -> None:
    """`loc(unknown)` is no invitation to fill in the place."""
    assert isinstance(first('"a.b"() : () -> () loc(unknown)').location, UnknownLoc)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [('"f":1:2 to :9', 1, 2), ('"f":1:2 to 3:4', 1, 2), ('"f":1:2', 1, 2)],
)
def test_ranges_keep_their_start(text: str, line: int, column: int) -> None:
    """A range of newer MLIR is read; its start is kept."""
    location = first(f'"a.b"() : () -> () loc({text})').location
    assert file_line_col(location) == FileLineCol("f", line, column)


def test_name_and_fused_locations_keep_their_parts() -> None:
    """Names, children and metadata of locations are kept."""
    name = first('"a.b"() : () -> () loc("n"("f":1:2))').location
    assert isinstance(name, NameLoc)
    assert isinstance(name.location, FileLineColLoc)
    fused = first('"a.b"() : () -> () loc(fused<"m">["a", "b"])').location
    assert isinstance(fused, FusedLoc)
    assert fused.metadata == StringAttr("m")
    assert name_of(fused) == "a"


def test_aliases_may_follow_their_use() -> None:
    """Aliases of attributes, types and locations are found further down, through each other."""
    op = first(
        '"a.b"() {x = #one} : () -> !t loc(#place)\n'
        '#one = [#two]\n#two = "2"\n!t = i8\n#place = loc("p")'
    )
    assert str(op.attributes["x"]) == '["2"]'
    assert str(op.results[0].type) == "i8"
    assert name_of(op.location) == "p"


def test_names_of_a_region_end_with_it() -> None:
    """The same name can be used in two functions and two regions."""
    regions = '({ %b = "x.y"() : () -> i8 }, { %b = "x.y"() : () -> i16 })'
    text = f'func.func @f() {{ %a = "x.y"() {regions} : () -> i8 return }}'
    assert "error" not in ours(text + text.replace("@f", "@g"))


def test_isolated_functions_do_not_see_outer_names() -> None:
    """A value of the module is no value of its functions."""
    text = '%a = "x.y"() : () -> i8\nfunc.func @f() { "x.y"(%a) : (i8) -> () return }'
    assert f"{FILE}:2:24: error: use of undeclared SSA value name" in ours(text)


ADD = '"ttir.add"(%a, %a, %e) {} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>'


@pytest.mark.parametrize(
    "dictionaries",
    [
        "<{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [], unknown = 1}>",
        "<{operand_segment_sizes = array<i32: 2, 1>, operand_constraints = []}>",
        "{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = []}",
        "{operand_constraints = [], operand_segment_sizes = array<i32: 2, 1>}",
    ],
)
def test_properties_in_either_dictionary(dictionaries: str) -> None:
    """Properties are found in both dictionaries and both spellings of segment sizes."""
    text = f"%a = tensor.empty() : tensor<2xf32>\n%e = tensor.empty() : tensor<2xf32>\n{ADD}"
    op = list(read(text.replace("{}", dictionaries)).ops)[2]
    sizes = op.properties["operandSegmentSizes"]
    assert isinstance(sizes, DenseArrayBase)
    assert tuple(sizes.iter_values()) == (2, 1)
    assert sorted(op.properties) == ["operandSegmentSizes", "operand_constraints"]
    assert not op.attributes


def test_blobs_belong_to_their_module() -> None:
    """Two modules with a blob of the same name keep them apart, and their names."""
    op = '"a.b"() {x = dense_resource<b> : tensor<2xi8>} : () -> ()\n'
    blobs = '{-# dialect_resources: { builtin: { b: "0x01000000%s" } } #-}'
    one, two = read(op + blobs % "0102"), read(op + blobs % "0304")
    assert blob_bytes(one, "b") == b"\x01\x02"
    assert blob_bytes(next(iter(two.ops)), "b") == b"\x03\x04"
    assert blob_bytes(one, "c") is None


def test_unknown_dialects_need_permission() -> None:
    """Without permission, operations and attributes of unknown dialects are refused by name."""
    for text, message in (
        ('"foo.bar"() : () -> ()', "operation being parsed with an unregistered dialect"),
        ('"func.func"() {x = #foo.bar} : () -> ()', "of the unknown dialect 'foo'"),
        ('"tt.nothing"() : () -> ()', "unregistered operation 'tt.nothing' found in dialect"),
    ):
        with pytest.raises(DiagnosticError, match=message):
            parse_module(text, FILE, make_context(DIALECTS))


MANY = 30_000
_TYPES = ", ".join(["i32"] * MANY)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("used", "definition"),
    [
        ([f"%x#{n}" for n in range(MANY)], f'%x:{MANY} = "a.def"() : () -> ({_TYPES})'),
        (["%x"] * MANY, '%x = "a.def"() : () -> i32'),
        (
            [f"%x{n}" for n in range(MANY)],
            "\n".join(f'%x{n} = "a.def"() : () -> i32' for n in range(MANY)),
        ),
    ],
    ids=["results", "one value", "operations"],
)
def test_values_that_are_defined_later_take_linear_time(used: list[str], definition: str) -> None:
    """However many operands of one operation they are."""
    text = f'"a.use"({", ".join(used)}) : ({_TYPES}) -> ()\n{definition}'
    start = time.process_time()
    user, *makers = read(text).ops
    assert time.process_time() - start < 8
    results = [result for op in makers for result in op.results]
    assert list(user.operands) == (results if len(results) > 1 else results * MANY)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"#a{n} = [{n}]\n" for n in range(300))
        + '"a.b"() {'
        + ", ".join(f"x{n} = #a{n}" for n in range(300))
        + "} : () -> ()",
        "".join(f"!a{n} = tuple<i{n + 1}>\n" for n in range(300))
        + '"a.b"() : () -> ('
        + ", ".join(f"!a{n}" for n in range(300))
        + ")",
        '"a.b"() : () -> (' + ", ".join(f"tensor<{n}xcomplex<f32>>" for n in range(300)) + ")",
        '"a.b"() : () -> (' + ", ".join(f"tuple<tuple<i{n + 1}>>" for n in range(300)) + ")",
        '"a.b"() {x = [' + ", ".join(f"[[{n}], {{y = {n}}}]" for n in range(300)) + "]} : () -> ()",
        '"a.b"() {x = ['
        + ", ".join(f"affine_map<() -> ({n})>" for n in range(300))
        + "]} : () -> ()",
        '"a.b"() ({' + '"a.b"() ({}) : () -> ()\n' * 300 + "}) : () -> ()",
        "".join(f'"a.b"() : () -> () loc(callsite("x"("f":{n}:1) at "y"))\n' for n in range(300)),
        "".join(f'"a.b"() : () -> () loc(#loc{n})\n' for n in range(300))
        + "".join(f'#loc{n} = loc("x"("f":{n}:1))\n' for n in range(300)),
    ],
    ids=["attributes", "types", "tensors", "tuples", "lists", "maps", "regions", "places", "named"],
)
def test_what_stands_side_by_side_is_not_nested(text: str) -> None:
    """The limit of nesting holds for depth, not for how much is read."""
    assert "error" not in ours(text)
