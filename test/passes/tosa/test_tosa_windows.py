"""Convolutions, pools, slices and paddings of tosa with any attributes compute what torch does."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from running.pass_runner import executed
from running.randomness import TestGenerator
from samples.tosa_cases import program

PIPELINE = "tosa-to-ttnn-pipeline"
functional: Any = import_module("torch.nn.functional")
torch: Any = import_module("torch")
_RNG = TestGenerator(__name__)
_PAIR = st.tuples(st.integers(1, 3), st.integers(1, 3))
_PADS = st.tuples(*[st.integers(0, 2)] * 4)


def _real(*shape: int) -> np.ndarray:
    return _RNG.uniform(-1, 1, shape).astype(np.float32)


def _array(*numbers: int) -> str:
    return f"array<i64: {', '.join(map(str, numbers))}>"


def _padded(image: np.ndarray, pads: tuple[int, ...], value: float) -> Any:
    top, bottom, left, right = pads
    channels_first = torch.from_numpy(image.transpose(0, 3, 1, 2).copy())
    return functional.pad(channels_first, (left, right, top, bottom), value=value)


def _check(operation: str, inputs: list[np.ndarray], expected: Any, tolerance: float) -> None:
    (result,) = executed(program(operation, inputs, expected), inputs, PIPELINE)
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@settings(max_examples=20, deadline=None)
@given(kernel=_PAIR, stride=_PAIR, dilation=_PAIR, pads=_PADS)
def test_convolutions(
    kernel: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
    pads: tuple[int, ...],
) -> None:
    """Kernels, strides, dilations and paddings of both dimensions and all sides differ."""
    image, weight, bias = _real(2, 8, 9, 3), _real(4, *kernel, 3), _real(4)
    result = functional.conv2d(
        _padded(image, pads, 0.0),
        torch.from_numpy(weight.transpose(0, 3, 1, 2).copy()),
        torch.from_numpy(bias),
        stride=stride,
        dilation=dilation,
    )
    attributes = (
        f"pad = {_array(*pads)}, stride = {_array(*stride)}, dilation = {_array(*dilation)}"
    )
    text = f"%r = tosa.conv2d %0, %1, %2 {{{attributes}}} : (T0, T1, T2) -> R"
    _check(text, [image, weight, bias], result.numpy().transpose(0, 2, 3, 1), 1e-5)


@settings(max_examples=20, deadline=None)
@given(kernel=_PAIR, stride=_PAIR, pads=_PADS)
def test_maxima(kernel: tuple[int, int], stride: tuple[int, int], pads: tuple[int, ...]) -> None:
    """A padding is never a maximum."""
    pads = tuple(min(pad, kernel[side // 2] - 1) for side, pad in enumerate(pads))
    image = _real(2, 7, 8, 3) - 2
    result = functional.max_pool2d(_padded(image, pads, -np.inf), kernel, stride)
    attributes = f"kernel = {_array(*kernel)}, stride = {_array(*stride)}, pad = {_array(*pads)}"
    text = f"%r = tosa.max_pool2d %0 {{{attributes}}} : (T0) -> R"
    _check(text, [image], result.numpy().transpose(0, 2, 3, 1), 0)


@settings(max_examples=20, deadline=None)
@given(kernel=_PAIR, stride=_PAIR, pads=_PADS)
def test_averages(kernel: tuple[int, int], stride: tuple[int, int], pads: tuple[int, ...]) -> None:
    """A padding does not count."""
    pads = tuple(min(pad, kernel[side // 2] - 1) for side, pad in enumerate(pads))
    image = _real(2, 7, 8, 3)
    sums, counts = (
        functional.avg_pool2d(_padded(values, pads, 0.0), kernel, stride)
        for values in (image, np.ones_like(image))
    )
    attributes = (
        f"kernel = {_array(*kernel)}, stride = {_array(*stride)}, pad = {_array(*pads)}, "
        "acc_type = f32"
    )
    text = f"%r = tosa.avg_pool2d %0 {{{attributes}}} : (T0) -> R"
    _check(text, [image], (sums / counts).numpy().transpose(0, 2, 3, 1), 1e-5)


@settings(max_examples=20, deadline=None)
@given(
    begins=st.tuples(*[st.integers(0, 3)] * 3),
    sizes=st.tuples(*[st.integers(1, 4)] * 3),
    pads=st.tuples(*[st.integers(0, 3)] * 6),
)
def test_slices_and_paddings(
    begins: tuple[int, ...], sizes: tuple[int, ...], pads: tuple[int, ...]
) -> None:
    """A slice with something around it."""
    values = _real(7, 8, 9)
    part = values[tuple(slice(b, b + s) for b, s in zip(begins, sizes, strict=True))]
    sides = list(zip(pads[::2], pads[1::2], strict=True))
    expected = np.pad(part, sides, constant_values=2.5)
    shape = "x".join(map(str, sizes))
    text = f"""
      %s = tosa.slice %0 {{start = {_array(*begins)}, size = {_array(*sizes)}}}
        : (T0) -> tensor<{shape}xf32>
      %p = tosa.const_shape {{values = dense<{list(pads)}> : tensor<6xindex>}}
        : () -> !tosa.shape<6>
      %c = "tosa.const"() <{{values = dense<2.5> : tensor<1xf32>}}> : () -> tensor<1xf32>
      %r = tosa.pad %s, %p, %c : (tensor<{shape}xf32>, !tosa.shape<6>, tensor<1xf32>) -> R"""
    _check(text, [values], expected, 0)


def test_remainder_and_select() -> None:
    """The remainder has the sign of the dividend; linalg chooses by a tensor of truth values."""
    a, b = _real(3, 5) * 9, _real(3, 5) + 2
    condition = a > b
    text = """
      func.func @f(%c: tensor<3x5xi1>, %a: tensor<3x5xf32>, %b: tensor<3x5xf32>)
          -> (tensor<3x5xf32>, tensor<3x5xf32>) {
        %0 = arith.remf %a, %b : tensor<3x5xf32>
        %1 = tensor.empty() : tensor<3x5xf32>
        %2 = linalg.select ins(%c, %a, %b : tensor<3x5xi1>, tensor<3x5xf32>, tensor<3x5xf32>)
          outs(%1 : tensor<3x5xf32>) -> tensor<3x5xf32>
        return %0, %2 : tensor<3x5xf32>, tensor<3x5xf32>
      }"""
    remainder, chosen = executed(text, [condition, a, b], "linalg-to-ttnn-pipeline")
    np.testing.assert_allclose(remainder, np.fmod(a, b), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(chosen, np.where(condition, a, b))
