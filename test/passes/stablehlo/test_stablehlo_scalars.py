"""Integers that are known while compiling, against NumPy's numbers of the same width."""

from __future__ import annotations

import pytest
from running.ir_text import parse

from ttmlir.passes.stablehlo.stablehlo_scalars import known_integer


def known(operation: str, types: str, *numbers: tuple[str, str]) -> int | None:
    """What is known of an operation on constants, each a text and a type."""
    lines = [
        f"%{name} = stablehlo.constant dense<{number}> : tensor<{type}>"
        for name, (number, type) in zip("abc", numbers, strict=False)
    ]
    operands = ", ".join(f"%{name}" for name in "abc"[: len(numbers)])
    text = "\n".join([*lines, f'%r = "stablehlo.{operation}"({operands}){types}'])
    module = parse(f"func.func @f(%x: tensor<i32>) {{\n{text}\nreturn\n}}")
    [result] = [op for op in module.walk() if op.name.startswith("stablehlo.")][-1].results
    return known_integer(result, {})


@pytest.mark.parametrize(
    ("name", "type", "numbers", "expected"),
    [
        ("add", "i8", ("100", "100"), -56),
        ("add", "ui8", ("200", "100"), 44),
        ("add", "i16", ("32767", "1"), -32768),
        ("add", "i32", ("2147483647", "1"), -2147483648),
        ("add", "ui32", ("4294967295", "2"), 1),
        ("add", "i64", ("9223372036854775807", "1"), -9223372036854775808),
        ("subtract", "ui16", ("1", "2"), 65535),
        ("multiply", "i8", ("16", "16"), 0),
        ("multiply", "i32", ("-3", "7"), -21),
        ("negate", "i8", ("-128",), -128),
        ("divide", "i32", ("7", "-2"), -3),
        ("remainder", "i32", ("-7", "2"), -1),
        ("maximum", "i32", ("-7", "2"), 2),
        ("minimum", "ui32", ("7", "2"), 2),
        ("and", "i1", ("true", "false"), 0),
        ("or", "i1", ("true", "false"), 1),
        ("not", "i8", ("5",), -6),
        ("clamp", "i32", ("1", "9", "5"), 5),
        ("clamp", "i32", ("1", "0", "5"), 1),
        ("clamp", "i32", ("7", "0", "5"), 5),
    ],
)
def test_operations_on_constants(
    name: str, type: str, numbers: tuple[str, ...], expected: int
) -> None:
    """Numbers wrap, quotients go towards 0; a clamp between exchanged bounds is the upper one."""
    types = ", ".join([f"tensor<{type}>"] * len(numbers))
    found = known(name, f" : ({types}) -> tensor<{type}>", *((each, type) for each in numbers))
    assert found == expected


@pytest.mark.parametrize("name", ["divide", "remainder"])
@pytest.mark.parametrize("numbers", [("7", "0"), ("-128", "-1"), ("0", "0")])
def test_numbers_that_no_processor_divides_give_no_warning(
    name: str, numbers: tuple[str, str]
) -> None:
    """Some number, as StableHLO leaves open which; warnings would be errors here."""
    types = " : (tensor<i8>, tensor<i8>) -> tensor<i8>"
    found = known(name, types, *((each, "i8") for each in numbers))
    assert found is not None
    assert -128 <= found < 128


@pytest.mark.parametrize(
    ("source", "number", "target", "expected"),
    [
        ("i32", "300", "i8", 44),
        ("i32", "-1", "ui8", 255),
        ("ui8", "200", "i8", -56),
        ("i32", "256", "i1", 1),
        ("i1", "true", "i32", 1),
        ("i32", "0", "i1", 0),
    ],
)
def test_conversions_keep_the_lower_bits(
    source: str, number: str, target: str, expected: int
) -> None:
    """To truth values they tell 0 from others."""
    types = f" : (tensor<{source}>) -> tensor<{target}>"
    assert known("convert", types, (number, source)) == expected


@pytest.mark.parametrize(
    ("direction", "expected"),
    [("EQ", 0), ("NE", 1), ("LT", 1), ("LE", 1), ("GT", 0), ("GE", 0)],
)
def test_comparisons(direction: str, expected: int) -> None:
    """Of -1 and 2; unsigned, the other way round."""
    attribute = f"<{{comparison_direction = #stablehlo<comparison_direction {direction}>}}>"
    types = f" {attribute} : (tensor<i32>, tensor<i32>) -> tensor<i1>"
    assert known("compare", types, ("-1", "i32"), ("2", "i32")) == expected
    types = types.replace("i32", "ui32")
    both = (("4294967295", "ui32"), ("2", "ui32"))
    other = expected if direction in ("EQ", "NE") else 1 - expected
    assert known("compare", types, *both) == other


@pytest.mark.parametrize(
    ("operation", "types", "numbers"),
    [
        ("add", " : (tensor<f32>, tensor<f32>) -> tensor<f32>", (("1.0", "f32"), ("2.0", "f32"))),
        ("add", " : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>", (("1", "1xi32"),) * 2),
        ("popcnt", " : (tensor<i4>) -> tensor<i4>", (("1", "i4"),)),
        ("convert", " : (tensor<f32>) -> tensor<i32>", (("1.0", "f32"),)),
    ],
)
def test_nothing_is_known_of_others(
    operation: str, types: str, numbers: tuple[tuple[str, str], ...]
) -> None:
    """Of fractions, of tensors with dimensions and of other widths."""
    assert known(operation, types, *numbers) is None
