"""What operations of JAX on windows compute after conversion, against JAX itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp
from running.pass_runner import body, executed
from running.randomness import TestGenerator

from ttmlir.dialects import DIALECTS
from ttmlir.interpreter import execute
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError

PIPELINE = "stablehlo-to-ttnn-pipeline"
RNG = TestGenerator(__name__)


def normal(*shape: int) -> Any:
    """Numbers around 0."""
    return RNG.standard_normal(shape).astype(np.float32)


def text_of(jitted: Any, *arrays: Any) -> str:
    """The StableHLO of a jitted function, in the generic form."""
    module = jitted.lower(*arrays).compiler_ir("stablehlo")
    return str(module.operation.get_asm(print_generic_op_form=True))


def check(function: Callable[..., Any], *arrays: Any, rtol: float = 1e-4) -> None:
    """Compile a function of JAX, run it, and compare all results with JAX's."""
    jitted = jax.jit(function)
    text = text_of(jitted, *arrays)
    expected = jax.tree.leaves(jitted(*arrays))
    results = executed(text, arrays, PIPELINE)
    assert len(results) == len(expected)
    for result, right in zip(results, expected, strict=True):
        assert result.shape == right.shape
        np.testing.assert_allclose(result, right, rtol=rtol, atol=rtol)


NHWC = ("NHWC", "HWIO", "NHWC")
NCHW = ("NCHW", "OIHW", "NCHW")
CONVOLUTIONS = {
    "same": ((2, 9, 8, 3), (3, 2, 3, 5), NHWC, {"padding": "SAME", "window_strides": (2, 1)}),
    "nchw_groups": (
        (2, 6, 7, 5),
        (4, 3, 3, 2),
        NCHW,
        {"padding": [(1, 0), (2, 1)], "feature_group_count": 2, "rhs_dilation": (1, 2)},
    ),
    "depthwise": ((1, 6, 7, 5), (3, 3, 1, 10), NHWC, {"feature_group_count": 5}),
    "transposed": (
        (2, 4, 3, 5),
        (3, 3, 5, 2),
        NHWC,
        {"lhs_dilation": (2, 3), "padding": [(1, 2), (2, 0)]},
    ),
    "one_dimension": ((2, 33, 3), (5, 3, 4), ("NWC", "WIO", "NWC"), {"window_strides": (3,)}),
    "three_dimensions": (
        (2, 3, 5, 4, 6),
        (4, 3, 2, 3, 2),
        ("NCDHW", "OIDHW", "NCDHW"),
        {"window_strides": (2, 1, 2), "padding": [(1, 1), (0, 1), (0, 0)]},
    ),
}
DEFAULTS: dict[str, Any] = {"padding": "VALID", "window_strides": None}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolution_and_its_gradients(name: str) -> None:
    """The gradients of image and weight are convolutions with holes and groups of batches."""
    image_shape, weight_shape, numbers, options = CONVOLUTIONS[name]
    image, weight = normal(*image_shape), normal(*weight_shape)
    given = {**DEFAULTS, "window_strides": (1,) * (len(image_shape) - 2), **options}

    def convolved(x: Any, w: Any) -> Any:
        return lax.conv_general_dilated(x, w, dimension_numbers=numbers, **given)

    factors = normal(*jax.eval_shape(convolved, image, weight).shape)

    def all_three(x: Any, w: Any, f: Any) -> Any:
        y, pull = jax.vjp(convolved, x, w)
        return y, *pull(f)

    check(all_three, image, weight, factors)


def test_gradients_of_images_are_transposed_convolutions() -> None:
    """The reversal of the weight and the holes of the gradient are one operation of ttnn."""

    def total(x: Any, w: Any) -> Any:
        y = lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=NHWC)
        return jnp.sum(y * y)

    image, weight = normal(1, 8, 8, 3), normal(3, 3, 3, 4)
    text = text_of(jax.jit(jax.grad(total)), image, weight)
    lines = body(text, PIPELINE)
    assert sum("ttnn.conv_transpose2d" in line for line in lines) == 1
    assert not any("ttnn.reverse" in line for line in lines)


