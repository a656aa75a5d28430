"""Fused generics compute what NumPy computes, in as few launches as their dimensions allow.

Every module runs in the interpreter, and by its references as golden runs compute them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.d2m_references import golden_results
from running.d2m_interpreter import normal
from running.pass_runner import lowered
from samples.ttir_text import FunctionText, tensor
from xdsl.dialects.builtin import ModuleOp

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp as LinalgGenericOp
from ttmlir.interpreter import execute

Array = np.ndarray[Any, Any]
TO_D2M = ("ttir-composite-decomposition", "ttir-to-d2m")
MASKS, FUSION = "d2m-mask-padding", "d2m-generic-fusion"


def generics(module: ModuleOp) -> list[d2m.GenericOp]:
    """The launches of a module."""
    return [op for op in module.walk() if isinstance(op, d2m.GenericOp)]


def stages(generic: d2m.GenericOp) -> int:
    """The loop nests of a generic."""
    return sum(isinstance(op, LinalgGenericOp) for op in generic.compute_region.block.ops)


def check(
    text: str,
    inputs: Sequence[Array],
    expected: Sequence[Array],
    count: int,
    tolerance: float = 2e-5,
) -> list[d2m.GenericOp]:
    """The generics of a function, of which there are so many; they compute what is expected."""
    module = lowered(text, *TO_D2M, FUSION)
    for results in (execute(module, inputs), golden_results(module, inputs)):
        for result, each in zip(results, expected, strict=True):
            np.testing.assert_allclose(result, each, rtol=tolerance, atol=tolerance)
    found = generics(module)
    assert len(found) == count
    return found


def softmax(x: Array, axis: int) -> Array:
    """As in textbooks."""
    powers = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis, keepdims=True))


# --- Elementwise ---------------------------------------------------------------------------------


def test_a_chain_is_one_body() -> None:
    """What lies between stays in registers; an operand that is read twice is one."""
    text = FunctionText([tensor(33, 70), tensor(33, 70)])
    a = text.op("exp", ["%arg0"], tensor(33, 70))
    b = text.op("multiply", [a, "%arg1"], tensor(33, 70))
    c = text.op("add", [b, "%arg0"], tensor(33, 70))
    x, y = normal(33, 70), normal(33, 70, seed=1)
    (generic,) = check(text.returning(c), [x, y], [np.exp(x) * y + x], 1)
    assert (len(generic.inputs), stages(generic)) == (2, 1)


def test_a_value_that_is_needed_elsewhere_is_an_output() -> None:
    """Both are computed in one launch."""
    text = FunctionText([tensor(33, 70)])
    a = text.op("exp", ["%arg0"], tensor(33, 70))
    b = text.op("sqrt", [a], tensor(33, 70))
    x = normal(33, 70)
    (generic,) = check(text.returning(b, a), [x], [np.sqrt(np.exp(x)), np.exp(x)], 1)
    assert len(generic.outputs) == 2


def test_a_diamond_is_one_body() -> None:
    """A value with two readers in one body is computed once."""
    text = FunctionText([tensor(33, 70)])
    a = text.op("exp", ["%arg0"], tensor(33, 70))
    b, c = (text.op(name, [a], tensor(33, 70)) for name in ("neg", "sqrt"))
    d = text.op("multiply", [b, c], tensor(33, 70))
    x = normal(33, 70)
    (generic,) = check(text.returning(d), [x], [-np.exp(x) * np.sqrt(np.exp(x))], 1)
    assert stages(generic) == 1


def test_what_nobody_reads_is_not_computed() -> None:
    """Dead operations, which nobody removed before, take neither launches nor circular buffers."""
    text = FunctionText([tensor(33, 70), tensor(33, 70)])
    a = text.op("exp", ["%arg0"], tensor(33, 70))
    for _ in range(2):
        dead = text.op("multiply", [a, "%arg1"], tensor(33, 70))
        text.op("sum", [dead], tensor(33, 1), "dim_arg = [1 : i32], keep_dim = true")
    b = text.op("sqrt", [a], tensor(33, 70))
    x, y = normal(33, 70), normal(33, 70, seed=1)
    (generic,) = check(text.returning(b), [x, y], [np.sqrt(np.exp(x))], 1)
    assert (len(generic.inputs), len(generic.outputs), stages(generic)) == (1, 1, 1)


def test_a_computed_row_is_a_stage() -> None:
    """What is repeated comes from a local tensor."""
    text = FunctionText([tensor(65, 70), tensor(1, 70)])
    row = text.op("exp", ["%arg1"], tensor(1, 70))
    y = text.op("multiply", ["%arg0", row], tensor(65, 70))
    x, r = normal(65, 70), normal(1, 70, seed=1)
    (generic,) = check(text.returning(y), [x, r], [x * np.exp(r)], 1)
    assert stages(generic) == 2
    assert len(generic.iterator_types) == 2


def test_other_operations_keep_their_order() -> None:
    """A producer that is needed before its consumer's other operands stays in front of them."""
    text = FunctionText([tensor(40, 40), tensor(40, 40)])
    a = text.op("exp", ["%arg0"], tensor(40, 40))
    b = text.op("matmul", [a, "%arg1"], tensor(40, 40))
    c = text.op("add", [a, b], tensor(40, 40))
    x, y = normal(40, 40), normal(40, 40, seed=1)
    check(text.returning(c), [x, y], [np.exp(x) + np.exp(x) @ y], 2, 1e-4)


