"""Orders and bits in kernels: sorts by comparisons, bits of other types, integers without sign."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.kernel_runs import KERNEL_PIPELINE, run_kernels
from running.pass_runner import lowered
from running.randomness import TestGenerator
from samples.ttir_text import FunctionText, tensor

from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer
from ttmlir.tools import ttrt

Array = np.ndarray[Any, Any]
RNG = TestGenerator(__name__)
TYPES: dict[str, type[Any]] = {
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "i32": np.int32,
    "ui32": np.uint32,
    "i16": np.int16,
    "ui8": np.uint8,
}


def name_of(numbers: Array) -> str:
    """The element type as MLIR has it."""
    return next(name for name, dtype in TYPES.items() if np.dtype(dtype) == numbers.dtype)


def order_text(numbers: Array, mnemonic: str, count: int, dim: int, *, descending: bool) -> str:
    """A function that returns numbers in order, and where they were."""
    shape = [count if each == dim else extent for each, extent in enumerate(numbers.shape)]
    given = tensor(*numbers.shape, element=name_of(numbers))
    found = tensor(*shape, element=name_of(numbers)), tensor(*shape, element="i32")
    word = str(descending).lower()
    more = f"descending = {word}, stable = true"
    if mnemonic == "topk":
        more = f"k = {count} : si32, largest = {word}, sorted = true"
    return f"""