WINDOWS = {
    "max_same": (lax.max, -np.inf, (1, 3, 2, 1), (1, 2, 2, 1), "SAME"),
    "max_overlapping": (lax.max, -np.inf, (1, 3, 3, 1), (1, 1, 2, 1), "VALID"),
    "min": (lax.min, np.inf, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
    "sum": (lax.add, 0.0, (1, 2, 3, 1), (1, 3, 2, 1), "SAME"),
    "other_dimensions": (lax.max, -np.inf, (2, 1, 1, 3), (1, 1, 1, 2), "VALID"),
}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", WINDOWS)
def test_reduce_window_and_its_gradient(name: str) -> None:
    """Maxima and minima send the gradient to the element that was selected."""
    combine, start, window, strides, padding = WINDOWS[name]

    def reduced(x: Any) -> Any:
        return lax.reduce_window(x, np.float32(start), combine, window, strides, padding)

    image = normal(2, 9, 8, 5)
    factors = normal(*jax.eval_shape(reduced, image).shape)

    def both(x: Any, f: Any) -> Any:
        y, pull = jax.vjp(reduced, x)
        return y, *pull(f)

    check(both, image, factors)


def test_equal_elements_share_no_gradient() -> None:
    """The first of equal elements gets it, as in JAX."""

    def total(x: Any) -> Any:
        y = lax.reduce_window(x, -np.float32(np.inf), lax.max, (2, 3), (1, 2), "VALID")
        return jnp.sum(y * jnp.arange(1.0, 1.0 + y.size).reshape(y.shape))

    image = RNG.integers(0, 2, (5, 9)).astype(np.float32)
    check(jax.grad(total), image)


def test_windows_of_other_types() -> None:
    """Integers and truth values."""
    numbers = RNG.integers(-9, 9, (5, 7, 3)).astype(np.int32)

    def integers(x: Any) -> Any:
        options = ((2, 3, 1), (1, 2, 1), "SAME")
        return (
            lax.reduce_window(x, np.int32(0), lax.add, *options),
            lax.reduce_window(x, np.int32(-(2**31)), lax.max, *options),
            lax.reduce_window(x, np.int32(2**31 - 1), lax.min, *options),
            lax.reduce_window(x, np.int32(3), lax.max, *options),
        )

    check(integers, numbers)

    def truths(x: Any) -> Any:
        options = ((2, 3, 1), (1, 2, 1), "SAME")
        return (
            lax.reduce_window(x > 0, False, lax.bitwise_or, *options),
            lax.reduce_window(x > 0, True, lax.bitwise_and, *options),
        )

    check(truths, numbers)


@pytest.mark.parametrize("reverse", [False, True])
def test_running_sums(reverse: bool) -> None:
    """A window over all elements before is a cumulative sum."""
    numbers = normal(3, 40, 5)
    padding = [(0, 0), (0, 39) if reverse else (39, 0), (0, 0)]

    def summed(x: Any) -> Any:
        return lax.reduce_window(x, np.float32(0), lax.add, (1, 40, 1), (1, 1, 1), padding)

    check(summed, numbers)
    text = text_of(jax.jit(summed), numbers)
    assert any("ttnn.cumsum" in line for line in body(text, PIPELINE))


def test_other_bodies_are_written_out() -> None:
    """Tangents of maxima choose among pairs; sums of exponentials compute in several steps."""
    maxima = ((1, 2, 3, 1), (1, 2, 2, 1), "SAME")

    def tangent(x: Any, t: Any) -> Any:
        return jax.jvp(lambda x: lax.reduce_window(x, -np.inf, lax.max, *maxima), (x,), (t,))

    check(tangent, normal(1, 4, 5, 2), normal(1, 4, 5, 2))
    check(lambda x: lax.cumlogsumexp(x, 0), normal(7, 3))
    both = (lambda x: [lax.cumlogsumexp(x, 1, reverse=way) for way in (False, True)], normal(2, 70))
    check(*both)


def test_averages() -> None:
    """Sums over the size of the window are one operation of ttnn, other quotients are not."""
    image = normal(2, 9, 8, 5)

    def averaged(size: float) -> Callable[..., Any]:
        def function(x: Any) -> Any:
            sums = lax.reduce_window(x, np.float32(0), lax.add, (1, 3, 2, 1), (1, 2, 2, 1), "SAME")
            return sums / size

        return function

    for size, rest in ((6.0, 0), (5.0, 2)):
        check(averaged(size), image)
        lines = body(text_of(jax.jit(averaged(size)), image), PIPELINE)
        assert sum("ttnn.avg_pool2d" in line for line in lines) == 1
        assert sum("ttnn.div" in line or "ttnn.multiply" in line for line in lines) == rest


def test_batch_norm() -> None:
    """Inference, training and gradient by their definitions in NumPy."""
    x, g = normal(2, 5, 3, 4), normal(2, 5, 3, 4)
    scale, offset, mean, raw = (normal(5) for _ in range(4))
    variance = np.abs(raw) + np.float32(0.5)
    image, vector = "tensor<2x5x3x4xf32>", "tensor<5xf32>"
    text = f"""
    func.func @f(%x: {image}, %scale: {vector}, %offset: {vector}, %mean: {vector},
        %variance: {vector}, %g: {image})
        -> ({image}, {image}, {vector}, {vector}, {image}, {vector}, {vector}) {{
      %0 = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %variance)
          <{{epsilon = 0.25 : f32, feature_index = 1 : i64}}>
          : ({image}, {vector}, {vector}, {vector}, {vector}) -> {image}
      %1:3 = "stablehlo.batch_norm_training"(%x, %scale, %offset)
          <{{epsilon = 0.25 : f32, feature_index = 1 : i64}}>
          : ({image}, {vector}, {vector}) -> ({image}, {vector}, {vector})
      %2:3 = "stablehlo.batch_norm_grad"(%x, %scale, %mean, %variance, %g)
          <{{epsilon = 0.25 : f32, feature_index = 1 : i64}}>
          : ({image}, {vector}, {vector}, {vector}, {image}) -> ({image}, {vector}, {vector})
      return %0, %1#0, %1#1, %1#2, %2#0, %2#1, %2#2
          : {image}, {image}, {vector}, {vector}, {image}, {vector}, {vector}
    }}
    """
    results = executed(text, [x, scale, offset, mean, variance, g], PIPELINE)

    def wide(features: Any) -> Any:
        return features[:, None, None]

    def normalized(mean: Any, variance: Any) -> Any:
        return (x - wide(mean)) / np.sqrt(wide(variance) + 0.25) * wide(scale) + wide(offset)

    axes = (0, 2, 3)
    own = x.mean(axes), x.var(axes)
    centered, root = x - wide(mean), np.sqrt(variance + 0.25)
    level, slope = wide(g.mean(axes)), wide((g * centered).mean(axes) / root**2)
    expected = [
        normalized(mean, variance),
        normalized(*own),
        *own,
        wide(scale / root) * (g - level - centered * slope),
        (g * centered).sum(axes) / root,
        g.sum(axes),
    ]
    for result, right in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, right, rtol=1e-4, atol=1e-5)