# --- Rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((65, 70), 1), ((65, 70), 0), ((3, 40, 33), 2), ((2, 3, 33, 5), 3), ((64, 96), 1)],
)
def test_softmax(shape: tuple[int, ...], axis: int) -> None:
    """One launch whose blocks have whole rows or columns."""
    text = FunctionText([tensor(*shape)])
    y = text.op("softmax", ["%arg0"], tensor(*shape), f"dimension = {axis} : si32")
    x = normal(*shape)
    (generic,) = check(text.returning(y), [x], [softmax(x, axis)], 1)
    assert len(generic.inputs) == 1
    assert not generic.reductions


def test_layer_norm() -> None:
    """Mean, variance, scale and offset of rows: one launch."""
    shape, row, kept = tensor(65, 70), tensor(1, 70), tensor(65, 1)
    text = FunctionText([shape, row, row])
    over = "dim_arg = [1 : i32], keep_dim = true"
    mean = text.op("mean", ["%arg0"], kept, over)
    centered = text.op("subtract", ["%arg0", mean], shape)
    square = text.op("multiply", [centered, centered], shape)
    variance = text.op("mean", [square], kept, over)
    epsilon = text.constant("1.0e-05", tensor(1, 1))
    shifted = text.op("add", [variance, epsilon], kept)
    factor = text.op("rsqrt", [shifted], kept)
    scaled = text.op("multiply", [centered, factor], shape)
    weighed = text.op("multiply", [scaled, "%arg1"], shape)
    result = text.op("add", [weighed, "%arg2"], shape)
    x, w, b = normal(65, 70), normal(1, 70, seed=1), normal(1, 70, seed=2)
    expected = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b
    (generic,) = check(text.returning(result), [x, w, b], [expected], 1)
    assert len(generic.inputs) == 3


def test_a_prologue_of_a_reduction_runs_in_its_steps() -> None:
    """The reduced dimension is divided into blocks."""
    text = FunctionText([tensor(65, 70), tensor(65, 70)])
    product = text.op("multiply", ["%arg0", "%arg1"], tensor(65, 70))
    total = text.op("sum", [product], tensor(65, 1), "dim_arg = [1 : i32], keep_dim = true")
    x, y = normal(65, 70), normal(65, 70, seed=1)
    expected = (x * y).sum(1, keepdims=True)
    (generic,) = check(text.returning(total), [x, y], [expected], 1)
    assert generic.reductions == (1,)


def test_rows_that_do_not_fit_stay_apart() -> None:
    """A row of 60,000 numbers in f32 takes more than the L1 of a core."""
    text = FunctionText([tensor(2, 60000)])
    y = text.op("softmax", ["%arg0"], tensor(2, 60000), "dimension = 1 : si32")
    module = lowered(text.returning(y), *TO_D2M, FUSION)
    assert len(generics(module)) > 1


# --- Products ------------------------------------------------------------------------------------


