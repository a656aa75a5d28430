"""Batch normalizations folded into convolutions, against both done one after the other in NumPy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from oracles.windows import convolved
from running.pass_runner import TTNN_PIPELINE, executed, printed
from running.randomness import TestGenerator
from samples.ttir_text import FunctionText, tensor
from torch.nn.utils.fusion import fuse_conv_bn_weights

from ttmlir.compiler import lower, parse

RNG = TestGenerator(__name__)
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


def constants_of(module: Any) -> list[Any]:
    """The values of a module's constants, in their order."""
    ops = [op for op in module.walk() if op.name == "ttir.constant"]
    values = [op.properties["value"] for op in ops]
    return [np.array(value.get_values(), np.float32).reshape(value.get_shape()) for value in values]


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
    for road in (TTNN_PIPELINE, f"{TTNN_PIPELINE}=enable-fold-batch-norm=true"):
        (result,) = executed(text, inputs, road)
        np.testing.assert_allclose(result, expected[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_folded_constants_are_those_of_torch(general: bool, with_bias: bool) -> None:
    """Weight and bias, number by number; `fuse_conv_bn_weights` is torch's own folding."""
    text, _, _ = network(general, with_bias, constants=True)
    weight, *rest = (torch.from_numpy(array) for array in constants_of(parse(text)))
    # The constant is there in both cases.
    bias, scale, offset, mean, variance = rest
    outputs_first = weight.transpose(0, 1) if general else weight
    flat = bias.reshape(-1) if with_bias else None
    wanted = fuse_conv_bn_weights(outputs_first, flat, mean, variance, 0.25, scale, offset)
    *_, new_weight, new_bias = constants_of(lower(text, "ttir-fold-batch-norm"))
    assert new_bias.shape == ((6,) if general else (1, 1, 1, 6))
    got = new_weight.swapaxes(0, 1) if general else new_weight
    np.testing.assert_allclose(got, wanted[0].detach().numpy(), rtol=1e-6)
    np.testing.assert_allclose(new_bias.reshape(-1), wanted[1].detach().numpy(), rtol=1e-5)


def test_equal_elements_are_folded() -> None:
    """Constants that are one number, such as those of a fresh torch.nn.BatchNorm2d."""
    f = FunctionText([tensor(1, 4, 4, 3)])
    weight = f.constant("0.5", tensor(2, 3, 1, 1))
    scale, offset, mean, variance = (
        f.constant(text, tensor(2)) for text in ("3.0", "[1.0, -1.0]", "0.25", "1.75")
    )
    value = f.op("conv2d", ["%arg0", weight], tensor(1, 4, 4, 2), CONV2D)
    statistics = [scale, offset, mean, variance]
    attributes = "dimension = 3 : si32, epsilon = 0.5 : f32"
    f.lines[-1] = re.sub(r"padding_(\w+) = 1", r"padding_\1 = 0", f.lines[-1])
    result = f.op("batch_norm_inference", [value, *statistics], tensor(1, 4, 4, 2), attributes)
    new_weight, new_bias = constants_of(lower(f.returning(result), "ttir-fold-batch-norm"))
    # The factor is 3 / sqrt(1.75 + 0.5) = 2.
    np.testing.assert_array_equal(new_weight, np.full((2, 3, 1, 1), 1.0, np.float32))
    np.testing.assert_array_equal(new_bias, [[[[0.5, -1.5]]]])


@pytest.mark.parametrize(("constants", "twice"), [(False, False), (True, True)])
def test_what_stays(constants: bool, twice: bool) -> None:
    """Arguments may change from run to run, and the convolution may be needed by itself."""
    text, expected, inputs = network(False, True, constants, twice)
    assert "batch_norm" in printed(text, "ttir-fold-batch-norm")
    for result, right in zip(executed(text, inputs, TTNN_PIPELINE), expected, strict=True):
        np.testing.assert_allclose(result, right, rtol=1e-4, atol=1e-4)
