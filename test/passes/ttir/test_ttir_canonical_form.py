"""Canonical forms compute what the operations that they replace compute, at the ends of types."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.pass_runner import TTNN_PIPELINE, body, executed
from samples.ttir_text import FunctionText, tensor

import ttmlir

VALUES: dict[str, tuple[Any, list[Any]]] = {
    "i8": (np.int8, [-128, 127, 5]),
    "ui8": (np.uint8, [255, 128, 5]),
    "bf16": (ml_dtypes.bfloat16, [-300.0, 0.5, 1e30]),
    "f32": (np.float32, [-1e20, 2.0**31, 1.0000001]),
}


def test_chains_of_casts() -> None:
    """Every two casts in a row between integers and floating point numbers of two widths."""
    text = FunctionText([tensor(3, element=element) for element in VALUES])
    sources = {element: f"%arg{i}" for i, element in enumerate(VALUES)}
    results: list[str] = []
    for chain in itertools.product(VALUES, repeat=3):
        value = sources[chain[0]]
        for element in chain[1:]:
            value = text.op("typecast", [value], tensor(3, element=element))
        results.append(value)
    arrays = [np.array(values, dtype) for dtype, values in VALUES.values()]
    plain = text.returning(*results)
    expected = executed(plain, arrays)
    found = executed(plain, arrays, "canonicalize", TTNN_PIPELINE)
    for chain, before, after in zip(
        itertools.product(VALUES, repeat=3), expected, found, strict=True
    ):
        np.testing.assert_array_equal(after, before, err_msg=" to ".join(chain))
    assert len(body(plain, "canonicalize")) < len(body(plain))


@pytest.mark.parametrize(
    ("mnemonic", "type_", "values", "expected"),
    [
        ("add", "i8", ("[100, -100]", "[100, -100]"), "[-56, 56]"),
        ("add", "f32", ("[1.0, -0.0]", "[0.5, 0.0]"), "[1.500000e+00, 0.000000e+00]"),
        ("maximum", "f32", ("[0x7FC00000, 1.0]", "[1.0, 2.0]"), "[0x7FC00000, 2.000000e+00]"),
        ("logical_and", "i1", ("[true, true]", "[true, false]"), "[true, false]"),
        # More digits are kept at run time than a constant of bf16 holds.
        ("add", "bf16", ("[1.0, 2.0]", "[0.5, 0.5]"), ""),
    ],
)
def test_constants(mnemonic: str, type_: str, values: tuple[str, str], expected: str) -> None:
    """Integers wrap around, NaN spreads, truth values stay truth values."""
    text = FunctionText()
    result_type = tensor(2, element=type_)
    inputs = [text.constant(value, result_type) for value in values]
    lines = body(text.returning(text.op(mnemonic, inputs, result_type)), "canonicalize")
    if expected:
        assert len(lines) == 2
        assert f"dense<{expected}>" in lines[0]
    else:
        assert any(f'"ttir.{mnemonic}"' in line for line in lines)


def test_large_constants_stay() -> None:
    """What would make the program longer is not computed; one value that repeats may be moved."""
    text = FunctionText()
    wide = text.constant("2.0", tensor(64, 64))
    turned = text.op("transpose", [wide], tensor(64, 64), "dim0 = 0 : si32, dim1 = 1 : si32")
    doubled = text.op("add", [turned, wide], tensor(64, 64))
    lines = body(text.returning(doubled), "canonicalize")
    assert not any("transpose" in line for line in lines)
    assert any('"ttir.add"' in line for line in lines)


@pytest.mark.parametrize(
    ("shape", "permutation", "wide"),
    [((5, 3, 7, 1, 1), (3, 1, 0, 4, 2), "5x3x7"), ((5, 1, 21), (2, 0, 1), "5x21")],
)
def test_permutations_of_what_fills_tiles_badly(
    shape: tuple[int, ...], permutation: tuple[int, ...], wide: str
) -> None:
    """A dimension of extent 1 that would be padded to 32 is left out, if a reshape made it."""
    result = tensor(*(shape[dim] for dim in permutation))
    plain = f"""
func.func @main(%a: tensor<105xf32>) -> {result} {{
  %0 = "ttir.reshape"(%a) <{{shape = [{", ".join(f"{each} : i32" for each in shape)}]}}>
    : (tensor<105xf32>) -> {tensor(*shape)}
  %1 = "ttir.permute"(%0) <{{permutation = array<i64: {", ".join(map(str, permutation))}>}}>
    : ({tensor(*shape)}) -> {result}
  return %1 : {result}
}}"""
    (line,) = (line for line in body(plain, "canonicalize") if "permute" in line)
    assert f": (tensor<{wide}xf32>) ->" in line
    values = np.arange(105, dtype=np.float32)
    found = ttmlir.compile(plain)(values)
    np.testing.assert_array_equal(found, values.reshape(shape).transpose(permutation))