def test_gradients_of_a_network() -> None:
    """Convolutions, pooling and a dense layer, all the way to the gradients of the weights."""

    def loss(weights: Any, x: Any, y: Any) -> Any:
        first, second, dense = weights
        h = lax.conv_general_dilated(x, first, (1, 1), "SAME", dimension_numbers=NHWC)
        h = jax.nn.relu(h)
        h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        h = lax.conv_general_dilated(h, second, (2, 2), "SAME", dimension_numbers=NHWC)
        h = lax.reduce_window(h, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "SAME") / 4.0
        logits = h.reshape(h.shape[0], -1) @ dense
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(logits) * y, axis=-1))

    weights = normal(3, 3, 1, 4), normal(3, 3, 4, 6), normal(24, 3)
    labels = np.eye(3, dtype=np.float32)[[0, 2]]

    def gradients(first: Any, second: Any, dense: Any, x: Any, y: Any) -> Any:
        return jax.value_and_grad(loss)((first, second, dense), x, y)

    check(gradients, *weights, normal(2, 10, 12, 1), labels)


def _reduce_window(reducer: str, init: str = "0.0", window: int = 2) -> str:
    extent = 6 + window
    return f"""
    func.func @f(%x: tensor<{extent}xf32>) -> tensor<4xf32> {{
      %c = stablehlo.constant dense<{init}> : tensor<f32>
      %0 = "stablehlo.reduce_window"(%x, %c) <{{window_dimensions = array<i64: {window}>,
          window_strides = array<i64: 2>}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.{reducer} %a, %b : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }}) : (tensor<{extent}xf32>, tensor<f32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }}
    """


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            _reduce_window("subtract", window=65),
            "its body computes stablehlo.subtract; supported are add, .* windows of up to 64 ele",
        ),
        (_reduce_window("add", "1.0"), "starts from another number than 0, which would count"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    """Each says what is supported."""
    with pytest.raises(DiagnosticError, match=message):
        executed(text, [], PIPELINE)


def test_convolution_without_strides() -> None:
    """Strides, padding and dilations that are not given are 1, 0 and 1."""
    image, kernel = normal(2, 5, 6, 2), normal(3, 2, 2, 4)
    text = (
        "func.func @f(%x: tensor<2x5x6x2xf32>, %w: tensor<3x2x2x4xf32>) -> tensor<2x3x5x4xf32> {\n"
        '  %0 = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64, '
        "feature_group_count = 1 : i64, dimension_numbers = "
        "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}> "
        ": (tensor<2x5x6x2xf32>, tensor<3x2x2x4xf32>) -> tensor<2x3x5x4xf32>\n"
        "  return %0 : tensor<2x3x5x4xf32>\n}\n"
    )
    right = lax.conv_general_dilated(
        image, kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    (got,) = executed(text, [image, kernel], "stablehlo-to-ttnn-pipeline")
    np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-4)
    (interpreted,) = execute(parse_module(text, "x.mlir", make_context(DIALECTS)), [image, kernel])
    np.testing.assert_allclose(interpreted, right, rtol=1e-4, atol=1e-4)
