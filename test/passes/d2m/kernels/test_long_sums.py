"""Long sums of 16-bit numbers, which have 32 bits: in device numerics against NumPy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.kernel_runs import KERNEL_PIPELINE, run_kernels
from running.pass_runner import printed
from samples.ttir_text import FunctionText, tensor

Array = np.ndarray[Any, Any]
HALF = 2.0**-8
"""Half of the last place of a bf16 number, to the number."""
NARROW = "fp32-dest-acc-en=false"
WIDE = "fp32-dest-acc-en=true"


def positive(*shape: int) -> Array:
    """Numbers of bf16 from 0 to 1, whose sums grow."""
    random = np.random.default_rng(5).random(shape, np.float32)
    return random.astype(ml_dtypes.bfloat16).astype(np.float32)


def compiled(text: str, options: str = "") -> str:
    """The kernels and the program of the host."""
    return printed(text, f"{KERNEL_PIPELINE}={options}" if options else KERNEL_PIPELINE)


def reduction(mnemonic: str, shape: tuple[int, ...], *dims: int, element: str = "bf16") -> str:
    """A reduction that keeps its dimensions."""
    text = FunctionText([tensor(*shape, element=element)])
    kept = tuple(1 if dim in dims else extent for dim, extent in enumerate(shape))
    parameters = f"dim_arg = [{', '.join(f'{dim} : i32' for dim in dims)}], keep_dim = true"
    return text.returning(text.op(mnemonic, ["%arg0"], tensor(*kept, element=element), parameters))


def product(rows: int, terms: int, columns: int) -> str:
    """A product of matrices."""
    text = FunctionText(
        [tensor(rows, terms, element="bf16"), tensor(terms, columns, element="bf16")]
    )
    return text.returning(
        text.op("matmul", ["%arg0", "%arg1"], tensor(rows, columns, element="bf16"))
    )


def largest_error(result: Array, expected: Array) -> float:
    """To the number that was expected."""
    return float(np.max(np.abs(result - expected) / np.abs(expected)))


def test_sums_of_ones() -> None:
    """Without further bits, each 16 above 4096 are half of the last place, and rounded up to 32."""
    ones = np.ones((3, 5000), np.float32)
    text = reduction("sum", ones.shape, 1)
    for options, expected in (("", 4992), (NARROW, 4096 + (5000 - 4096) // 16 * 32)):
        [result] = run_kernels(text, ones, options=options, exact=False).outputs
        assert result.tolist() == [[expected]] * 3


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("shape", "dims"),
    [((40, 1100), (1,)), ((1100, 40), (0,)), ((70, 33, 50), (0,)), ((3, 40, 700), (0, 2))],
)
@pytest.mark.parametrize("mnemonic", ["sum", "mean"])
def test_reductions(shape: tuple[int, ...], dims: tuple[int, ...], mnemonic: str) -> None:
    """Within tiles, outside of them, and both: rounded once."""
    x = positive(*shape)
    text = reduction(mnemonic, shape, *dims)
    function: Callable[..., Array] = getattr(np, mnemonic)
    expected = function(x.astype(np.float64), axis=dims, keepdims=True)
    [result] = run_kernels(text, x, exact=False).outputs
    assert largest_error(result, expected) < 1.1 * HALF
    [narrow] = run_kernels(text, x, options=NARROW, exact=False).outputs
    assert largest_error(narrow, expected) > 2 * HALF


def test_products() -> None:
    """Of many terms."""
    a, b = positive(33, 1100), positive(1100, 50)
    expected = a.astype(np.float64) @ b
    text = product(33, 1100, 50)
    [result] = run_kernels(text, a, b, exact=False).outputs
    assert largest_error(result, expected) < 1.1 * HALF
    [narrow] = run_kernels(text, a, b, options=NARROW, exact=False).outputs
    assert largest_error(narrow, expected) > 4 * HALF


def test_softmax_of_long_rows() -> None:
    """Its sums were 3.5 % off."""
    x = 4 * positive(33, 5000)
    type_ = tensor(*x.shape, element="bf16")
    text = FunctionText([type_])
    text = text.returning(text.op("softmax", ["%arg0"], type_, "dimension = 1 : si32"))
    [result] = run_kernels(text, x, exact=False).outputs
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    # The difference, its exponential, the sum and the quotient are rounded.
    assert largest_error(result, e / e.sum(axis=1, keepdims=True)) < 6 * HALF


def test_rows_that_cores_share() -> None:
    """Parts of sums are exchanged in 32 bits, and added up by the matrix unit, too."""
    x = positive(64, 2048)
    whole = tensor(*x.shape, element="bf16")
    function = FunctionText([whole])
    parameters = "dim_arg = [1 : i32], keep_dim = true"
    sums = function.op("sum", ["%arg0"], tensor(64, 1, element="bf16"), parameters)
    text = function.returning(function.op("div", ["%arg0", sums], whole))
    [compute] = re.findall(r"func.func private @compute0.*?\n  }", compiled(text), flags=re.DOTALL)
    formats = re.findall(r"reduce_tile\".*?x!ttcore.tile<32x32, (\w+)>", compute)
    assert formats == ["bf16", "f32"]
    [result] = run_kernels(text, x, exact=False).outputs
    expected = x / x.astype(np.float64).sum(axis=1, keepdims=True)
    # The sum, its reciprocal and the product are rounded.
    assert np.max(np.abs(result - expected)) < 3.1 * HALF * expected.max()


@pytest.mark.parametrize(
    ("text", "options", "is_wide"),
    [
        (reduction("sum", (40, 992), 1), "", False),
        (reduction("sum", (40, 1024), 1), "", True),
        (reduction("sum", (40, 1024), 1), NARROW, False),
        (reduction("sum", (40, 70), 1), WIDE, True),
        (reduction("max", (40, 2000), 1), "", False),
        (reduction("sum", (63, 40, 70), 0), "", False),
        (reduction("sum", (64, 40, 70), 0), "", True),
        (product(40, 1000, 70), "", False),
        (product(40, 1024, 70), "", True),
        (product(40, 1024, 70), NARROW, False),
        (product(40, 70, 70), WIDE, True),
    ],
)
def test_where_sums_have_32_bits(text: str, options: str, is_wide: bool) -> None:
    """From 64 additions on, each of 16 numbers on the matrix unit, or where the option says so."""
    module = compiled(text, options)
    [wide] = re.findall(r"compute_config<@compute0, .*?hifi4, (\w+),", module)
    assert wide == str(is_wide).lower()
