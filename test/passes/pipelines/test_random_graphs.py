"""Random graphs compute what NumPy computes, with any constraints and options of the pipeline."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from running.pass_runner import TTNN_PIPELINE, body, executed
from samples.ttir_text import FunctionText, tensor

_OPTIONS = ("", "=enable-grid-set=false", "=sharding-pass-enabled", "=mesh-shape=1,1,1")
_CONSTRAINTS = ("#device", "#tile", "#l1", "#sharded")
_ALIASES = """
#l1 = #tt.operand_constraint<l1|scalar|interleaved|none>
#sharded = #tt.operand_constraint<l1_block_sharded>
"""
_EXTENTS = (1, 2, 3, 5, 33)


class _Graph:
    """A function that grows by random operations, beside the values that NumPy computes."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        numbers = np.random.default_rng(seed)
        shapes = [self._shape() for _ in range(self.rng.randrange(1, 4))]
        self.inputs: list[Any] = [numbers.uniform(0.5, 1.5, s).astype(np.float32) for s in shapes]
        self.text = FunctionText([tensor(*shape) for shape in shapes])
        self.values: dict[str, Any] = {
            f"%arg{i}": array.astype(np.float64) for i, array in enumerate(self.inputs)
        }

    def _shape(self) -> tuple[int, ...]:
        return tuple(self.rng.choice(_EXTENTS) for _ in range(self.rng.randrange(1, 5)))

    def _pick(self) -> tuple[str, Any]:
        name = self.rng.choice(list(self.values))
        return name, self.values[name]

    def _add(
        self, mnemonic: str, inputs: list[str], value: Any, attributes: str = "", out: str = ""
    ) -> None:
        type_ = tensor(*np.shape(value))
        constraint = self.rng.choice(_CONSTRAINTS)
        name = self.text.op(mnemonic, inputs, type_, attributes, out=out, constraint=constraint)
        self.values[name] = value

    def grow(self) -> None:
        """Add one operation on values that are there."""
        self.rng.choice(
            [
                self._unary,
                self._binary,
                self._constant,
                self._broadcast,
                self._transpose,
                self._permute,
                self._multiply_by_one,
                self._concat,
                self._reduce,
                self._flatten,
                self._matmul,
                self._shared_destination,
            ]
        )()

    def _unary(self) -> None:
        name, value = self._pick()
        functions = {"neg": np.negative, "abs": np.abs, "sigmoid": lambda x: 1 / (1 + np.exp(-x))}
        mnemonic = self.rng.choice(list(functions))
        self._add(mnemonic, [name], functions[mnemonic](value))

    def _binary(self) -> None:
        (a, x), (b, y) = self._pick(), self._pick()
        functions = {"add": np.add, "subtract": np.subtract, "maximum": np.maximum}
        mnemonic = self.rng.choice(list(functions))
        try:
            value = functions[mnemonic](x, y)
        except ValueError:
            return
        self._add(mnemonic, [a, b], value)

    def _constant(self) -> None:
        shape, number = self._shape(), self.rng.choice([0.0, 1.5, -2.0])
        name = self.text.constant(str(number), tensor(*shape))
        self.values[name] = np.full(shape, number)

    def _broadcast(self) -> None:
        name, value = self._pick()
        shape = tuple(self.rng.choice((1, 2, 5)) if e == 1 else e for e in value.shape)
        if len(shape) < 4 and self.rng.random() < 0.5:
            shape = (self.rng.choice((1, 3)), *shape)
        first = len(shape) - value.ndim
        dimension = f"dimension = [{', '.join(map(str, range(first, len(shape))))}]"
        self._add("broadcast", [name], np.broadcast_to(value, shape), dimension)

    def _transpose(self) -> None:
        name, value = self._pick()
        if value.ndim < 2:
            return
        one, other = (self.rng.randrange(-value.ndim, value.ndim) for _ in range(2))
        attributes = f"dim0 = {one} : si32, dim1 = {other} : si32"
        self._add("transpose", [name], np.swapaxes(value, one, other), attributes)

    def _permute(self) -> None:
        name, value = self._pick()
        order = self.rng.sample(range(value.ndim), value.ndim)
        attributes = f"permutation = array<i64: {', '.join(map(str, order))}>"
        self._add("permute", [name], value.transpose(order), attributes)

    def _multiply_by_one(self) -> None:
        name, value = self._pick()
        one = self.text.constant("1.0", tensor(1))
        self._add("multiply", [one, name], value)

    def _concat(self) -> None:
        name, value = self._pick()
        if value.size > 5000:
            return
        dim = self.rng.randrange(-value.ndim, value.ndim)
        joined = np.concatenate([value, value], dim)
        self._add("concat", [name, name], joined, f"dim = {dim} : si32")

    def _reduce(self) -> None:
        name, value = self._pick()
        if value.ndim < 2:
            return
        dim = self.rng.randrange(-value.ndim, value.ndim)
        keep = self.rng.random() < 0.5
        attributes = f"keep_dim = {str(keep).lower()}, dim_arg = [{dim} : i32]"
        self._add("mean", [name], value.mean(dim, keepdims=keep), attributes)

    def _flatten(self) -> None:
        name, value = self._pick()
        shape = (value.shape[0], value.size // value.shape[0])
        attributes = f"shape = [{shape[0]} : i32, {shape[1]} : i32]"
        self._add("reshape", [name], value.reshape(shape), attributes)

    def _matmul(self) -> None:
        (a, x), (b, y) = self._pick(), self._pick()
        if x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0]:
            self._add("matmul", [a, b], x @ y)

    def _shared_destination(self) -> None:
        name, value = self._pick()
        out = self.text.empty(tensor(*value.shape))
        self._add("neg", [name], -value, out=out)
        self._add("abs", [name], np.abs(value), out=out)


@pytest.mark.parametrize("seed", range(100, 130))
def test_canonical_form_computes_the_same(seed: int) -> None:
    """Neither the numbers nor the shapes change, and no operation is added."""
    graph = _Graph(seed)
    for _ in range(16):
        graph.grow()
    returned = graph.rng.choices(list(graph.values), k=4)
    text = _ALIASES + graph.text.returning(*returned)
    results = executed(text, graph.inputs, "canonicalize", TTNN_PIPELINE)
    for name, result in zip(returned, results, strict=True):
        right = graph.values[name]
        assert result.shape == right.shape
        np.testing.assert_allclose(result, right, rtol=1e-4, atol=1e-4)
    assert len(body(text, "canonicalize")) <= len(body(text))


@pytest.mark.parametrize("seed", range(60))
def test_graph_computes_what_numpy_computes(seed: int) -> None:
    """Values may be unused, used often, returned, or both."""
    graph = _Graph(seed)
    for _ in range(12):
        graph.grow()
    returned = graph.rng.choices(list(graph.values), k=3)
    text = _ALIASES + graph.text.returning(*returned)
    results = executed(text, graph.inputs, TTNN_PIPELINE + _OPTIONS[seed % len(_OPTIONS)])
    for name, result in zip(returned, results, strict=True):
        right = graph.values[name]
        assert result.shape == right.shape
        np.testing.assert_allclose(result, right, rtol=1e-4, atol=1e-4)