def test_an_epilogue_stands_behind_the_last_step() -> None:
    """Bias, activation and residual of a product."""
    shape = tensor(65, 40)
    text = FunctionText([tensor(65, 70), tensor(70, 40), tensor(40), shape])
    product = text.op("matmul", ["%arg0", "%arg1"], shape)
    biased = text.op("add", [product, "%arg2"], shape)
    active = text.op("sigmoid", [biased], shape)
    result = text.op("add", [active, "%arg3"], shape)
    x, w, b = normal(65, 70), normal(70, 40, seed=1), normal(40, seed=2)
    r = normal(65, 40, seed=3)
    expected = 1 / (1 + np.exp(-(x @ w + b))) + r
    (generic,) = check(text.returning(result), [x, w, b, r], [expected], 1, 1e-4)
    assert generic.reductions == (2,)
    assert stages(generic) == 2


def test_the_input_of_a_product_as_its_residual() -> None:
    """It is read in two ways: by terms and by columns."""
    shape = tensor(65, 70)
    text = FunctionText([shape, tensor(70, 70)])
    product = text.op("matmul", ["%arg0", "%arg1"], shape)
    result = text.op("add", [product, "%arg0"], shape)
    x, w = normal(65, 70), normal(70, 70, seed=1)
    (generic,) = check(text.returning(result), [x, w], [x @ w + x], 1, 1e-4)
    assert len(generic.inputs) == 3


def test_two_products_of_one_input_multiply() -> None:
    """The gate of a gated unit: both accumulate in the same steps."""
    shape = tensor(65, 40)
    text = FunctionText([tensor(65, 70), tensor(70, 40), tensor(70, 40)])
    first, second = (text.op("matmul", ["%arg0", name], shape) for name in ("%arg1", "%arg2"))
    result = text.op("multiply", [text.op("sigmoid", [first], shape), second], shape)
    x, v, w = normal(65, 70), normal(70, 40, seed=1), normal(70, 40, seed=2)
    expected = x @ w / (1 + np.exp(-(x @ v)))
    (generic,) = check(text.returning(result), [x, v, w], [expected], 1, 1e-4)
    assert len(generic.inputs) == 3


def test_rows_of_a_product_stay_apart() -> None:
    """Softmax behind a product would make its columns whole; they and its terms are many."""
    shape = tensor(65, 300)
    text = FunctionText([tensor(65, 150), tensor(150, 300)])
    product = text.op("matmul", ["%arg0", "%arg1"], shape)
    result = text.op("softmax", [product], shape, "dimension = 1 : si32")
    x, w = normal(65, 150) / 4, normal(150, 300, seed=1) / 4
    check(text.returning(result), [x, w], [softmax(x @ w, 1)], 2, 1e-4)


def test_a_chain_of_products_stays_apart() -> None:
    """A product is not computed again for each block of another."""
    text = FunctionText([tensor(65, 70), tensor(70, 140), tensor(140, 133)])
    first = text.op("matmul", ["%arg0", "%arg1"], tensor(65, 140))
    result = text.op("matmul", [first, "%arg2"], tensor(65, 133))
    x, v, w = normal(65, 70) / 4, normal(70, 140, seed=1) / 4, normal(140, 133, seed=2) / 4
    check(text.returning(result), [x, v, w], [x @ v @ w], 2, 1e-4)


def siblings(columns: Sequence[int], bias: str = "") -> tuple[str, list[Array], list[Array]]:
    """Products of 65x160 with matrices of so many columns; what they read, and the results."""
    text = FunctionText([tensor(65, 160), *(tensor(160, each) for each in columns)])
    arrays = [normal(65, 160) / 4, *(normal(160, n, seed=n) / 4 for n in columns)]
    results: list[str] = []
    for number, each in enumerate(columns, 1):
        value = text.op("matmul", ["%arg0", f"%arg{number}"], tensor(65, each))
        results.append(text.op(bias, [value], tensor(65, each)) if bias else value)
    expected = [np.asarray(arrays[0] @ each) for each in arrays[1:]]
    return text.returning(*results), arrays, [-each for each in expected] if bias else expected


@pytest.mark.parametrize("after", ["", "neg"])
def test_products_that_share_their_left_factor(after: str) -> None:
    """It is read once for as many columns; results go to outputs, or on in the same launch."""
    text, arrays, expected = siblings((160, 130, 150), after)
    (generic,) = check(text, arrays, expected, 1, 1e-4)
    assert (len(generic.inputs), len(generic.outputs)) == (4, 3)


