"""Constants that are computed while compiling, against NumPy and torch."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from running.pass_runner import TTNN_PIPELINE, executed, lowered, printed
from running.randomness import TestGenerator
from samples.ttir_text import FunctionText, tensor
from torch.nn import functional

import ttmlir
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.elementwise import DEFINITIONS as ELEMENTWISE_DEFINITIONS

PASS = "ttir-evaluate-constants"
RNG = TestGenerator(__name__)


def numbers(*shape: int) -> Any:
    """Numbers that are exact in few digits."""
    return RNG.integers(-64, 64, shape).astype(np.float32) / 8


def constant(f: FunctionText, array: Any, element: str = "f32") -> str:
    """A constant of the function."""
    return f.constant(str(array.tolist()), tensor(*array.shape, element=element))


def operations(text: str, *passes: str) -> list[str]:
    """The names of the operations of ttir that passes leave, without destinations."""
    return [op.name for op in lowered(text, *passes).walk() if op.name.startswith("ttir.")]


def test_weights_that_are_computed() -> None:
    """Rows less their mean; the input is only multiplied."""
    weight = numbers(35, 47)
    f = FunctionText([tensor(35, 47)])
    w = constant(f, weight)
    keep = "dim_arg = [1 : i32], keep_dim = true"
    less = f.op("subtract", [w, f.op("mean", [w], tensor(35, 1), keep)], tensor(35, 47))
    text = f.returning(f.op("multiply", ["%arg0", less], tensor(35, 47)))
    assert operations(text, PASS) == ["ttir.constant", "ttir.multiply"]
    x = numbers(35, 47)
    wanted = x * (weight - weight.mean(1, keepdims=True))
    # tt-mlir's pipeline leaves them where they are, and so does ours unless told otherwise.
    assert '"ttnn.mean"' in printed(text, TTNN_PIPELINE)
    for road in (TTNN_PIPELINE, f"{TTNN_PIPELINE}=enable-const-eval=true"):
        np.testing.assert_allclose(executed(text, [x], road)[0], wanted, rtol=1e-5, atol=1e-5)


def test_parts_of_a_constant() -> None:
    """Slices that together are no larger; moves keep narrow numbers as they are."""
    f = FunctionText([tensor(2, 5, element="bf16")])
    w = constant(f, numbers(4, 5), "bf16")
    result = "%arg0"
    for begin in (0, 2):
        bounds = (
            f"begins = [{begin} : i32, 0 : i32], ends = [{begin + 2} : i32, 5 : i32], "
            "step = [1 : i32, 1 : i32]"
        )
        part = f.op("slice", [w], tensor(2, 5, element="bf16"), bounds)
        result = f.op("add", [result, part], tensor(2, 5, element="bf16"))
    text = f.returning(result)
    assert sorted(operations(text, PASS)) == ["ttir.add"] * 2 + ["ttir.constant"] * 2


def grown(uses: int) -> str:
    """Several results of one constant, each as large as it is."""
    f = FunctionText([tensor(3, 4)])
    w, result = constant(f, numbers(3, 4)), "%arg0"
    for name in ("abs", "neg", "exp")[:uses]:
        result = f.op("add", [result, f.op(name, [w], tensor(3, 4))], tensor(3, 4))
    return f.returning(result)


def outer() -> str:
    """A column plus a row."""
    f = FunctionText([tensor(3, 4)])
    column, row = constant(f, numbers(3, 1)), constant(f, numbers(1, 4))
    return f.returning(
        f.op("add", ["%arg0", f.op("add", [column, row], tensor(3, 4))], tensor(3, 4))
    )


def kept() -> str:
    """A constant that the program takes as it is besides."""
    f = FunctionText([tensor(3, 4)])
    w = constant(f, numbers(3, 4))
    both = f.op("multiply", [w, f.op("abs", [w], tensor(3, 4))], tensor(3, 4))
    text = f.op("add", ["%arg0", both], tensor(3, 4))
    return f.returning(f.op("add", [text, w], tensor(3, 4)))


@pytest.mark.parametrize("text", [grown(2), grown(3), outer(), kept()])
def test_files_do_not_grow(text: str) -> None:
    """What would take more bytes is left to the device."""
    assert printed(text, PASS) == printed(text)


def test_one_result_of_a_constant() -> None:
    """The counterpart of what would grow."""
    assert "ttir.abs" not in printed(grown(1), PASS)


def test_bf16_is_left_to_the_device() -> None:
    """The runtime has more digits in between than a constant could keep."""
    f = FunctionText([tensor(3, 4, element="bf16")])
    w = constant(f, numbers(3, 4), "bf16")
    both = f.op("exp", [w], tensor(3, 4, element="bf16"))
    text = f.returning(f.op("add", ["%arg0", both], tensor(3, 4, element="bf16")))
    assert "ttir.exp" in printed(text, PASS)


class Standardized(torch.nn.Conv2d):
    """A convolution whose weights have the mean 0 and the variance 1."""

    def forward(self, x: Any) -> Any:
        """With statistics that nobody reads."""
        rows = self.weight.reshape(1, self.out_channels, -1)
        weight = functional.batch_norm(rows, None, None, training=True, momentum=0.0)
        return functional.conv2d(x, weight.reshape_as(self.weight), self.bias)


def test_standardized_weights_of_torch() -> None:
    """The program is one convolution."""
    torch.manual_seed(2)
    model, x = Standardized(5, 7, 3), torch.randn(1, 5, 6, 8)
    compiled = ttmlir.compile(model, x)
    text = compiled.text("ttnn")
    assert "ttnn.conv2d" in text
    assert not any(name in text for name in ("mean", "subtract", "rsqrt", "multiply"))
    np.testing.assert_allclose(compiled(x).numpy(), model(x).detach().numpy(), atol=1e-5)


def test_volumes_take_slices_of_weights() -> None:
    """A convolution of volumes is convolutions of images, with parts of its weights."""
    torch.manual_seed(3)
    model, x = torch.nn.Conv3d(3, 5, (3, 2, 3)), torch.randn(1, 3, 5, 4, 6)
    compiled = ttmlir.compile(model, x)
    wanted = model(x).detach().numpy()
    np.testing.assert_allclose(compiled(x).numpy(), wanted, atol=1e-5)
    slices = [line for line in compiled.text("ttnn").splitlines() if '"ttnn.slice"' in line]
    assert all("tensor<5x3x" not in line for line in slices)


ELEMENTS = {
    "f32": "[-1.5, 0.0, 2.5]",
    "bf16": "[-1.5, 0.0, 2.5]",
    "i32": "[-1, 0, 5]",
    "ui8": "[1, 0, 7]",
    "i1": "[true, false, true]",
}


@pytest.mark.parametrize("pass_name", [PASS, "canonicalize"])
@pytest.mark.parametrize("shape", [(3,), (0,), (2, 0)], ids=str)
@pytest.mark.parametrize("name", [r.mnemonic for r in ELEMENTWISE_DEFINITIONS if r.in_ttir])
def test_every_elementwise_operation_on_constants(
    name: str, shape: tuple[int, ...], pass_name: str
) -> None:
    """Of all types, without elements too: it becomes valid IR, or the types are refused."""
    operands = len(DEFINITIONS[name].operands)
    pairs = zip(ELEMENTS, ELEMENTS, strict=True) if 0 in shape else product(ELEMENTS, ELEMENTS)
    for element, result in pairs:
        f = FunctionText([])
        values = ELEMENTS[element] if 0 not in shape else ""
        type_ = tensor(*shape, element=element)
        constants = [f.constant(values, type_) for _ in range(operands)]
        text = f.returning(f.op(name, constants, tensor(*shape, element=result)))
        with suppress(DiagnosticError):
            lowered(text, pass_name)


@pytest.mark.parametrize("pass_name", [PASS, "canonicalize"])
def test_bits_of_a_constant(pass_name: str) -> None:
    """As NumPy sees them."""
    f = FunctionText([])
    w = f.constant("[1.0, -2.0, 3.5]", tensor(3))
    text = f.returning(f.op("bitcast_convert", [w], tensor(3, element="i32")))
    assert operations(text, pass_name) == ["ttir.constant"]
    wanted = np.array([1.0, -2.0, 3.5], np.float32).view(np.int32)
    np.testing.assert_array_equal(executed(text, [], pass_name, TTNN_PIPELINE)[0], wanted)


def test_bits_of_numbers_of_other_sizes_are_refused() -> None:
    """A bitcast of ttir makes a number of each number."""
    f = FunctionText([tensor(4, element="f32")])
    text = f.returning(f.op("bitcast_convert", ["%arg0"], tensor(4, element="ui8")))
    with pytest.raises(DiagnosticError, match="keeps bits, but the elements of input and output"):
        lowered(text)
