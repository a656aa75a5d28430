"""Attributes, types and locations that double at each level take time linear in their text."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from oracles.mlir_opt import FILE
from running.confinement import confined

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.printing import MAX_ATTRIBUTE_LENGTH, show_attribute
from ttmlir.mlir.quoting import MAX_SHOWN
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError, file_line_col, name_of
from ttmlir.mlir.verifier import verify_module

LEVELS = 40


def doubling(first: str, level: str, last: str) -> str:
    """A text whose aliases use the one before twice: `{b}` before, `{n}` the number of a level."""
    lines = [first, *(level.format(n=n, b=n - 1) for n in range(1, LEVELS + 1)), last]
    return "\n".join(lines).replace("{n}", str(LEVELS)) + "\n"


ARRAYS = doubling("#a0 = [1, 2]", "#a{n} = [#a{b}, #a{b}]", "module attributes {x.y = #a{n}} {}")
DICTIONARIES = doubling(
    "#a0 = {x = 1}", "#a{n} = {{x = #a{b}, y = #a{b}}}", "module attributes {x.y = #a{n}} {}"
)
TUPLES = doubling(
    "!a0 = i32", "!a{n} = tuple<!a{b}, !a{b}>", "func.func private @f(!a{n}) -> !a{n}"
)
FUNCTIONS = doubling(
    "!a0 = i32", "!a{n} = (!a{b}, !a{b}) -> !a{b}", "func.func private @f(!a{n}) -> !a{n}"
)
ENCODINGS = doubling(
    "#a0 = 1",
    "#a{n} = [tensor<2xi32, #a{b}>, tensor<3xi32, #a{b}>]",
    "func.func private @f(tensor<2xi32, #a{n}>)",
)
LOCATIONS = doubling(
    '#l0 = loc("x")',
    '#l{n} = loc(fused[#l{b}, #l{b}, "n{n}"])',
    "func.func private @f() loc(#l{n})",
)
CALLS = doubling(
    '#l0 = loc("x")',
    "#l{n} = loc(callsite(#l{b} at #l{b}))",
    "func.func private @f() loc(#l{n})",
)
FUSED_METADATA = doubling(
    "#a0 = [1]",
    "#a{n} = [#a{b}, #a{b}]",
    'func.func private @f() loc(fused<#a{n}>["x", "y"])',
)
TEXTS = {
    "arrays": ARRAYS,
    "dictionaries": DICTIONARIES,
    "tuples": TUPLES,
    "functions": FUNCTIONS,
    "encodings": ENCODINGS,
    "locations": LOCATIONS,
    "calls": CALLS,
    "metadata": FUSED_METADATA,
}


def read(text: str):
    """The module of a text, verified."""
    module = parse_module(text, FILE, make_context(DIALECTS, allow_unregistered=True))
    assert verify_module(module) == []
    return module


@pytest.mark.parametrize("name", TEXTS)
def test_doubling_aliases_are_read_verified_and_printed(name: str) -> None:
    """2^40 parts that forty lines spell are handled as forty, and the text stays short."""
    with confined(megabytes=200, cpu_seconds=20):
        text = print_module(read(TEXTS[name]), debuginfo=True)
        assert len(text) < 200_000
        again = print_module(read(text), debuginfo=True)
        assert again == text


def test_printed_aliases_say_the_same_to_mlir_opt(tmp_path: Path) -> None:
    """At 14 levels MLIR, which has no such aliases, reads what is printed as what was read."""
    source = TUPLES.replace(f"(!a{LEVELS}) -> !a{LEVELS}", "(!a14) -> !a14")
    printed = print_module(read(source))
    assert "!type = tuple<" in printed
    texts: list[str] = []
    for name, text in (("source", source), ("printed", printed)):
        path = tmp_path / f"{name}.mlir"
        path.write_text(text)
        run = subprocess.run(["mlir-opt-19", path], capture_output=True, text=True, check=True)
        texts.append(run.stdout)
    assert texts[0] == texts[1]


def test_two_definitions_of_the_same_type_are_equal() -> None:
    """Types that double are compared in linear time although their parts are spelled twice."""
    levels = [
        f"!{x}{n} = tuple<!{x}{n - 1}, !{x}{n - 1}>" for x in "ab" for n in range(1, LEVELS + 1)
    ]
    function = f"func.func @f(%x: !a{LEVELS}) -> !b{LEVELS} {{ return %x : !b{LEVELS} }}"
    text = "\n".join(["!a0 = i32", "!b0 = i32", *levels, function])
    with confined(megabytes=200, cpu_seconds=20):
        first, second = read(text), read(text)
        assert print_module(first) == print_module(second)
        types = [next(iter(module.ops)).properties["function_type"] for module in (first, second)]
        assert types[0] == types[1]
        assert types[0] is not types[1]


@pytest.mark.parametrize("name", ["arrays", "tuples", "functions", "metadata"])
def test_text_without_aliases_is_refused_at_the_operation(name: str) -> None:
    """Where aliases are off, a text without end is an error at its operation."""
    with confined(megabytes=400, cpu_seconds=20), pytest.raises(DiagnosticError) as caught:
        print_module(read(TEXTS[name]), local_scope=True, debuginfo=True)
    [diagnostic] = caught.value.diagnostics
    assert f"would be longer than {MAX_ATTRIBUTE_LENGTH} characters" in diagnostic.message
    if name != "metadata":
        place = file_line_col(diagnostic.location)
        assert place is not None
        assert place.line == LEVELS + 2


def test_messages_cut_types_off() -> None:
    """A message shows the beginning of a type without end."""
    function = next(iter(read(TUPLES).ops))
    with confined(megabytes=200, cpu_seconds=20):
        shown = show_attribute(function.properties["function_type"])
        assert shown == str(function.properties["function_type"])
    assert len(shown) == MAX_SHOWN + len("...")
    assert shown.startswith("(" + "tuple<" * LEVELS + "i32, i32>, tuple<i32, i32>>, ")


def test_locations_without_a_place_are_searched_once() -> None:
    """Looking for a file or a name among 2^40 locations looks at each of the forty once."""
    level = "#l{n} = loc(fused[#l{b}, callsite(#l{b} at unknown)])"
    text = doubling("#l0 = loc(unknown)", level, "func.func private @f() loc(#l{n})")
    location = next(iter(read(text).ops)).location
    with confined(megabytes=100, cpu_seconds=10):
        assert file_line_col(location) is None
        assert name_of(location) is None