def test_products_of_other_columns_stay_apart() -> None:
    """Of two that go over as many tiles as each other, and one that does not."""
    text, arrays, expected = siblings((160, 70, 150))
    check(text, arrays, expected, 2, 1e-4)


def test_large_products_stay_apart() -> None:
    """Each keeps all cores busy alone."""
    text = FunctionText([tensor(2048, 160), tensor(160, 1024), tensor(160, 1024)])
    wide = tensor(2048, 1024)
    results = [text.op("matmul", ["%arg0", each], wide) for each in ("%arg1", "%arg2")]
    assert len(generics(lowered(text.returning(*results), *TO_D2M, FUSION))) == 2


@pytest.mark.parametrize(
    ("heads", "tokens", "keys", "count"), [(3, 70, 170, 1), (11, 70, 610, 1), (1, 150, 810, 3)]
)
def test_attention(heads: int, tokens: int, keys: int, count: int) -> None:
    """Scores, softmax and values are one, unless that leaves cores without rows of tiles."""
    queries, others = tensor(heads, tokens, 40), tensor(heads, keys, 40)
    scores = tensor(heads, tokens, keys)
    text = FunctionText([queries, others, others])
    order = "permutation = array<i64: 0, 2, 1>"
    turned = text.op("permute", ["%arg1"], tensor(heads, 40, keys), order)
    shares = text.op("matmul", ["%arg0", turned], scores)
    shares = text.op("softmax", [shares], scores, "dimension = 2 : si32")
    result = text.op("matmul", [shares, "%arg2"], queries)
    q, k, v = (
        normal(heads, tokens, 40) / 4,
        normal(heads, keys, 40),
        normal(heads, keys, 40, seed=1),
    )
    expected = softmax(q @ k.transpose(0, 2, 1), 2) @ v
    check(text.returning(result), [q, k, v], [expected], count, 1e-4)


# --- Views ---------------------------------------------------------------------------------------


def test_a_view_that_reorders_dimensions_is_followed() -> None:
    """The reader goes over the dimensions in its own order."""
    text = FunctionText([tensor(2, 3, 40, 33)])
    a = text.op("exp", ["%arg0"], tensor(2, 3, 40, 33))
    order = "permutation = array<i64: 1, 0, 2, 3>"
    b = text.op("permute", [a], tensor(3, 2, 40, 33), order)
    c = text.op("neg", [b], tensor(3, 2, 40, 33))
    x = normal(2, 3, 40, 33)
    check(text.returning(c), [x], [-np.exp(x).transpose(1, 0, 2, 3)], 1)


def test_a_view_of_a_part_is_not_followed() -> None:
    """The producer has more blocks than its reader."""
    text = FunctionText([tensor(65, 70)])
    a = text.op("exp", ["%arg0"], tensor(65, 70))
    cut = "begins = [32 : i32, 0 : i32], ends = [65 : i32, 70 : i32], step = [1 : i32, 1 : i32]"
    b = text.op("slice", [a], tensor(33, 70), cut)
    c = text.op("neg", [b], tensor(33, 70))
    x = normal(65, 70)
    check(text.returning(c), [x], [-np.exp(x)[32:]], 2)


# --- The pass ------------------------------------------------------------------------------------


def test_the_pass_can_be_switched_off() -> None:
    """To compare fused with unfused programs."""
    text = FunctionText([tensor(5, 7)])
    a = text.op("exp", ["%arg0"], tensor(5, 7))
    source = text.returning(text.op("neg", [a], tensor(5, 7)))
    module = lowered(source, *TO_D2M, f"{FUSION}=enable-fusion=false")
    assert len(generics(module)) == 2


def test_long_chains_take_time_in_proportion() -> None:
    """Groups are bounded, so a chain of 400 operations becomes a few of them."""
    text = FunctionText([tensor(33, 70)])
    value = "%arg0"
    for number in range(400):
        value = text.op(("neg", "abs")[number % 2], [value], tensor(33, 70))
    x = normal(33, 70)
    module = lowered(text.returning(value), *TO_D2M, FUSION)
    assert 400 / 32 <= len(generics(module)) <= 20
    np.testing.assert_array_equal(execute(module, [x])[0], np.abs(x))


# --- Random graphs -------------------------------------------------------------------------------


