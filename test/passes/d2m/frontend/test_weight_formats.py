"""`experimental-weight-dtype`: weights of products as tiles of bf16 or block floats."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.kernel_runs import KERNEL_PIPELINE, run_kernels
from running.pass_runner import printed
from samples.ttir_text import FunctionText, tensor

import ttmlir
from ttmlir.runtime.metal_program import MetalProgram
from ttmlir.tools import ttrt

Array = np.ndarray[Any, Any]
OPTION = "experimental-weight-dtype"
BITS = {"bfp_bf8": 7, "bfp_bf4": 3}
ROWS, TERMS, COLUMNS = 40, 90, 50


def numbers(*shape: int, element: str = "bf16") -> Array:
    """Normally distributed."""
    random = np.random.default_rng(shape).standard_normal(shape, np.float32)
    return random.astype(ml_dtypes.bfloat16).astype(np.float32) if element == "bf16" else random


def packed(values: Array, word: str) -> Array:
    """The numbers in a format: 16 of a row share the exponent of the largest.

    With b bits, magnitudes are multiples of 2^(exponent + 1 - b), rounded to the nearest, ties to
    even, and no larger than with all bits set.
    """
    if word == "bf16":
        return values.astype(ml_dtypes.bfloat16).astype(np.float32)
    rows, columns = values.shape
    wide = np.zeros((rows, -(-columns // 16) * 16))
    wide[:, :columns] = values
    blocks = wide.reshape(rows, -1, 16)
    largest = np.abs(blocks).max(axis=2, keepdims=True)
    _, exponents = np.frexp(largest)
    steps = np.ldexp(1.0, exponents - BITS[word])
    limit = 2.0 ** BITS[word] - 1
    rounded = np.clip(np.rint(blocks / steps), -limit, limit) * steps
    return rounded.reshape(rows, -1)[:, :columns].astype(np.float32)


def product(element: str, *, transposes: bool = False) -> str:
    """Of an input and a weight."""
    shape = (COLUMNS, TERMS) if transposes else (TERMS, COLUMNS)
    text = FunctionText([tensor(ROWS, TERMS, element=element), tensor(*shape, element=element)])
    weight = "%arg1"
    if transposes:
        moved = tensor(TERMS, COLUMNS, element=element)
        weight = text.op("transpose", [weight], moved, "dim0 = 0 : si32, dim1 = 1 : si32")
    return text.returning(
        text.op("matmul", ["%arg0", weight], tensor(ROWS, COLUMNS, element=element))
    )


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("element", ["bf16", "f32"])
@pytest.mark.parametrize("word", ["bf16", "bfp_bf8", "bfp_bf4"])
def test_products_with_packed_weights(word: str, element: str) -> None:
    """The host packs them; the product is as wide as before."""
    x, w = numbers(ROWS, TERMS, element=element), numbers(TERMS, COLUMNS, element=element)
    expected = x.astype(np.float64) @ packed(w, word)
    for exact in (True, False):
        options = f"{OPTION}={word}"
        [result] = run_kernels(product(element), x, w, options=options, exact=exact).outputs
        bound = 1e-6 if element == "f32" and exact else 2.0**-8 if exact else 2.0**-6
        assert np.linalg.norm(result - expected) < bound * np.linalg.norm(expected)


def test_weights_that_move() -> None:
    """Blocks are those of the rows that the host has; the matrix unit transposes the tiles."""
    x, w = numbers(ROWS, TERMS), numbers(COLUMNS, TERMS)
    expected = x.astype(np.float64) @ packed(w, "bfp_bf4").T
    text = product("bf16", transposes=True)
    [result] = run_kernels(text, x, w, options=f"{OPTION}=bfp_bf4").outputs
    assert np.linalg.norm(result - expected) < 2.0**-8 * np.linalg.norm(expected)


def test_what_is_a_weight() -> None:
    """Second factors that nothing computes; what else reads them has them as they were."""
    type_ = tensor(64, 64, element="bf16")
    text = FunctionText([type_, type_])
    weighted = text.op("matmul", ["%arg0", "%arg1"], type_)
    again = text.op("matmul", [weighted, "%arg1"], type_)
    computed = text.op("matmul", [again, weighted], type_)
    total = text.op("add", [computed, "%arg1"], type_)
    module = printed(
        text.returning(total), "ttir-load-system-desc", f"ttir-to-d2m={OPTION}=bfp_bf8"
    )
    loads = re.findall(r"d2m.to_layout %arg(\d), .* into tensor<.*?<32x32, (\w+)>", module)
    assert sorted(loads) == [("0", "bf16"), ("1", "bf16"), ("1", "bfp_bf8")]
    products = re.findall(r'"d2m.tile_matmul".*<32x32, (\w+)>, !ttcore.tile<32x32, (\w+)>,', module)
    assert [right for _, right in products] == ["bfp_bf8", "bfp_bf8", "bf16"]
    unused = printed(product("bf16"), "ttir-load-system-desc", f"ttir-to-d2m={OPTION}=bfp_bf8")
    assert re.findall(r"d2m.to_layout %arg1, .* into tensor<.*?, (\w+)>", unused) == ["bfp_bf8"]


def test_traffic() -> None:
    """A tile of 1088 bytes instead of 2048."""
    shapes = (32, 256), (256, 512)
    text = FunctionText([tensor(*each, element="bf16") for each in shapes])
    text = text.returning(text.op("matmul", ["%arg0", "%arg1"], tensor(32, 512, element="bf16")))
    inputs = [numbers(*each) for each in shapes]
    moved: dict[str, int] = {}
    for word in ("bf16", "bfp_bf8"):
        options = f"default-input-memspace=dram {OPTION}={word}"
        run = run_kernels(text, *inputs, options=options, timed=True)
        moved[word] = sum(each.report.times("").networks.dram_bytes for each in run.reports)
    assert moved["bf16"] - moved["bfp_bf8"] == 8 * 16 * (2048 - 1088)


def test_other_words() -> None:
    """Are refused with those that are known."""
    with pytest.raises(Exception, match="Supported: bf16, bfp_bf8, bfp_bf4"):
        printed(product("bf16"), f"{KERNEL_PIPELINE}={OPTION}=f32")


@pytest.mark.parametrize("weights", ["constants", "arguments"])
def test_parameters_of_torch(weights: Any, tmp_path: Any, capsys: Any) -> None:
    """`ttmlir.compile` packs them at load, and the golden comparison takes what the chip has."""
    import torch

    torch.manual_seed(3)
    layer = torch.nn.Linear(70, 33)
    x = numbers(5, 70)
    options = f"{OPTION}=bfp_bf8"
    model = ttmlir.compile(
        layer, torch.from_numpy(x), target="kernels", options=options, weights=weights
    )
    weight, bias = (each.detach().numpy() for each in (layer.weight, layer.bias))
    expected = x @ packed(weight, "bfp_bf8").T + bias
    program = model.binary.program(0)
    assert isinstance(program, MetalProgram)
    np.testing.assert_allclose(np.asarray(model(x)), expected, atol=1e-5)
    given = x @ weight.T + bias
    assert np.abs(given - expected).max() > 1e-3
    if weights == "constants":
        model.save(tmp_path / "layer.ttm")
        assert ttrt.main(["run", "--golden", str(tmp_path / "layer.ttm")]) == 0
        assert "pass" in capsys.readouterr().err
