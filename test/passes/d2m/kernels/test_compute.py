"""What compute kernels make of the loops of a region, on the simulator against NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.kernel_runs import run_kernels
from running.pass_runner import lowered, printed
from running.randomness import TestGenerator
from running.sampling import sampled
from samples.d2m_programs import Program
from samples.d2m_stages import MATMUL, Region, Tensor, binary, reduce, spread, unary

from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.options import SimOptions

Array = np.ndarray[Any, Any]
RNG = TestGenerator(__name__)
ELEMENTS = ("bf16", "f32")
SCHEDULES: tuple[dict[str, Any], ...] = (
    {"numerics": "exact"},
    {"numerics": "exact", "schedule_seed": 1},
    {"numerics": "device", "schedule_seed": 2, "delay_copies": True},
)


def numbers(*shape: int) -> Array:
    """Multiples of 1/64 from -1 to 1, which bf16 holds."""
    return RNG.integers(-64, 65, shape).astype(np.float32) / 64


def of_tiles(*shape: int) -> Array:
    """Numbers for so many tiles."""
    *outer, rows, columns = shape
    return numbers(*outer, rows * 32, columns * 32)


def rounded(array: Array, element: str) -> Array:
    """The numbers as an element type has them."""
    return array.astype(ml_dtypes.bfloat16).astype(np.float32) if element == "bf16" else array


def results(program: Program, *inputs: Array) -> list[list[Array]]:
    """The outputs in three schedules, clean under the sanitizer; the last in device numerics."""
    compiled = program.compiled()
    made: list[list[Array]] = []
    for options in SCHEDULES:
        run = execute(compiled, inputs, SimOptions(**options))
        assert not [finding for each in run.reports for finding in each.report.findings]
        made.append([np.asarray(output) for output in run.outputs])
    return made


def check(
    program: Program, expected: Array, *inputs: Array, tolerance: float, part: Any = np.s_[:]
) -> None:
    """The only output, within a part of its largest number."""
    for [output] in results(program, *inputs):
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(output[part], expected, rtol=0, atol=tolerance * scale)


def whole(shape: tuple[int, ...], element: str = "bf16", *, output: bool = False) -> Tensor:
    """An operand of one block."""
    index = ", ".join(f"d{n}" if output else "0" for n in range(len(shape)))
    return Tensor(shape, shape, index, element)


# --- Elementwise loops --------------------------------------------------------------------------

COSH = """%a = "d2m.tile_exp"(%t0) : (!t0) -> !t1
%n = "d2m.tile_negative"(%t0) : (!t0) -> !t1
%b = "d2m.tile_exp"(%n) : (!t0) -> !t1
%s = "d2m.tile_add"(%a, %b) : (!t0, !t0) -> !t1
%h = "d2m.tile_fill"() <{value = 0.5 : f32}> : () -> !t1
%e = "d2m.tile_mul"(%s, %h) : (!t0, !t0) -> !t1"""


def elementwise(
    shapes: Sequence[tuple[tuple[int, ...], str]], body: str, element: str
) -> tuple[Program, list[Array]]:
    """A loop over blocks of these shapes, each with its map, the last one being the output."""
    *inputs, (last, _) = shapes
    region = Region(
        [whole(shape, element) for shape, _ in inputs],
        [whole(last, element, output=True)],
        "p" * len(last),
        (1,) * len(last),
    )
    operands = [(region.block(n), index) for n, (_, index) in enumerate(shapes)]
    region.add(operands[:-1], operands[-1], "p" * len(last), body)
    return region.program(), [of_tiles(*shape) for shape, _ in inputs]


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape", [(3, 5), (1, 11), (7, 1)])
def test_several_tiles_are_computed_at_once(shape: tuple[int, int], element: str) -> None:
    """What prepares a call stands once for all of them, and tiles that are left over, too."""
    program, [x] = elementwise([(shape, "d0, d1"), (shape, "d0, d1")], COSH, element)
    check(program, np.cosh(x), x, tolerance=2e-2 if element == "bf16" else 1e-6)


@pytest.mark.parametrize(
    ("word", "kind", "element"),
    sampled(("add", "sub", "mul"), ("row", "col", "scalar"), ELEMENTS),
)
def test_operands_that_are_spread(word: str, kind: str, element: str) -> None:
    """On the matrix unit in bf16, in f32 on the vector unit."""
    shape, index, part = {
        "row": ((1, 5), "0, d1", np.s_[:1, :]),
        "col": ((3, 1), "d0, 0", np.s_[:, :1]),
        "scalar": ((1, 1), "0, 0", np.s_[:1, :1]),
    }[kind]
    body = spread(kind) + f'%e = "d2m.tile_{word}"(%t0, %q) : (!t0, !t1) -> !t2'
    shapes = [((3, 5), "d0, d1"), (shape, index), ((3, 5), "d0, d1")]
    program, [x, y] = elementwise(shapes, body, element)
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[word]
    expected = rounded(function(x, y[part]), element)
    *exact, [on_device] = results(program, x, y)
    for [output] in exact:
        np.testing.assert_array_equal(output, expected)
    # A product is the sum of four partial ones, each rounded.
    rounding = 2.0**-6 if word == "mul" and element == "bf16" else 0
    np.testing.assert_allclose(on_device, expected, rtol=rounding)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("word", ["add", "sub", "mul"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_computed_operand_and_one_of_a_buffer(word: str, element: str, is_first: bool) -> None:
    """The computed one is in DST, first or second."""
    order = "%c, %t1" if is_first else "%t1, %c"
    body = (
        '%c = "d2m.tile_abs"(%t0) : (!t0) -> !t2\n'
        f'%e = "d2m.tile_{word}"({order}) : (!t2, !t2) -> !t2'
    )
    program, [x, y] = elementwise([((2, 3), "d0, d1")] * 3, body, element)
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[word]
    operands = [np.abs(x), y] if is_first else [y, np.abs(x)]
    # A product below 1 is the sum of four partial ones, each rounded to a step of 2^-8, halves away
    # from zero.
    tolerance = 4 * 2.0**-9 if word == "mul" else 2.0**-8
    check(program, function(*operands), x, y, tolerance=tolerance if element == "bf16" else 0)


def test_values_with_several_uses() -> None:
    """A value that is written over is copied first."""
    body = """%a = "d2m.tile_abs"(%t0) : (!t0) -> !t1
