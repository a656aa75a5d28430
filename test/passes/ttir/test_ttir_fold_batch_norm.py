"""Batch normalizations folded into convolutions, against both done one after the other in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracles.windows import convolved
from running.pass_runner import TTNN_PIPELINE, executed, printed
from samples.ttir_text import FunctionText, tensor

RNG = np.random.default_rng(8)
AXES = ("height", "width")
STEPS = [f"{name}_{axis} = 1 : si32" for name in ("stride", "dilation") for axis in AXES]
MARGINS = [f"padding_{side} = 1 : si32" for side in ("left", "right", "top", "bottom")]
CONV2D = ", ".join([*STEPS, *MARGINS, "groups = 1 : si32"])
CONVOLUTION = (
    'dimension_numbers = "[b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1]", '
    "window_strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, "
    "input_dilation = array<i64: 1, 1>, weight_dilation = array<i64: 1, 1>, "
    "window_reversal = array<i1: false, false>, feature_group_count = 1 : i64, "
    "batch_group_count = 1 : i64"
)


def constant_text(array: Any) -> str:
    """What stands in a dense attribute."""
    return str(array.tolist())


def network(
    general: bool, with_bias: bool, constants: bool, twice: bool = False
) -> tuple[str, Any, list[Any]]:
    """A convolution and a normalization: the text, what it computes, and its inputs."""
    image = RNG.standard_normal((2, 4, 5, 3)).astype(np.float32)
    weight = RNG.standard_normal((6, 3, 3, 3)).astype(np.float32)
    scale, offset, mean, bias = (RNG.standard_normal(6).astype(np.float32) for _ in range(4))
    variance = RNG.uniform(0.5, 2, 6).astype(np.float32)
    y = convolved(image, weight, bias if with_bias else 0.0, padding=(1, 1, 1, 1))
    right = (y - mean) / np.sqrt(variance + 0.25) * scale + offset
    given = [weight, bias.reshape(1, 1, 1, 6), scale, offset, mean, variance]
    shown, out = image, right
    if general:
        given[0], given[1] = weight.transpose(1, 0, 2, 3), bias
        shown, out = image.transpose(0, 3, 1, 2), right.transpose(0, 3, 1, 2)
        y = y.transpose(0, 3, 1, 2)
    inputs = [np.ascontiguousarray(array) for array in (shown, *given)]
    f = FunctionText([tensor(*a.shape) for a in (inputs if not constants else inputs[:1])])
    names = [f"%arg{i}" for i in range(1, 7)]
    if constants:
        names = [f.constant(constant_text(a), tensor(*a.shape)) for a in inputs[1:]]
    op, attributes = ("convolution", CONVOLUTION) if general else ("conv2d", CONV2D)
    operands = ["%arg0", *names[: 1 + with_bias]]
    value = f.op(op, operands, tensor(*out.shape), attributes)
    result = f.op(
        "batch_norm_inference",
        [value, *names[2:]],
        tensor(*out.shape),
        f"dimension = {1 if general else 3} : si32, epsilon = 0.25 : f32",
    )
    results = (result, value) if twice else (result,)
    expected = [out, y] if twice else [out]
    return f.returning(*results), expected, inputs[:1] if constants else inputs


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_constants_are_folded(general: bool, with_bias: bool) -> None:
    """The numbers stay, the normalization does not."""
    text, expected, inputs = network(general, with_bias, constants=True)
    folded = printed(text, "ttir-fold-batch-norm")
    assert "batch_norm" not in folded
    assert folded.count("ttir.conv") == 1
    for road in (TTNN_PIPELINE, f"{TTNN_PIPELINE}=enable-fold-batch-norm=false"):
        (result,) = executed(text, inputs, road)
        np.testing.assert_allclose(result, expected[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("constants", "twice"), [(False, False), (True, True)])
def test_what_stays(constants: bool, twice: bool) -> None:
    """Arguments may change from run to run, and the convolution may be needed by itself."""
    text, expected, inputs = network(False, True, constants, twice)
    assert "batch_norm" in printed(text, "ttir-fold-batch-norm")
    for result, right in zip(executed(text, inputs, TTNN_PIPELINE), expected, strict=True):
        np.testing.assert_allclose(result, right, rtol=1e-4, atol=1e-4)
