"""Fused generics become kernels: limits of cores end a fusion, and never fail a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from ml_dtypes import bfloat16
from running.d2m_interpreter import normal
from running.kernel_runs import run_kernels
from running.pass_runner import lowered
from samples.ttir_text import FunctionText, tensor
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import AllocOp

from ttmlir.dialects import d2m

Array = np.ndarray[Any, Any]
ONE_CORE = "ttir-to-ttmetal-pipeline=override-device-shape=1,1"
PASSES = ("ttir-composite-decomposition", "ttir-to-d2m", "d2m-mask-padding", "d2m-generic-fusion")


def softmax(x: Array, axis: int) -> Array:
    """As in textbooks."""
    powers = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis, keepdims=True))


def check(text: str, inputs: Sequence[Array], expected: Array, launches: int) -> None:
    """A function runs on the simulator in so many launches, and gives what is expected."""
    module = lowered(text, *PASSES)
    assert sum(isinstance(op, d2m.GenericOp) for op in module.walk()) == launches
    (result,) = run_kernels(text, *inputs).outputs
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("axis", [0, 1])
def test_sums_of_many_softmaxes(axis: int) -> None:
    """Each needs buffers for masked tiles, which count, too."""
    shape, count = tensor(33, 5), 8
    text = FunctionText([shape])
    value, total = "%arg0", ""
    x = np.asarray(normal(33, 5))
    expected = np.zeros_like(x)
    for _ in range(count):
        value = text.op("softmax", [value], shape, f"dimension = {axis} : si32")
        x = softmax(x, axis)
        total = text.op("add", [total, value], shape) if total else value
        expected += x
    check(text.returning(total), [normal(33, 5)], expected, 3)


def test_what_is_computed_again_needs_a_buffer_each_time() -> None:
    """Quotients that two results read each: the reciprocal is in a buffer for each body.

    All of them in one generic would need 35 circular buffers.
    """
    shape = tensor(33, 40)
    text = FunctionText([shape])
    over = "dim_arg = [1 : i32], keep_dim = true"
    total = text.op("sum", ["%arg0"], tensor(33, 1), over)
    x = np.abs(normal(33, 40))
    functions: dict[str, Any] = {
        **{"tanh": np.tanh, "abs": np.abs, "neg": np.negative, "exp": np.exp},
        **{"sin": np.sin, "cos": np.cos, "square": np.square, "sqrt": np.sqrt},
    }
    results: list[str] = []
    expected: list[Array] = []
    for mnemonic, function in functions.items():
        value = text.op(mnemonic, ["%arg0"], shape)
        value = text.op("div", [value, total], shape)
        results += [text.op(each, [value, "%arg0"], shape) for each in ("add", "multiply")]
        quotient = function(x) / x.sum(1, keepdims=True)
        expected += [quotient + x, quotient * x]
    run = run_kernels(text.returning(*results), x)
    for result, each in zip(run.outputs, expected, strict=True):
        np.testing.assert_allclose(result, each, rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("seed", range(6))
def test_tiles_that_registers_do_not_hold_are_counted(seed: int) -> None:
    """Trees of choices, with values that many of them read."""
    rng = np.random.default_rng(seed)
    shape = tensor(33, 70, element=("f32", "bf16")[seed % 2])
    text = FunctionText([shape] * 6)
    values = [f"%arg{number}" for number in range(6)]
    for _ in range(36):
        picked = [str(each) for each in rng.choice(values[-12:], 3)]
        values.append(text.op("where", picked, shape))
    module = lowered(
        text.returning(*values[-8:]),
        *("ttir-load-system-desc", *PASSES, "ttcore-one-shot-bufferize"),
        *("d2m-insert-scratch-buffers", "d2m-grid-selection"),
    )
    for op in module.walk():
        if isinstance(op, d2m.GenericOp):
            local = sum(isinstance(each, AllocOp) for each in op.compute_region.block.ops)
            assert len(op.operands) + local <= 32


def test_a_reduction_within_blocks_does_not_run_in_steps() -> None:
    """Softmax of columns, then the largest number of rows: both dimensions are whole."""
    shape = tensor(70, 40)
    text = FunctionText([shape])
    value = text.op("softmax", ["%arg0"], shape, "dimension = 0 : si32")
    over = "dim_arg = [1 : i32], keep_dim = true"
    result = text.op("max", [value], tensor(70, 1), over)
    x = normal(70, 40)
    check(text.returning(result), [x], softmax(x, 0).max(1, keepdims=True), 1)


def test_rows_of_one_tile_that_change_places() -> None:
    """Dimensions of one tile are followed from stage to stage, as those of many are."""
    text = FunctionText([tensor(33, 5)])
    over = "dim_arg = [0 : i32], keep_dim = true"
    largest = text.op("max", ["%arg0"], tensor(1, 5), over)
    column = text.op("permute", [largest], tensor(5, 1), "permutation = array<i64: 1, 0>")
    order = "permutation = array<i64: 1, 0>"
    turned = text.op("permute", ["%arg0"], tensor(5, 33), order)
    product = text.op("matmul", [turned, "%arg0"], tensor(5, 5))
    result = text.op("multiply", [product, column], tensor(5, 5))
    x = normal(33, 5)
    expected = (x.T @ x) * x.max(0)[:, None]
    check(text.returning(result), [x], expected, 1)


def layer_norm(rows: int, columns: int, element: str) -> str:
    """Of rows, with a scale and an offset for each column."""
    shape, row = tensor(rows, columns, element=element), tensor(1, columns, element=element)
    kept = tensor(rows, 1, element=element)
    text = FunctionText([shape, row, row])
    over = "dim_arg = [1 : i32], keep_dim = true"
    mean = text.op("mean", ["%arg0"], kept, over)
    centered = text.op("subtract", ["%arg0", mean], shape)
    square = text.op("multiply", [centered, centered], shape)
    variance = text.op("mean", [square], kept, over)
    epsilon = text.constant("1.0e-05", tensor(1, 1, element=element))
    factor = text.op("rsqrt", [text.op("add", [variance, epsilon], kept)], kept)
    scaled = text.op("multiply", [centered, factor], shape)
    weighed = text.op("multiply", [scaled, "%arg1"], shape)
    return text.returning(text.op("add", [weighed, "%arg2"], shape))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("columns", "element", "launches"),
    [(4096, "bf16", 1), (2048, "f32", 1), (2299, "f32", 3)],
)
def test_layer_norm_of_long_rows(columns: int, element: str, launches: int) -> None:
    """Differences from the mean are computed twice where L1 does not hold them beside the rest."""
    x, w, b = normal(40, columns), normal(1, columns, seed=1), normal(1, columns, seed=2)
    if element == "bf16":
        x, w, b = (each.astype(bfloat16).astype(np.float32) for each in (x, w, b))
    expected = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b
    text = layer_norm(40, columns, element)
    module = lowered(text, *PASSES)
    assert sum(isinstance(op, d2m.GenericOp) for op in module.walk()) == launches
    (result,) = run_kernels(text, x, w, b).outputs
    tolerance = 2e-2 if element == "bf16" else 1e-4
    error = np.linalg.norm(result - expected) / np.linalg.norm(expected)
    assert error < tolerance


def test_what_is_read_last_is_loaded_last() -> None:
    """Rows are reduced while the scale and the offset are still on their way."""
    module = lowered(layer_norm(32, 1024, "f32"), ONE_CORE)
    (reader,) = [
        op
        for op in module.walk()
        if isinstance(op, FuncOp) and op.sym_name.data.startswith("reader")
    ]
    pushes = [
        [op.operands[0] for op in loop.walk() if op.name == "ttkernel.cb_push_back"]
        for loop in reader.body.block.ops
        if loop.name == "scf.for"
    ]
    x, scale, offset, *_ = reader.body.block.args
    assert pushes == [[x], [scale, offset]]


@pytest.mark.parametrize(("heads", "tokens", "keys"), [(3, 70, 170), (8, 130, 90)])
def test_attention(heads: int, tokens: int, keys: int) -> None:
    """One launch, in which keys beyond the last count for nothing; several rows of cores a head."""
    width, order = 40, "permutation = array<i64: 0, 2, 1>"
    queries, others = tensor(heads, tokens, width), tensor(heads, keys, width)
    scores = tensor(heads, tokens, keys)
    text = FunctionText([queries, others, others])
    turned = text.op("permute", ["%arg1"], tensor(heads, width, keys), order)
    shares = text.op("matmul", ["%arg0", turned], scores)
    shares = text.op("softmax", [shares], scores, "dimension = 2 : si32")
    result = text.op("matmul", [shares, "%arg2"], queries)
    q, k = normal(heads, tokens, width) / 4, normal(heads, keys, width, seed=1)
    v = normal(heads, keys, width, seed=2)
    expected = softmax(q @ k.transpose(0, 2, 1), 2) @ v
    check(text.returning(result), [q, k, v], expected, 1)


def test_products_that_share_their_left_factor() -> None:
    """One launch with an output for each, all in steps, and rows that are added."""
    columns = (170, 190, 165)
    shapes = [(70, 500), *((500, each) for each in columns), *((1, each) for each in columns)]
    text = FunctionText([tensor(*each) for each in shapes])
    arrays = [normal(*each, seed=seed) / 8 for seed, each in enumerate(shapes)]
    results: list[str] = []
    for number, each in enumerate(columns, 1):
        product = text.op("matmul", ["%arg0", f"%arg{number}"], tensor(70, each))
        bias = f"%arg{number + len(columns)}"
        results.append(text.op("add", [product, bias], tensor(70, each)))
    module = lowered(text.returning(*results), *PASSES)
    (generic,) = (op for op in module.walk() if isinstance(op, d2m.GenericOp))
    assert len(generic.outputs) == len(columns)
    outputs = run_kernels(text.returning(*results), *arrays).outputs
    for number, output in enumerate(outputs, 1):
        expected = arrays[0] @ arrays[number] + arrays[number + len(columns)]
        np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-4)
