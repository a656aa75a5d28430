"""What tosa's rescale, table and resize compute, against the specification written in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from running.pass_runner import executed, printed
from running.randomness import TestGenerator

from ttmlir.dialects import DIALECTS
from ttmlir.interpreter import execute
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError

RNG = TestGenerator(__name__)
PIPELINE = "tosa-to-ttnn-pipeline"
NAMES = {"int8": "i8", "int16": "i16", "int32": "i32", "uint8": "i8", "float32": "f32"}


def type_of(array: Any) -> str:
    """The type of a tensor that holds an array; integers have no signs."""
    return f"tensor<{'x'.join((*map(str, array.shape), NAMES[str(array.dtype)]))}>"


def check(operation: str, inputs: list[Any], expected: Any) -> None:
    """The interpreter and the compiled program compute what is expected."""
    arguments = ", ".join(f"%{i}: {type_of(each)}" for i, each in enumerate(inputs))
    types = ", ".join(map(type_of, inputs))
    operation = operation.replace("TYPES", types).replace("RESULT", type_of(expected))
    text = (
        f"func.func @f({arguments}) -> {type_of(expected)} {{\n{operation}\n"
        f"return %r : {type_of(expected)}\n}}"
    )
    bits = [each.view(np.int8) if each.dtype == np.uint8 else each for each in inputs]
    wanted = expected.view(np.int8) if expected.dtype == np.uint8 else expected
    [interpreted] = execute(parse_module(text, "f.mlir", make_context(DIALECTS)), bits)
    [run] = executed(text, bits, PIPELINE)
    for result in (interpreted, run):
        assert result.shape == wanted.shape
        if wanted.dtype == np.float32:
            np.testing.assert_allclose(result, wanted, rtol=1e-6, atol=5e-5)
        else:
            np.testing.assert_array_equal(result, wanted)


# -- rescale -----------------------------------------------------------------------------------


def apply_scale_32(value: int, multiplier: int, shift: int, double_round: bool) -> int:
    """As the specification has it, on integers without a limit."""
    added = 1 << (shift - 1)
    if double_round and shift > 31:
        added += (1 << 30) if value >= 0 else -(1 << 30)
    result = (value * multiplier + added) >> shift
    assert -(2**31) <= result < 2**31
    return result


def rescaled(
    x: Any, multipliers: list[int], shifts: list[int], zeros: tuple[int, int], rounds: bool, to: str
) -> Any:
    """The numbers of each channel, rescaled."""
    limits = np.iinfo(to)
    result = np.zeros(x.shape, np.int64)
    for place in np.ndindex(x.shape):
        channel = place[-1] % len(multipliers)
        scaled = apply_scale_32(
            int(x[place]) - zeros[0], multipliers[channel], shifts[channel], rounds
        )
        result[place] = min(max(scaled + zeros[1], limits.min), limits.max)
    return result.astype(to)


WIDE = [0, 1, -1, 2**31 - 1, -(2**31), 2**30, -(2**30) - 1, 65535, -65536, 12345678, -87654321, 3]
CASES: dict[str, tuple[Any, list[int], list[int], tuple[int, int], bool, str]] = {
    "i32 to i8": (np.array(WIDE, np.int32), [1395864371], [39], (0, -5), False, "int8"),
    "rounded twice": (np.array(WIDE, np.int32), [1395864371], [33], (0, 0), True, "int32"),
    "rounded once": (np.array(WIDE, np.int32), [1395864371], [33], (0, 0), False, "int32"),
    "half of an integer": (np.array(WIDE, np.int32), [1 << 30], [31], (0, 0), False, "int32"),
    "a shift of 32": (np.array(WIDE, np.int32), [1 << 30], [32], (0, 0), True, "int32"),
    "the largest shift": (np.array(WIDE, np.int32), [2**31 - 1], [62], (0, 7), True, "int16"),
    "a small shift": (np.arange(-128, 128).astype(np.int8), [19], [2], (3, 1), False, "int32"),
    "i8 to i8": (np.arange(-128, 128).astype(np.int8), [1073741824], [29], (-7, 9), True, "int8"),
    "i8 to i16": (np.arange(-128, 128).astype(np.int8), [1073741900], [25], (0, 0), True, "int16"),
    "i16 to i32": (
        np.array([-(2**15), 2**15 - 1, -1, 0, 1, 77], np.int16),
        *([1518500250], [30], (0, 0), False, "int32"),
    ),
    "each channel": (
        RNG.integers(-(2**20), 2**20, (3, 5, 4)).astype(np.int32),
        *([1395864371, 1 << 30, 2000000000, 1234567890], [40, 31, 32, 36], (0, 3), True, "int8"),
    ),
    "no sign": (np.arange(256).astype(np.uint8), [1518500250], [31], (128, 200), False, "uint8"),
    "a sign that goes": (
        np.arange(-128, 128).astype(np.int8),
        *([1 << 30], [30], (0, 128), False, "uint8"),
    ),
    "a sign that comes": (
        np.arange(256).astype(np.uint8),
        *([1 << 30], [30], (128, 0), False, "int8"),
    ),
}


@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_rescale(name: str, is_later: bool) -> None:
    """With properties as in MLIR 19, and with operands as in version 1.0."""
    x, multipliers, shifts, zeros, rounds, to = CASES[name]
    expected = rescaled(x, multipliers, shifts, zeros, rounds, to)
    channels = "true" if len(shifts) > 1 else "false"
    unsigned = "".join(
        f", {side}_unsigned = {'true' if str(each.dtype) == 'uint8' else 'false'}"
        for side, each in (("input", x), ("output", expected))
    )
    common = f"scale32 = true, per_channel = {channels}{unsigned}"
    count = len(shifts)
    if not is_later:
        text = (
            f"%r = tosa.rescale %0 {{input_zp = {zeros[0]} : i32, output_zp = {zeros[1]} : i32, "
            f"multiplier = array<i32: {str(multipliers)[1:-1]}>, "
            f"shift = array<i8: {str(shifts)[1:-1]}>, "
            f"double_round = {str(rounds).lower()}, {common}}} : (TYPES) -> RESULT"
        )
    else:
        bits = {1: "i8", 2: "i16", 4: "i32"}
        kinds = [bits[each.dtype.itemsize] for each in (x, expected)]
        held = [
            zero - (1 << 8) if kind == "i8" and zero > 127 else zero
            for zero, kind in zip(zeros, kinds, strict=True)
        ]
        parts = (
            ("m", f"dense<{multipliers}> : tensor<{count}xi32>"),
            ("s", f"dense<{shifts}> : tensor<{count}xi8>"),
            ("i", f"dense<{held[0]}> : tensor<1x{kinds[0]}>"),
            ("o", f"dense<{held[1]}> : tensor<1x{kinds[1]}>"),
        )
        lines = [
            f'%{part} = "tosa.const"() <{{values = {value}}}> : () -> {value.split(" : ")[1]}'
            for part, value in parts
        ]
        types = ", ".join(value.split(" : ")[1] for _, value in parts)
        mode = "DOUBLE_ROUND" if rounds else "SINGLE_ROUND"
        lines.append(
            f"%r = tosa.rescale %0, %m, %s, %i, %o {{rounding_mode = {mode}, {common}}} : "
            f"(TYPES, {types}) -> RESULT"
        )
        text = "\n".join(lines)
    check(text, [x], expected)


# -- table -------------------------------------------------------------------------------------


def test_table_of_bytes() -> None:
    """The number at the place of each."""
    x = np.arange(-128, 128).astype(np.int8).reshape(16, 16)
    table = RNG.integers(-128, 128, 256).astype(np.int8)
    check("%r = tosa.table %0, %1 : (TYPES) -> RESULT", [x, table], table[x.astype(int) + 128])


def test_table_of_16_bits() -> None:
    """Between two numbers, with 7 bits after the point."""
    x = np.array([[-(2**15), 2**15 - 1, 0, 1, -1, 127], [128, -128, -129, 12345, -12345, 64]])
    table = np.sort(RNG.integers(-(2**15), 2**15, 513)).astype(np.int16)
    wanted = np.zeros(x.shape, np.int32)
    for place, value in np.ndenumerate(x):
        index, fraction = (int(value) + 2**15) >> 7, int(value) & 0x7F
        base, after = int(table[index]), int(table[index + 1])
        wanted[place] = (base << 7) + (after - base) * fraction
    check("%r = tosa.table %0, %1 : (TYPES) -> RESULT", [x.astype(np.int16), table], wanted)


# -- resize ------------------------------------------------------------------------------------


def resized(x: Any, scale: list[int], offset: list[int], border: list[int], mode: str) -> Any:
    """Pixel by pixel as in the specification."""
    (yn, yd, xn, xd), (oy, ox), (by, bx) = scale, offset, border
    images, rows, columns, channels = x.shape
    height, width = ((rows - 1) * yn - oy + by) // yd + 1, ((columns - 1) * xn - ox + bx) // xd + 1
    is_real = x.dtype == np.float32
    to = x.dtype if is_real or mode == "NEAREST_NEIGHBOR" else np.int32
    result = np.zeros((images, height, width, channels), np.float64 if is_real else np.int64)
    for n, i, j, c in np.ndindex(result.shape):
        y, z = i * yd + oy, j * xd + ox
        iy, ix = y // yn, z // xn
        dy, dx = y - iy * yn, z - ix * xn
        iy0, iy1 = (min(max(each, 0), rows - 1) for each in (iy, iy + 1))
        ix0, ix1 = (min(max(each, 0), columns - 1) for each in (ix, ix + 1))
        if mode == "NEAREST_NEIGHBOR":
            result[n, i, j, c] = x[n, iy1 if 2 * dy >= yn else iy0, ix1 if 2 * dx >= xn else ix0, c]
            continue
        total = 0
        for at_y, weight_y in ((iy0, yn - dy), (iy1, dy)):
            for at_x, weight_x in ((ix0, xn - dx), (ix1, dx)):
                total += x[n, at_y, at_x, c].item() * weight_y * weight_x
        result[n, i, j, c] = total / (yn * xn) if is_real else total
    return result.astype(to)


SIZES = {
    "twice": ([4, 2, 4, 2], [-1, -1], [1, 1]),
    "corners": ([14, 6, 12, 2], [0, 0], [0, 0]),
    "smaller": ([1, 2, 1, 3], [0, 0], [-1, 0]),
}


@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize("mode", ["NEAREST_NEIGHBOR", "BILINEAR"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["int8", "float32"])
def test_resize(kind: str, size: str, mode: str, is_later: bool) -> None:
    """Of floating point and of bytes, by properties and by operands, the mode as a word."""
    scale, offset, border = SIZES[size]
    x = RNG.uniform(-128, 127, (2, 4, 4, 3)).astype(kind)
    expected = resized(x, scale, offset, border, mode)
    if is_later:
        lines = [
            f"%{name} = tosa.const_shape {{values = dense<{values}> : tensor<{len(values)}xindex>}}"
            f" : () -> !tosa.shape<{len(values)}>"
            for name, values in (("s", scale), ("o", offset), ("b", border))
        ]
        shapes = "!tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>"
        lines.append(
            f"%r = tosa.resize %0, %s, %o, %b {{mode = {mode}}} : (TYPES, {shapes}) -> RESULT"
        )
        check("\n".join(lines), [x], expected)
        return
    given = ", ".join(
        f"{name} = array<i64: {str(values)[1:-1]}>"
        for name, values in (("scale", scale), ("offset", offset), ("border", border))
    )
    check(f'%r = tosa.resize %0 {{{given}, mode = "{mode}"}} : (TYPES) -> RESULT', [x], expected)


@pytest.mark.parametrize(
    ("operation", "types", "message"),
    [
        (
            "tosa.table %a, %b",
            ("tensor<5xf32>, tensor<9xf32>", "tensor<5xf32>"),
            "it looks f32 up in 9 numbers of f32 for f32; supported are i8 in 256 of i8 for i8",
        ),
        (
            "tosa.resize %a {scale = array<i64: 4, 2, 4, 2>, offset = array<i64: 0, 0>, border = "
            'array<i64: 0, 0>, mode = "BILINEAR"}',
            ("tensor<1x4x4x1xi8>", "tensor<1x7x7x1xi8>"),
            "it makes i8 of i8; supported are floating point numbers",
        ),
        (
            "tosa.resize %a {scale = array<i64: 4, 3, 4, 3>, offset = array<i64: 0, 0>, border = "
            'array<i64: 0, 1>, mode = "BILINEAR"}',
            ("tensor<1x4x4x1xf32>", "tensor<1x5x5x1xf32>"),
            "4 pixels at a scale of 4/3 make no whole number of pixels",
        ),
        (
            "tosa.rescale %a {input_zp = 0 : i32, output_zp = 0 : i32, multiplier = array<i32: 1>, "
            "shift = array<i8: 63>, double_round = false, scale32 = true, per_channel = false}",
            ("tensor<4xi8>", "tensor<4xi8>"),
            "its shifts are [63]; supported are those from 2 to 62",
        ),
        (
            "tosa.rescale %a {input_zp = 0 : i32, output_zp = 0 : i32, multiplier = array<i32: 1>, "
            "shift = array<i8: 3>, double_round = false, scale32 = true, per_channel = true}",
            ("tensor<4xi8>", "tensor<4xi8>"),
            "it has 1 multipliers and 1 shifts for 4 channels",
        ),
    ],
)
def test_refusals(operation: str, types: tuple[str, str], message: str) -> None:
    """What the specification does not have."""
    names = ("%a", "%b")[: types[0].count("tensor")]
    arguments = ", ".join(
        f"{name}: {type_}" for name, type_ in zip(names, types[0].split(", "), strict=True)
    )
    text = (
        f"func.func @f({arguments}) -> {types[1]} {{\n%r = {operation} : ({types[0]}) -> "
        f"{types[1]}\nreturn %r : {types[1]}\n}}"
    )
    with pytest.raises(DiagnosticError) as raised:
        printed(text, "convert-tosa-to-ttir=spelling=2024")
    assert message in str(raised.value)
