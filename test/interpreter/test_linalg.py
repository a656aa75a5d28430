"""The operations of linalg, tensor, arith and math, held against NumPy and torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from running.randomness import TestGenerator
from torch.nn import functional

from ttmlir.compiler import parse
from ttmlir.interpreter import execute
from ttmlir.interpreter.bisection import bisect

MODELS = Path(__file__).resolve().parents[1] / "models"
RNG = TestGenerator(__name__)
Numbers = np.ndarray[Any, Any]


def normal(*shape: int) -> Numbers:
    """Random numbers."""
    return RNG.standard_normal(shape).astype(np.float32)


def type_of(array: Numbers) -> str:
    """The type of a tensor."""
    names = {"float32": "f32", "int32": "i32", "bool": "i1"}
    return f"tensor<{''.join(f'{extent}x' for extent in array.shape)}{names[array.dtype.name]}>"


def run(body: str, *inputs: Numbers, result: str) -> Numbers:
    """The result of a function of tensors `%x0`, `%x1`, ... whose body makes `%r`."""
    arguments = ", ".join(f"%x{i}: {type_of(x)}" for i, x in enumerate(inputs))
    text = f"func.func @f({arguments}) -> {result} {{\n{body}\nreturn %r : {result}\n}}"
    [found] = execute(parse(text), list(inputs))
    return found


def run_named(name: str, *inputs: Numbers, attributes: str = "") -> Numbers:
    """A named operation, whose last input is what it begins with."""
    types = [type_of(each) for each in inputs]
    names = [f"%x{i}" for i in range(len(inputs))]
    spelled = f"{{{attributes}}} " if attributes else ""
    body = (
        f"%r = linalg.{name} {spelled}ins({', '.join(names[:-1])} : {', '.join(types[:-1])}) "
        f"outs({names[-1]} : {types[-1]}) -> {types[-1]}"
    )
    return run(body, *inputs, result=types[-1])


def test_loops() -> None:
    """A product with a sum that goes on, by maps in other orders, and numbers of places."""
    x, y, init = normal(5, 3), normal(4, 5), normal(3, 4)
    found = run(
        """%r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>,
              affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
              iterator_types = ["parallel", "parallel", "reduction"]}
              ins(%x0, %x1 : tensor<5x3xf32>, tensor<4x5xf32>) outs(%x2 : tensor<3x4xf32>) {
            ^bb0(%a: f32, %b: f32, %sum: f32):
              %k = linalg.index 2 : index
              %n = arith.index_cast %k : index to i32
              %w = arith.sitofp %n : i32 to f32
              %p = arith.mulf %a, %b : f32
              %q = arith.mulf %p, %w : f32
              %t = arith.addf %sum, %q : f32
              linalg.yield %t : f32
            } -> tensor<3x4xf32>""",
        *(x, y, init),
        result="tensor<3x4xf32>",
    )
    weights = np.arange(5, dtype=np.float32)[:, None]
    np.testing.assert_allclose(found, init + (x * weights).T @ y.T, rtol=1e-5, atol=1e-5)


def test_reductions_and_maps() -> None:
    """Along two dimensions, and a body for each place."""
    x, init = normal(3, 5, 7), normal(5)
    body = "%r = linalg.reduce { arith.maximumf } ins(%x0 : tensor<3x5x7xf32>) "
    body += "outs(%x1 : tensor<5xf32>) dimensions = [0, 2]"
    found = run(body, x, init, result="tensor<5xf32>")
    np.testing.assert_array_equal(found, np.maximum(x.max((0, 2)), init))
    body = """%e = tensor.empty() : tensor<3x5x7xf32>
        %r = linalg.map ins(%x0 : tensor<3x5x7xf32>) outs(%e : tensor<3x5x7xf32>) (%a: f32) {
          %n = arith.negf %a : f32
          linalg.yield %n : f32
        }"""
    np.testing.assert_array_equal(run(body, x, result="tensor<3x5x7xf32>"), -x)


def test_products() -> None:
    """Named ones, which add to what they begin with."""
    x, y, init = normal(2, 3, 5), normal(2, 4, 5), normal(2, 3, 4)
    found = run_named("batch_matmul_transpose_b", x, y, init)
    np.testing.assert_allclose(found, init + x @ y.transpose(0, 2, 1), rtol=1e-5, atol=1e-5)


def test_convolutions() -> None:
    """With strides and dilations, channels last and first; one filter or several per channel."""
    image, weight = normal(2, 9, 11, 3), normal(3, 2, 3, 4)
    attributes = "strides = dense<[2, 1]> : tensor<2xi64>, "
    attributes += "dilations = dense<[1, 2]> : tensor<2xi64>"
    init = normal(2, 4, 9, 4)
    expected = functional.conv2d(
        torch.tensor(image).permute(0, 3, 1, 2),
        torch.tensor(weight).permute(3, 2, 0, 1),
        stride=(2, 1),
        dilation=(1, 2),
    ).permute(0, 2, 3, 1)
    found = run_named("conv_2d_nhwc_hwcf", image, weight, init, attributes=attributes)
    np.testing.assert_allclose(found, expected.numpy() + init, rtol=1e-4, atol=1e-4)
    first, init = normal(4, 3, 3, 2), normal(2, 4, 4, 9)
    expected = functional.conv2d(
        torch.tensor(image).permute(0, 3, 1, 2), torch.tensor(first), stride=(2, 1), dilation=(1, 2)
    )
    pixels = np.ascontiguousarray(image.transpose(0, 3, 1, 2))
    found = run_named("conv_2d_nchw_fchw", pixels, first, init, attributes=attributes)
    np.testing.assert_allclose(found, expected.numpy() + init, rtol=1e-4, atol=1e-4)
    several, init = normal(3, 2, 3, 2), np.zeros((2, 7, 10, 3, 2), np.float32)
    expected = functional.conv2d(
        torch.tensor(image).permute(0, 3, 1, 2),
        torch.tensor(several).permute(2, 3, 0, 1).reshape(6, 1, 3, 2),
        groups=3,
    ).permute(0, 2, 3, 1)
    found = run_named("depthwise_conv_2d_nhwc_hwcm", image, several, init)
    np.testing.assert_allclose(found.reshape(2, 7, 10, 6), expected.numpy(), rtol=1e-4, atol=1e-4)


def test_poolings() -> None:
    """The largest of each window, and what it begins with."""
    image, window, init = normal(2, 9, 11, 3), normal(3, 2), normal(2, 4, 5, 3)
    attributes = "strides = dense<2> : tensor<2xi64>"
    expected = functional.max_pool2d(torch.tensor(image).permute(0, 3, 1, 2), (3, 2), 2)
    found = run_named("pooling_nhwc_max", image, window, init, attributes=attributes)
    np.testing.assert_array_equal(found, np.maximum(expected.permute(0, 2, 3, 1).numpy(), init))


def test_parts_and_padding() -> None:
    """Of tensors, with offsets that are numbers of the program."""
    x = normal(5, 7)
    body = """%two = arith.constant 2 : index
        %p = tensor.extract_slice %x0[%two, 1] [1, 3] [1, 2] : tensor<5x7xf32> to tensor<3xf32>
        %zero = arith.constant 0.5 : f32
        %q = tensor.pad %p low[1] high[2] {
        ^bb0(%i: index):
          tensor.yield %zero : f32
        } : tensor<3xf32> to tensor<6xf32>
        %e = tensor.expand_shape %q [[0, 1]] output_shape [2, 3]
            : tensor<6xf32> into tensor<2x3xf32>
        %r = tensor.insert_slice %e into %x0[3, 2] [2, 3] [1, 1]
            : tensor<2x3xf32> into tensor<5x7xf32>"""
    expected = x.copy()
    expected[3:5, 2:5] = np.pad(x[2, 1:6:2], (1, 2), constant_values=0.5).reshape(2, 3)
    np.testing.assert_array_equal(run(body, x, result="tensor<5x7xf32>"), expected)


FLOATS = np.array([-np.inf, -2.5, -0.5, 0.0, 0.5, 2.5, np.nan], np.float32)
OTHERS = np.array([1.0, -2.5, 0.5, np.nan, 0.25, 3.0, np.nan], np.float32)
INTEGERS = np.array([-(2**31), -7, -1, 0, 1, 7, 2**31 - 1], np.int32)
DIVISORS = np.array([3, 2, -2, 5, -3, 2, 7], np.int32)


@pytest.mark.parametrize(
    ("predicate", "meaning"),
    [
        ("oeq", lambda a, b: a == b),
        ("one", lambda a, b: (a != b) & ~np.isnan(a) & ~np.isnan(b)),
        ("ole", lambda a, b: a <= b),
        ("ord", lambda a, b: ~np.isnan(a) & ~np.isnan(b)),
        ("ueq", lambda a, b: (a == b) | np.isnan(a) | np.isnan(b)),
        ("ugt", lambda a, b: ~(a <= b)),
        ("une", lambda a, b: a != b),
        ("uno", lambda a, b: np.isnan(a) | np.isnan(b)),
    ],
)
def test_comparisons(predicate: str, meaning: Any) -> None:
    """NaN is unordered."""
    body = f"%r = arith.cmpf {predicate}, %x0, %x1 : tensor<7xf32>"
    found = run(body, FLOATS, OTHERS, result="tensor<7xi1>")
    np.testing.assert_array_equal(found, meaning(FLOATS, OTHERS))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cmpi ult,", INTEGERS.view(np.uint32) < DIVISORS.view(np.uint32)),
        ("cmpi slt,", INTEGERS < DIVISORS),
        ("divui", INTEGERS.view(np.uint32) // DIVISORS.view(np.uint32)),
        ("divsi", np.array([-715827882, -3, 0, 0, 0, 3, 306783378])),
        ("floordivsi", np.array([-715827883, -4, 0, 0, -1, 3, 306783378])),
        ("ceildivsi", np.array([-715827882, -3, 1, 0, 0, 4, 306783379])),
        ("maxui", np.maximum(INTEGERS.view(np.uint32), DIVISORS.view(np.uint32))),
    ],
)
def test_integers(name: str, expected: Numbers) -> None:
    """With and without sign; quotients go to 0, down or up."""
    result = "tensor<7xi1>" if name.startswith("cmpi") else "tensor<7xi32>"
    found = run(f"%r = arith.{name} %x0, %x1 : tensor<7xi32>", INTEGERS, DIVISORS, result=result)
    np.testing.assert_array_equal(found.astype(np.int64) & 0xFFFFFFFF, expected & 0xFFFFFFFF)


def test_casts() -> None:
    """One bit with a sign is 0 or -1, without one 0 or 1."""
    truth = np.array([True, False, True])
    for name, expected in (("extsi", [-1, 0, -1]), ("extui", [1, 0, 1])):
        body = f"%r = arith.{name} %x0 : tensor<3xi1> to tensor<3xi32>"
        np.testing.assert_array_equal(run(body, truth, result="tensor<3xi32>"), expected)
    body = "%r = math.round %x0 : tensor<7xf32>"
    expected = [-np.inf, -3, -1, 0, 1, 3, np.nan]
    np.testing.assert_array_equal(run(body, FLOATS, result="tensor<7xf32>"), expected)


def test_a_model_is_compared_from_linalg_on() -> None:
    """Its conversion is, too; the function is the public one."""
    report = bisect((MODELS / "linalg_attention.mlir").read_text(), seed=3)
    assert report.agrees
    assert report.reference == "linalg"
    assert [level.level for level in report.levels] == ["ttir", "ttir decomposed", "ttnn"]
    assert report.levels[0].compared > 10
