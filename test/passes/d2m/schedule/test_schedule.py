"""Programs in blocks on cores compute what NumPy computes, whatever the shapes and options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.kernel_runs import KERNEL_PIPELINE, run_kernels
from running.pass_runner import lowered, printed
from running.randomness import TestGenerator
from samples.ttir_text import FunctionText, tensor

from ttmlir.layout.system import board, system_desc_to_table
from ttmlir.mlir.option_values import OptionError
from ttmlir.schema.versions import pack_system_desc

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]
RNG = TestGenerator(__name__)


def numbers(*shape: int) -> Array:
    """Multiples of 1/64 from -1 to 1, which bf16 holds."""
    return (RNG.integers(-64, 65, shape) / 64).astype(np.float32)


def chain(*shape: int) -> str:
    """|x - y| and, of that, |z - x|."""
    type_ = tensor(*shape)
    text = FunctionText([type_, type_])
    first = text.op("subtract", ["%arg0", "%arg1"], type_)
    second = text.op("abs", [first], type_)
    third = text.op("subtract", [second, "%arg0"], type_)
    return text.returning(third)


@pytest.mark.parametrize(
    "shape",
    [
        (1, 1),
        (33, 70),
        (7 * 32, 11 * 32),
        (13 * 32, 65),
        (32, 17 * 32),
        (2080, 40),
        (3, 40, 70),
        (5, 3, 2, 33),
        (2, 3, 1, 40, 33),
        (70,),
        (),
    ],
)
def test_shapes(shape: Shape) -> None:
    """Extents that are primes in tiles, long rows and columns, all ranks."""
    x, y = numbers(*shape), numbers(*shape)
    [result] = run_kernels(chain(*shape), x, y).outputs
    np.testing.assert_array_equal(result, np.abs(x - y) - x)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    "options",
    [
        "override-device-shape=1,1",
        "override-device-shape=3,5",
        "num-stream-buffers=1",
        "num-stream-buffers=3",
        "default-input-memspace=dram default-output-memspace=dram",
        "collapse-tensors-2d=false",
        "mock-system-desc-arch=blackhole",
    ],
)
def test_options(options: str) -> None:
    """Few cores, other machines, other buffers."""
    x, y = numbers(5, 70, 200), numbers(5, 70, 200)
    [result] = run_kernels(chain(5, 70, 200), x, y, options=options).outputs
    np.testing.assert_array_equal(result, np.abs(x - y) - x)


def test_results_and_arguments() -> None:
    """A result that is returned twice, an argument that is returned, one that nobody uses."""
    type_ = tensor(33, 70)
    text = FunctionText([type_, tensor(5, element="i8"), type_])
    result = text.op("abs", ["%arg0"], type_)
    x, unused, y = numbers(33, 70), np.arange(5, dtype=np.int8), numbers(33, 70)
    outputs = run_kernels(text.returning(result, "%arg2", result, "%arg1"), x, unused, y).outputs
    for output, expected in zip(outputs, (np.abs(x), y, np.abs(x), unused), strict=True):
        np.testing.assert_array_equal(output, expected)


def test_constants() -> None:
    """Constants of the host are read by kernels, and returned; equal ones are one."""
    type_ = tensor(2, 3, element="bf16")
    text = FunctionText([type_])
    first = text.constant("[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", type_)
    second = text.constant("[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", type_)
    total = text.op("add", ["%arg0", first], type_)
    x = numbers(2, 3).astype(ml_dtypes.bfloat16)
    constant = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    run = run_kernels(text.returning(total, text.op("add", [total, second], type_)), x)
    for output, times in zip(run.outputs, (1, 2), strict=True):
        expected = x.astype(np.float32) + times * constant
        np.testing.assert_allclose(output.astype(np.float32), expected, rtol=2**-7)


# --- Products ------------------------------------------------------------------------------------


def product(rows: int, terms: int, columns: int, element: str = "f32") -> str:
    """A product of two matrices."""
    types = [tensor(rows, terms, element=element), tensor(terms, columns, element=element)]
    text = FunctionText(types)
    result = tensor(rows, columns, element=element)
    return text.returning(text.op("matmul", ["%arg0", "%arg1"], result))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    "options",
    [
        "",
        "override-device-shape=1,1",
        "override-device-shape=2,3",
        "matmul-interchange=1,0,2",
        "num-stream-buffers=1 override-device-shape=3,2",
        "default-input-memspace=dram",
    ],
)
@pytest.mark.parametrize("shape", [(32, 32, 32), (7 * 32, 5 * 32, 64), (256, 2048, 96)])
def test_products(shape: tuple[int, int, int], options: str) -> None:
    """Sums over several steps, on few and many cores; the terms are multiples of a tile."""
    rows, terms, columns = shape
    x, y = numbers(rows, terms), numbers(terms, columns)
    [result] = run_kernels(product(*shape), x, y, options=options).outputs
    # All products and sums are multiples of 2**-12 below 2**11: f32 holds them.
    np.testing.assert_array_equal(result, x @ y)


def test_products_that_both_kernels_store() -> None:
    """Blocks of many tiles on all cores: the reader stores the last rows of each."""
    rows, terms, columns = shape = 1280, 320, 1024
    options = "default-output-memspace=dram"
    text = str(lowered(product(*shape), f"{KERNEL_PIPELINE}={options}"))
    # In front of the kernel that computes are the reader and the writer.
    assert text.split("func.func private @compute")[0].count("noc_async_write_tile") == 2
    x, y = numbers(rows, terms), numbers(terms, columns)
    [result] = run_kernels(product(*shape), x, y, options=options).outputs
    np.testing.assert_array_equal(result, x @ y)


@pytest.mark.parametrize("name", ["n150", "p150"])
def test_boards(name: str, tmp_path: Path) -> None:
    """On boards, other tiles stand between the columns of cores."""
    path = tmp_path / "board.ttsys"
    path.write_bytes(pack_system_desc(system_desc_to_table(board(name))))
    x, y = numbers(256, 256), numbers(256, 256)
    run = run_kernels(product(256, 256, 256), x, y, options=f"system-desc-path={path}")
    np.testing.assert_array_equal(run.outputs[0], x @ y)


def test_order_of_loops() -> None:
    """An order has rows, columns and terms, each once."""
    with pytest.raises(OptionError) as refused:
        lowered(product(64, 64, 64), f"{KERNEL_PIPELINE}=matmul-interchange=2,0,0")
    assert str(refused.value) == (
        "for the --matmul-interchange option: expected an order of 0,1,2, which are rows, columns "
        "and terms; got 2,0,0"
    )


def test_terms_stay_innermost() -> None:
    """What is written before the last step of the terms would not be finished."""
    texts = {
        order: printed(product(96, 160, 64), f"{KERNEL_PIPELINE}=matmul-interchange={order}")
        for order in ("0,1,2", "1,0,2", "2,0,1", "2,1,0")
    }
    assert texts["2,0,1"] == texts["0,1,2"]
    assert texts["2,1,0"] == texts["1,0,2"]