#any = #tt.operand_constraint<any_device>
func.func @f(%x: {given}) -> ({", ".join(found)}) {{
  %v = tensor.empty() : {found[0]}
  %p = tensor.empty() : {found[1]}
  %0:2 = "ttir.{mnemonic}"(%x, %v, %p) <{{dim = {dim} : si32, {more},
      operand_constraints = [#any, #any, #any]}}>
      : ({given}, {", ".join(found)}) -> ({", ".join(found)})
  return %0#0, %0#1 : {", ".join(found)}
}}
"""


def places_in_order(numbers: Array, dim: int, *, descending: bool) -> Array:
    """By NumPy, which puts NaN last; equal numbers keep their order in both directions."""
    if not descending:
        return np.argsort(numbers, dim, stable=True)
    backwards = np.argsort(np.flip(numbers, dim), dim, stable=True)
    return numbers.shape[dim] - 1 - np.flip(backwards, dim)


def numbers_of(element: str, *shape: int) -> Array:
    """Many equal ones, both zeros, the ends of the type, and NaN with both signs."""
    dtype = TYPES[element]
    if element in ("f32", "bf16", "f16"):
        found = RNG.integers(-4, 4, shape).astype(np.float32) / 2
        # On a card NaN of 16 bits becomes infinity, and -0 of f16 becomes 0.
        ends = [0.0, 0.0 if element == "f16" else -0.0, np.inf, -np.inf]
        ends += [np.nan, -np.nan, 1e-42, -1e-42] if element == "f32" else []
    else:
        limits = np.iinfo(dtype)
        found = RNG.integers(0, 7, shape)
        ends = [limits.max, limits.min, limits.max, limits.min]
    found = found.astype(dtype)
    found.flat[3 : 3 + len(ends)] = np.array(ends).astype(dtype)
    return found


def check_bits(found: Array, expected: Array) -> None:
    """Runs give numbers of 16 bits as `f32`."""
    assert found.shape == expected.shape
    assert found.astype(expected.dtype).tobytes() == expected.tobytes()


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("element", "shape", "dim", "descending"),
    [
        ("f32", (2, 37), 1, False),
        ("f32", (33, 1), 0, True),
        ("bf16", (2, 1, 11), 2, True),
        ("f16", (15,), 0, False),
        ("i32", (2, 5, 9), 1, True),
        ("ui32", (1, 34), 1, False),
        ("i16", (9, 2), 0, False),
        ("ui8", (35,), 0, True),
    ],
)
def test_sort(element: str, shape: tuple[int, ...], dim: int, descending: bool) -> None:
    """Every bit of the numbers moves, and equal numbers keep their order."""
    x = numbers_of(element, *shape)
    expected = places_in_order(x, dim, descending=descending)
    text = order_text(x, "sort", shape[dim], dim, descending=descending)
    values, places = run_kernels(text, x, exact=False).outputs
    np.testing.assert_array_equal(places, expected)
    check_bits(values, np.take_along_axis(x, expected, dim))


@pytest.mark.parametrize(
    ("parts", "many", "count", "largest"),
    [
        ((512,), 20, 2, True),
        ((8, 512), 19, 2, False),
        ((64, 8), 20, 2, True),
        ((68,), 2, 17, False),
    ],
)
def test_topk(
    parts: tuple[int, ...], many: int, count: int, largest: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of long rows, the first ones of parts are found before; some more of them, if not few."""
    monkeypatch.setattr("ttmlir.composites.ordering._PARTS", parts)
    monkeypatch.setattr("ttmlir.composites.ordering._MANY", many)
    x = RNG.integers(0, 9, (2, 19 if count == 2 else 139), np.int32)
    x.flat[-5:] = np.iinfo(np.int32).max
    expected = places_in_order(x, 1, descending=largest)[:, :count]
    text = order_text(x, "topk", count, 1, descending=largest)
    values, places = run_kernels(text, x, exact=False).outputs
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(x, expected, 1))


def elementwise_text(mnemonic: str, target: str, *operands: Array) -> str:
    """A function of one elementwise operation."""
    text = FunctionText([tensor(*each.shape, element=name_of(each)) for each in operands])
    names = [f"%arg{number}" for number in range(len(operands))]
    return text.returning(text.op(mnemonic, names, tensor(*operands[0].shape, element=target)))


def any_bits(element: str, *shape: int) -> Array:
    """Any bits, but of floats of 16 no denormal numbers and no NaN, which cards do not keep."""
    dtype = np.dtype(TYPES[element])
    found = RNG.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype)[..., 0]
    if element in ("bf16", "f16"):
        found = np.where(np.isfinite(found) & (np.abs(found) > 1e-4), found, dtype.type(-2))
    return found


@pytest.mark.parametrize(
    ("source", "target"),
    [
        *(("f32", "i32"), ("f32", "ui32"), ("i32", "f32"), ("ui32", "i32"), ("ui32", "f32")),
        *(("bf16", "i16"), ("bf16", "f16"), ("f16", "i16")),
    ],
)
def test_bits_of_another_type(source: str, target: str) -> None:
    """Those of NaN and of denormal numbers, too."""
    x = any_bits(source, 5, 40)
    [found] = run_kernels(elementwise_text("bitcast_convert", target, x), x, exact=False).outputs
    expected = x.view(TYPES[target])
    if target == "f16":
        is_kept = np.isfinite(expected) & ((expected == 0) | (np.abs(expected) > 6.2e-5))
        assert is_kept.sum() > 50
        found, expected = found[is_kept], expected[is_kept]
    check_bits(found, expected)


@pytest.mark.parametrize("target", ["bf16", "f16"])
def test_numbers_of_16_bits(target: str) -> None:
    """Of integers of 16 bits, in exact numerics; NaN keeps being NaN."""
    x = np.arange(0, 1 << 16, 7, dtype=np.uint16).view(np.int16)[:9216].reshape(96, 96)
    [found] = run_kernels(elementwise_text("bitcast_convert", target, x), x).outputs
    expected = x.view(TYPES[target])
    is_nan = (x & 0x7FFF) > (0x7F80 if target == "bf16" else 0x7C00)
    assert np.isnan(found[is_nan]).all()
    check_bits(found[~is_nan], expected[~is_nan])


@pytest.mark.parametrize("mnemonic", ["div", "remainder"])
def test_quotients_without_sign(mnemonic: str, tmp_path: Path) -> None:
    """By small numbers, by those from 2^31 on, and by 0, of which it is all ones or nothing."""
    x, y = any_bits("ui32", 7, 33), any_bits("ui32", 7, 33)
    y[1:4] >>= np.array([[29], [16], [5]], np.uint32)
    y[4, :5], y[5] = [0, 1, 2, 2**31, 2**32 - 1], x[5]
    x[4, :9] = 2**32 - 1
    function = {"div": np.floor_divide, "remainder": np.remainder}[mnemonic]
    expected = function(x, np.maximum(y, 1))
    expected = np.where(y == 0, np.uint32(2**32 - 1) if mnemonic == "div" else x, expected)
    text = elementwise_text(mnemonic, "ui32", x, y)
    [found] = run_kernels(text, x, y, exact=False).outputs
    np.testing.assert_array_equal(found, expected)
    file, inputs = tmp_path / "quotient.ttm", tmp_path / "inputs.npz"
    file.write_bytes(ttmetal_to_flatbuffer(lowered(text, KERNEL_PIPELINE)))
    np.savez(inputs, x, y)
    assert ttrt.main(["run", "--golden", "--inputs", str(inputs), str(file)]) == 0


@pytest.mark.parametrize("element", ["i32", "i16", "ui8"])
def test_quotients_by_zero(element: str) -> None:
    """All ones, as everywhere, where each chip has a number of its own."""
    x = any_bits(element, 5, 40)
    y = any_bits(element, 5, 40)
    y[:, ::3] = 0
    x[0, :6], y[0, 3:6] = [0, 1, 2, 0, 3, 9], [0, 2, 2]
    y[y == -1] = 1
    expected = np.where(y == 0, -1, np.trunc(x / np.where(y == 0, 1, y).astype(np.float64)))
    text = elementwise_text("div", element, x, y)
    [found] = run_kernels(text, x, y, exact=False).outputs
    np.testing.assert_array_equal(found, expected.astype(np.int64).astype(x.dtype))


@pytest.mark.parametrize("element", ["i32", "ui32", "i16", "ui8"])
def test_counts_of_bits(element: str) -> None:
    """Of the ones, and of the zeros above the highest."""
    x = any_bits(element, 5, 40)
    width = 8 * x.itemsize
    x[0, :width] = (1 << np.arange(width)).astype(x.dtype)
    x[1, :3] = np.array([0, -1, 1]).astype(x.dtype)
    bits = [f"{int(each) % (1 << width):0{width}b}" for each in x.flat]
    for mnemonic, counts in (
        ("population_count", [each.count("1") for each in bits]),
        ("count_leading_zeros", [len(f"{each}1".partition("1")[0]) for each in bits]),
    ):
        [found] = run_kernels(elementwise_text(mnemonic, element, x), x, exact=False).outputs
        np.testing.assert_array_equal(found, np.reshape(counts, x.shape))


def test_zeros_shifted_into_short_integers() -> None:
    """Bits above the number are no part of it."""
    distances = np.array([0, 1, 5, 15, 16, 40, -1], np.int16)
    x, distance = any_bits("i16", 5, 40), np.resize(distances, (5, 40))
    kept = np.where((distance < 16) & (distance >= 0), distance, 16).astype(np.uint32)
    expected = (x.view(np.uint16).astype(np.uint32) >> kept).astype(np.int16)
    text = elementwise_text("logical_right_shift", "i16", x, distance)
    [found] = run_kernels(text, x, distance, exact=False).outputs
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("element", ["i32", "ui32", "i16", "ui8"])
def test_bits_and_one_number(element: str) -> None:
    """Calls take the number; shifts by the width and beyond it leave zeros, or the sign."""
    x = any_bits(element, 3, 40)
    width = 8 * x.itemsize
    text = FunctionText([tensor(3, 40, element=element)])
    found: list[str] = []
    expected: list[Array] = []
    wide = x.astype(np.int64)
    for number in (0, 1, width - 1, width, width + 9):
        constant = text.constant(str(number), tensor(3, 40, element=element))
        shifted = [("logical_left_shift", wide << number), ("right_shift", wide >> number)]
        if width == 32:
            shifted.append(("logical_right_shift", (wide & 0xFFFF_FFFF) >> number))
        bits = [("bitwise_and", wide & number), ("bitwise_xor", wide ^ number)]
        for mnemonic, result in shifted + bits:
            operands = ["%arg0", constant] if mnemonic != "bitwise_and" else [constant, "%arg0"]
            found.append(text.op(mnemonic, operands, tensor(3, 40, element=element)))
            expected.append(result.astype(x.dtype))
    outputs = run_kernels(text.returning(*found), x, exact=False).outputs
    for one, other in zip(outputs, expected, strict=True):
        np.testing.assert_array_equal(one, other)
