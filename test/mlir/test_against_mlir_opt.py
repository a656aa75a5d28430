"""Our text of every construct is that of mlir-opt, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.mlir_opt import mlir_opt, ours

INPUTS = sorted((Path(__file__).parent / "Inputs").glob("*.mlir"))
MODES: dict[str, tuple[tuple[str, ...], dict[str, object]]] = {
    "pretty": ((), {}),
    "generic": (("--mlir-print-op-generic",), {"generic": True}),
    "debuginfo": (("--mlir-print-debuginfo",), {"debuginfo": True}),
    "generic-debuginfo": (
        ("--mlir-print-op-generic", "--mlir-print-debuginfo"),
        {"generic": True, "debuginfo": True},
    ),
    "local-scope": (("--mlir-print-local-scope",), {"local_scope": True}),
    "value-users": (("--mlir-print-value-users",), {"value_users": True}),
    "unique-ids": (("--mlir-print-unique-ssa-ids",), {"unique_ssa_ids": True}),
    "elided": (("--mlir-elide-elementsattrs-if-larger=2",), {"elide_larger_than": 2}),
    "hex": (("--mlir-print-elementsattrs-with-hex-if-larger=1",), {"hex_larger_than": 1}),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.stem)
def test_printed_text_is_that_of_mlir_opt(path: Path, mode: str) -> None:
    """Each input prints as mlir-opt prints it, in each form."""
    flags, options = MODES[mode]
    text = path.read_text()
    assert ours(text, **options).rstrip("\n") == mlir_opt(text, *flags).rstrip("\n")


@pytest.mark.parametrize("mode", ["pretty", "generic-debuginfo"])
@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.stem)
def test_printed_text_reads_back_to_the_same(path: Path, mode: str) -> None:
    """Reading what was printed and printing again changes nothing."""
    _, options = MODES[mode]
    once = ours(path.read_text(), **options)
    assert "error:" not in once
    assert ours(once, **options) == once


def attributes_module(values: list[str]) -> str:
    """One operation with a numbered attribute for each value."""
    entries = ", ".join(f"v{number:03} = {value}" for number, value in enumerate(values))
    return f'"t.op"() {{{entries}}} : () -> ()\n'


def assert_same(values: list[str]) -> None:
    """Both programs print the values in the same way."""
    text = attributes_module(values)
    assert ours(text).rstrip("\n") == mlir_opt(text).rstrip("\n")


WIDTHS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "f8E5M2": 8, "f8E4M3FN": 8}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type", WIDTHS)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_float_bit_patterns(type: str, data: st.DataObject) -> None:
    """Any bit pattern of a float type, NaNs with payload included, prints as in MLIR."""
    patterns = st.integers(0, (1 << WIDTHS[type]) - 1)
    bits = data.draw(st.lists(patterns, min_size=100, max_size=150))
    digits = WIDTHS[type] // 4
    assert_same([f"0x{pattern:0{digits}X} : {type}" for pattern in bits])
    assert_same([f"dense<0x{pattern:0{digits}X}> : tensor<3x{type}>" for pattern in bits])


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("type", ["f16", "bf16", "f32", "f64"])
@settings(max_examples=6, deadline=None)
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=50, max_size=100))
def test_decimal_literals_round_as_in_mlir(type: str, values: list[float]) -> None:
    """A decimal literal is rounded to its type, overflowing to infinity."""
    literals = [f"{value:.17e}" for value in values]
    assert_same([f"{literal} : {type}" for literal in literals])
    assert_same([f"dense<[{literal}, 1.0]> : tensor<2x{type}>" for literal in literals])


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_integers_of_any_width(data: st.DataObject) -> None:
    """Integers print signed or unsigned as their type says."""
    widths = st.sampled_from([1, 4, 8, 13, 16, 24, 32, 48, 64, 100])
    values: list[str] = []
    for _ in range(40):
        width = data.draw(widths)
        sign = data.draw(st.sampled_from(["i", "si", "ui"]))
        low = 0 if sign == "ui" else -(1 << (width - 1))
        high = (1 << (width - 1)) - 1 if sign == "si" else (1 << width) - 1
        value = data.draw(st.integers(low, high))
        values.append(f"{value} : {sign}{width}")
        values.append(f"dense<[{value}, {low}]> : tensor<2x{sign}{width}>")
    assert_same(values)


@settings(max_examples=10, deadline=None)
@given(texts=st.lists(st.binary(max_size=12), min_size=20, max_size=40))
def test_strings_of_any_bytes(texts: list[bytes]) -> None:
    """Strings print with the same escapes, whatever bytes they hold."""
    assert_same(['"' + "".join(f"\\{byte:02X}" for byte in text) + '"' for text in texts])


EXPRESSIONS = st.recursive(
    st.sampled_from(["d0", "d1", "s0", "1", "4", "-3"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-"]), inner),
        st.tuples(inner, st.just("*"), st.sampled_from(["2", "-1", "s0"])),
        st.tuples(inner, st.sampled_from(["floordiv", "ceildiv", "mod"]), st.just("4")),
    ).map(lambda parts: f"({' '.join(parts)})"),
    max_leaves=8,
)


@settings(max_examples=10, deadline=None)
@given(expressions=st.lists(EXPRESSIONS, min_size=30, max_size=60))
def test_affine_maps(expressions: list[str]) -> None:
    """Maps are simplified and printed as in MLIR."""
    assert_same([f"affine_map<(d0, d1)[s0] -> ({text})>" for text in expressions])