class _Graph:
    """Operations on matrices, in ttir and in NumPy at once."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        extents = draw(st.lists(st.sampled_from((1, 5, 32, 33, 70)), min_size=2, max_size=2))
        self.shape = tuple(extents)
        self.text = FunctionText([tensor(*self.shape)] * 2)
        self.inputs = [normal(*self.shape, seed=number) for number in range(2)]
        self.values: list[tuple[str, Array]] = [
            (f"%arg{number}", value) for number, value in enumerate(self.inputs)
        ]

    def add(
        self, mnemonic: str, operands: Sequence[str], value: Array, attributes: str = ""
    ) -> None:
        name = self.text.op(mnemonic, operands, tensor(*value.shape), attributes)
        self.values.append((name, np.asarray(value, np.float32)))

    def pick(self, *shapes: tuple[int, ...]) -> tuple[str, Array]:
        fitting = [each for each in self.values if not shapes or each[1].shape in shapes]
        return self.draw(st.sampled_from(fitting))

    def grow(self) -> None:
        kind = self.draw(
            st.sampled_from(("unary", "binary", "reduce", "product", "softmax", "move"))
        )
        getattr(self, f"_{kind}")()

    def _unary(self) -> None:
        name, x = self.pick()
        functions: dict[str, Any] = {"tanh": np.tanh, "neg": np.negative, "abs": np.abs}
        mnemonic = self.draw(st.sampled_from(sorted(functions)))
        self.add(mnemonic, [name], functions[mnemonic](x))

    def _binary(self) -> None:
        name, x = self.pick()
        rows, columns = x.shape
        shapes = {(rows, columns), (1, columns), (rows, 1), (1, 1)}
        other, y = self.pick(*sorted(shapes))
        functions: dict[str, Any] = {"add": np.add, "subtract": np.subtract, "maximum": np.maximum}
        mnemonic = self.draw(st.sampled_from(sorted(functions)))
        self.add(mnemonic, [name, other], functions[mnemonic](x, y))

    def _reduce(self) -> None:
        name, x = self.pick()
        axis = self.draw(st.integers(0, 1))
        functions: dict[str, Any] = {"mean": np.mean, "max": np.max}
        mnemonic = self.draw(st.sampled_from(sorted(functions)))
        value = functions[mnemonic](x, axis=axis, keepdims=True)
        self.add(mnemonic, [name], value, f"dim_arg = [{axis} : i32], keep_dim = true")

    def _product(self) -> None:
        name, x = self.pick()
        fitting = [each for each in self.values if each[1].shape[0] == x.shape[1]]
        if not fitting:
            return
        other, y = self.draw(st.sampled_from(fitting))
        product = x.astype(np.float64) @ y / x.shape[1]
        part = self.text.constant(str(1 / x.shape[1]), tensor(1, 1))
        scaled = self.text.op("multiply", [name, part], tensor(*x.shape))
        self.add("matmul", [scaled, other], product)

    def _softmax(self) -> None:
        name, x = self.pick()
        axis = self.draw(st.integers(0, 1))
        self.add("softmax", [name], softmax(x, axis), f"dimension = {axis} : si32")

    def _move(self) -> None:
        name, x = self.pick()
        order = "permutation = array<i64: 1, 0>"
        self.add("permute", [name], x.T, order)


@st.composite
def _graphs(draw: Any) -> tuple[str, list[Array], list[Array]]:
    graph = _Graph(draw)
    for _ in range(draw(st.integers(2, 30))):
        graph.grow()
    count = draw(st.integers(1, 3))
    returned = [graph.values[-1], *(graph.pick() for _ in range(count - 1))]
    text = graph.text.returning(*(name for name, _ in returned))
    return text, graph.inputs, [value for _, value in returned]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(_graphs())
def test_random_graphs(graph: tuple[str, list[Array], list[Array]]) -> None:
    """Fused and unfused compute the same, and what NumPy computes."""
    text, inputs, expected = graph
    plain = lowered(text, *TO_D2M)
    fused = lowered(text, *TO_D2M, MASKS, FUSION)
    assert len(generics(fused)) <= len(generics(plain))
    unfused = execute(plain, inputs)
    for results in (execute(fused, inputs), golden_results(fused, inputs)):
        for result, same, each in zip(results, unfused, expected, strict=True):
            np.testing.assert_allclose(result, same, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(result, each, rtol=1e-3, atol=1e-4)