%b = "d2m.tile_negative"(%a) : (!t0) -> !t1
%c = "d2m.tile_square"(%a) : (!t0) -> !t1
%d = "d2m.tile_add"(%b, %c) : (!t0, !t0) -> !t1
%e = "d2m.tile_mul"(%d, %a) : (!t0, !t0) -> !t1"""
    program, [x] = elementwise([((2, 2), "d0, d1")] * 2, body, "f32")
    a = np.abs(x)
    check(program, (a * a - a) * a, x, tolerance=1e-6)


def test_mixed_formats() -> None:
    """The unpackers and the packer follow the formats of the buffers."""
    region = Region(
        [whole((2, 3), "f32"), whole((2, 3), "bf16")],
        [whole((2, 3), "bf16", output=True), whole((2, 3), "f32", output=True)],
        "pp",
        (1, 1),
    )
    x, y, first, second = map(region.block, range(4))
    cast = '%c = "d2m.tile_typecast"(%t1) : (!t1) -> !t0\n'
    add = '%s = "d2m.tile_add"(%t0, %c) : (!t0, !t0) -> !t0\n'
    back = '%e = "d2m.tile_typecast"(%s) : (!t0) -> !t2'
    operands = [(x, "d0, d1"), (y, "d0, d1")]
    region.add(operands, (first, "d0, d1"), "pp", cast + add + back)
    region.add(operands, (second, "d0, d1"), "pp", cast + add.replace("%s", "%e"))
    inputs = of_tiles(2, 3) / 3, of_tiles(2, 3)
    total = inputs[0] + inputs[1]
    for outputs in results(region.program(), *inputs):
        np.testing.assert_array_equal(outputs[0], rounded(total, "bf16"))
        np.testing.assert_array_equal(outputs[1], total)


def test_a_body_that_does_not_fit() -> None:
    """It says how many tiles are needed, and which pass mends that."""
    sums = [f'%s{n} = "d2m.tile_sin"(%t0) : (!t0) -> !t1' for n in range(5)]
    pairs = '%p0 = "d2m.tile_atan2"(%s0, %s1) : (!t0, !t0) -> !t1\n' + "\n".join(
        f'%p{n} = "d2m.tile_atan2"(%p{n - 1}, %s{n + 1}) : (!t0, !t0) -> !t1' for n in range(1, 4)
    )
    again = "\n".join(
        f'%r{n} = "d2m.tile_atan2"(%{"p3" if n == 0 else f"r{n - 1}"}, %s{n}) : (!t0, !t0) -> !t1'
        for n in range(5)
    )
    body = "\n".join([*sums, pairs, again, '%e = "d2m.tile_abs"(%r4) : (!t0) -> !t1'])
    program, _ = elementwise([((1, 1), "d0, d1")] * 2, body, "f32")
    with pytest.raises(DiagnosticError) as error:
        program.compiled()
    assert "needs 5 tiles of DST, which holds 4; run d2m-insert-scratch-buffers" in str(error.value)


# --- Reductions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("word", ["sum", "max"])
@pytest.mark.parametrize(
    ("dim", "shape", "index", "kinds"),
    [
        ("R", (3, 1), "d0, 0", "pr"),
        ("C", (1, 5), "0, d1", "rp"),
        ("RC", (1, 1), "0, 0", "rr"),
    ],
)
def test_reductions_within_tiles(
    element: str, word: str, dim: str, shape: tuple[int, int], index: str, kinds: str
) -> None:
    """Rows, columns or all of a block of 3x5 tiles; terms of a sum do not cancel each other."""
    region = Region([whole((3, 5), element)], [whole(shape, element, output=True)], "pp", (1, 1))
    one = region.fill("one", 1.0, element)
    inputs = [(region.block(0), "d0, d1"), (one, "0, 0")]
    region.add(inputs, (region.block(1), index), kinds, reduce(word, dim))
    x = of_tiles(3, 5)
    x = np.abs(x) if word == "sum" else x
    axis = {"R": 1, "C": 0, "RC": None}[dim]
    part = {"R": np.s_[:, :1], "C": np.s_[:1], "RC": np.s_[:1, :1]}[dim]
    function = {"sum": np.sum, "max": np.max}[word]
    expected = function(x.astype(np.float64), axis=axis, keepdims=True)
    # The matrix unit cuts sums of columns after 10 bits below the leading one, to add them up.
    tolerance = 1e-6 if word == "max" else 2e-2 if element == "bf16" else 2**-10
    check(region.program(), expected, x, tolerance=tolerance, part=part)


@pytest.mark.parametrize(
    ("word", "function"), [("add", np.sum), ("maximum", np.max), ("mul", np.prod)]
)
@pytest.mark.parametrize("element", ELEMENTS)
def test_reductions_of_tiles(word: str, function: Any, element: str) -> None:
    """Along an outer dimension, tiles are combined one by one, from the identity."""
    region = Region(
        [whole((4, 2, 5), element)], [whole((1, 2, 5), element, output=True)], "ppp", (1, 1, 1)
    )
    body = f'%e = "d2m.tile_{word}"(%t1, %t0) : (!t1, !t0) -> !t1'
    region.add([(region.block(0), "d0, d1, d2")], (region.block(1), "0, d1, d2"), "rpp", body)
    x = of_tiles(4, 2, 5)
    expected = function(x.astype(np.float64), axis=0, keepdims=True)
    check(region.program(), expected, x, tolerance=3e-2 if element == "bf16" else 1e-6)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("word", ["sum", "max"])
@pytest.mark.parametrize(
    ("shape", "block", "has_prologue"),
    [((6, 6), (3, 2), False), ((10, 4), (10, 2), False), ((6, 4), (3, 2), True)],
    ids=["in DST", "more than DST", "with other loops"],
)
def test_reductions_in_steps(
    element: str, word: str, shape: tuple[int, int], block: tuple[int, int], has_prologue: bool
) -> None:
    """Results stay in DST, are added up by the packer, or go to a local buffer and back."""
    rows, columns = shape
    height, width = block
    region = Region(
        [Tensor(shape, block, "d0, d1", element)],
        [Tensor((rows, 1), (height, 1), "d0, 0", element)],
        "pr",
        (rows // height, columns // width),
    )
    one = region.fill("one", 1.0, element)
    source = region.block(0)
    if has_prologue:
        computed = region.local("computed", block, element)
        region.add([(source, "d0, d1")], (computed, "d0, d1"), "pp", unary("abs"))
        source = computed
    sums = region.local("sums", (height, 1), element)
    region.add([(source, "d0, d1"), (one, "0, 0")], (sums, "d0, 0"), "pr", reduce(word, "R"))
    region.add([(sums, "d0, d1")], (region.block(1), "d0, d1"), "pp", unary("negative"))
    x = of_tiles(*shape)
    function = {"sum": np.sum, "max": np.max}[word]
    numbers_ = np.abs(x) if has_prologue else x
    expected = -function(numbers_.astype(np.float64), axis=1, keepdims=True)
    tolerance = 2e-2 if element == "bf16" and word == "sum" else 1e-6
    check(region.program(), expected, x, tolerance=tolerance, part=np.s_[:, :1])


# --- Products -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "element", "is_left", "is_right"),
    sampled(
        ((3, 5, 2), (4, 4, 6), (1, 9, 3), (5, 1, 2), (4, 8, 3)),
        ELEMENTS,
        (False, True),
        (False, True),
    ),
)
def test_products(sizes: tuple[int, int, int], element: str, is_left: bool, is_right: bool) -> None:
    """Blocks of any shape, with factors of tiles in the other order, the right one transposed."""
    m, n, k = sizes
    left = (k, m) if is_left else (m, k)
    right = (n, k) if is_right else (k, n)
    region = Region(
        [whole(left, element), whole(right, element)],
        [whole((m, n), element, output=True)],
        "pp",
        (1, 1),
    )
    a, b, out = map(region.block, range(3))
    body = MATMUL
    if is_right:
        turned = '%q = "d2m.tile_transpose"(%t1) : (!t1) -> !t1\n'
        body = turned + MATMUL.replace("(%t0, %t1", "(%t0, %q")
    maps = "d2, d0" if is_left else "d0, d2", "d1, d2" if is_right else "d2, d1"
    region.add([(a, maps[0]), (b, maps[1])], (out, "d0, d1"), "ppr", body)
    x, y = of_tiles(m, k) / 8, of_tiles(k, n) / 8
    given = x
    if is_left:
        given = x.reshape(m, 32, k, 32).transpose(2, 1, 0, 3).reshape(k * 32, m * 32)
    other = np.ascontiguousarray(y.T) if is_right else y
    check(region.program(), x @ y, given, other, tolerance=2e-2 if element == "bf16" else 2e-3)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize(
    ("sizes", "block"),
    [
        ((2, 3, 6), (2, 3, 2)),
        ((6, 6, 4), (3, 6, 1)),
        ((4, 4, 4), (2, 2, 2)),
        ((6, 5, 6), (2, 5, 3)),
    ],
)
@pytest.mark.parametrize("is_fused", [False, True])
def test_products_in_steps(
    element: str, sizes: tuple[int, int, int], block: tuple[int, int, int], is_fused: bool
) -> None:
    """relu(a) @ b + bias, or the product alone, over several blocks of terms."""
    m, n, k = sizes
    rows, columns, terms = block
    inputs = [
        Tensor((m, k), (rows, terms), "d0, d2", element),
        Tensor((k, n), (terms, columns), "d2, d1", element),
    ]
    if is_fused:
        inputs.append(Tensor((1, n), (1, columns), "0, d1", element))
    region = Region(
        inputs,
        [Tensor((m, n), (rows, columns), "d0, d1", element)],
        "ppr",
        (m // rows, n // columns, k // terms),
    )
    a, b, out = region.block(0), region.block(1), region.block(len(inputs))
    result = out
    if is_fused:
        cut = region.local("cut", (rows, terms), element)
        region.add([(a, "d0, d1")], (cut, "d0, d1"), "pp", unary("relu"))
        a, result = cut, region.local("product", (rows, columns), element)
    region.add([(a, "d0, d2"), (b, "d2, d1")], (result, "d0, d1"), "ppr", MATMUL)
    x, y, bias = of_tiles(m, k) / 8, of_tiles(k, n) / 8, of_tiles(1, n)
    expected = x @ y
    if is_fused:
        body = spread("row") + '%e = "d2m.tile_add"(%t0, %q) : (!t0, !t1) -> !t2'
        region.add([(result, "d0, d1"), (region.block(2), "0, d1")], (out, "d0, d1"), "pp", body)
        expected = np.maximum(x, 0) @ y + bias[:1]
    given = (x, y, bias) if is_fused else (x, y)
    check(region.program(), expected, *given, tolerance=2e-2 if element == "bf16" else 2e-3)


# --- Several loops ------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ELEMENTS)
def test_softmax(element: str) -> None:
    """Four loops over rows that are blocks, with local buffers between them, on four cores."""
    region = Region(
        [Tensor((8, 5), (2, 5), "d0, d1", element)],
        [Tensor((8, 5), (2, 5), "d0, d1", element)],
        "pp",
        (1, 1),
    )
    x, out = region.block(0), region.block(1)
    one = region.fill("one", 1.0, element)
    largest = region.local("largest", (2, 1), element)
    powers = region.local("powers", (2, 5), element)
    sums = region.local("sums", (2, 1), element)
    region.add([(x, "d0, d1"), (one, "0, 0")], (largest, "d0, 0"), "pr", reduce("max", "R"))
    body = spread("col") + '%d = "d2m.tile_sub"(%t0, %q) : (!t0, !t1) -> !t2\n'
    body += '%e = "d2m.tile_exp"(%d) : (!t2) -> !t2'
    region.add([(x, "d0, d1"), (largest, "d0, 0")], (powers, "d0, d1"), "pp", body)
    region.add([(powers, "d0, d1"), (one, "0, 0")], (sums, "d0, 0"), "pr", reduce("sum", "R"))
    body = spread("col") + '%r = "d2m.tile_recip"(%q) : (!t1) -> !t1\n'
    body += '%e = "d2m.tile_mul"(%t0, %r) : (!t0, !t1) -> !t2'
    region.add([(powers, "d0, d1"), (sums, "d0, 0")], (out, "d0, d1"), "pp", body)
    given = of_tiles(8, 5) * 3
    powered = np.exp(given - given.max(axis=1, keepdims=True))
    expected = powered / powered.sum(axis=1, keepdims=True)
    check(region.program((4, 1)), expected, given, tolerance=2e-3 if element == "bf16" else 1e-4)


@pytest.mark.parametrize("element", ELEMENTS)
def test_rows_are_reduced_in_each_step_and_columns_over_all(element: str) -> None:
    """The sums of columns of what each row is divided by the largest of the row."""
    region = Region(
        [Tensor((6, 3), (2, 3), "d0, 0", element)],
        [Tensor((1, 3), (1, 3), "0, 0", element)],
        "r",
        (3,),
    )
    x, out = region.block(0), region.block(1)
    one = region.fill("one", 1.0, element)
    largest = region.local("largest", (2, 1), element)
    scaled = region.local("scaled", (2, 3), element)
    region.add([(x, "d0, d1"), (one, "0, 0")], (largest, "d0, 0"), "pr", reduce("max", "R"))
    body = spread("col") + '%e = "d2m.tile_div"(%t0, %q) : (!t0, !t1) -> !t2'
    region.add([(x, "d0, d1"), (largest, "d0, 0")], (scaled, "d0, d1"), "pp", body)
    region.add([(scaled, "d0, d1"), (one, "0, 0")], (out, "0, d1"), "rp", reduce("sum", "C"))
    given = np.abs(of_tiles(6, 3)) + 1
    expected = (given / given.max(axis=1, keepdims=True)).sum(axis=0, keepdims=True)
    # The matrix unit takes 10 bits behind the first of a float32.
    tolerance = 2e-2 if element == "bf16" else 2.0**-10
    check(region.program(), expected, given, tolerance=tolerance, part=np.s_[:1])


# --- Code -----------------------------------------------------------------------


def test_fewer_tiles_of_dst() -> None:
    """As an option says: of 4 tiles of 16 bits, the half."""
    program, _ = elementwise([((2, 4), "d0, d1")] * 2, unary("exp"), "bf16")
    options = "=max-dst-physical-size-tiles=4"
    for spelled, tiles in (("", 8), (options, 2)):
        passes = "ttir-load-system-desc", f"convert-d2m-to-ttkernel{spelled}"
        assert printed(program.text, *passes).count('"ttkernel.exp_tile"') == tiles


def test_settings_stand_in_front_of_loops() -> None:
    """What a loop needs in one way only is set once."""
    program, _ = elementwise([((4, 6), "d0, d1")] * 3, binary("add"), "bf16")
    text = str(lowered(program.text, "ttir-load-system-desc", "convert-d2m-to-ttkernel"))
    kernel = text[text.index("func.func private @compute0") :]
    loop = kernel[kernel.index("scf.for") :]
    assert "add_tiles_init" not in loop
    assert kernel.count('"ttkernel.add_tiles_init"') == 1
    assert loop.count('"ttkernel.add_tiles"') == 8


@pytest.mark.parametrize("element", ["f32", "bf16", "i32"])
def test_signs(element: str) -> None:
    """Zeros and NaN have signs, too."""
    x = RNG.normal(size=(33, 70)).astype(np.float32) * 50
    x[0, :8] = (0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-40, -1e-40)
    if element == "i32":
        x = np.nan_to_num(x, posinf=2**30, neginf=-(2**30)).astype(np.int32)
    x = x.astype(ml_dtypes.bfloat16) if element == "bf16" else x
    expected = x < 0 if element == "i32" else np.signbit(x)
    assert expected[0, 1] == expected[0, 3] == (element != "i32")
    type_ = f"tensor<33x70x{element}>"
    run = run_kernels(
        f"""module {{ ttcore.device_module {{ builtin.module {{
        func.func @main(%x: {type_}) -> ({type_}, {type_}) {{
          %0 = "ttir.signbit"(%x) : ({type_}) -> {type_}
          %1 = "ttir.signbit"(%x) : ({type_}) -> {type_}
          %2 = "ttir.add"(%0, %1) : ({type_}, {type_}) -> {type_}
          return %0, %2 : {type_}, {type_}
        }} }} }} }}""",
        x,
        exact=False,
    )
    once, twice = (np.asarray(output).astype(np.float32) for output in run.outputs)
    np.testing.assert_array_equal(once, expected.astype(np.float32))
    np.testing.assert_array_equal(twice, 2 * expected.astype(np.float32))
