"""Tensors without elements, of no dimensions and of five: NumPy and torch say what is right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from running.pass_runner import executed
from samples.ttir_text import FunctionText, tensor

from ttmlir.dialects import DIALECTS
from ttmlir.interpreter import execute
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Use:
    """One operation on tensors of small integers, as floats."""

    op: str
    oracle: Callable[..., Any]
    shapes: tuple[Shape, ...]
    attributes: str = ""
    element: str = "f32"


def softmax(dimension: int) -> Callable[..., Any]:
    """Torch's."""
    return lambda x: torch.softmax(torch.from_numpy(x), dimension).numpy()


def by_torch(name: str, *dims: int, keepdim: bool = False) -> Callable[..., Any]:
    """A reduction of torch."""
    return lambda x: getattr(torch, name)(torch.from_numpy(x), *dims, keepdim=keepdim).numpy()


def reduced(*dims: int, keep: bool = False) -> str:
    """Attributes of a reduction."""
    listed = ", ".join(f"{dim} : i32" for dim in dims)
    return f"keep_dim = {str(keep).lower()}, dim_arg = [{listed}]"


_SLICE = "begins = [1 : i32, 1 : i32], ends = [1 : i32, 3 : i32], step = [3 : i32, 1 : i32]"
USES = [
    Use("softmax", softmax(1), ((1, 0, 3, 0),), "dimension = 1 : si32"),
    Use("softmax", softmax(0), ((0, 33),), "dimension = 0 : si32"),
    Use("softmax", softmax(1), ((0, 33),), "dimension = -1 : si32"),
    Use("argmax", by_torch("argmax", 1, keepdim=True), ((0, 1),), reduced(1, keep=True), "i32"),
    Use("argmax", by_torch("argmax", -1), ((5, 0, 3),), reduced(-1), "i32"),
    Use("argmax", by_torch("argmax", 4), ((2, 1, 3, 1, 5),), reduced(4), "i32"),
    Use("sum", by_torch("sum", 0), ((0, 3),), reduced(0)),
    Use("prod", by_torch("prod", 1), ((3, 0),), reduced(1)),
    Use("sum", lambda x: x.sum(keepdims=True), ((2, 0, 1, 3, 1),), "keep_dim = true"),
    Use("mean", lambda x: x.mean((1, 3)), ((2, 3, 1, 2, 5),), reduced(1, -2)),
    Use("cumsum", lambda x: x.cumsum(1), ((3, 0),), "dim = 1 : si32"),
    Use("pad", lambda x: x, ((),), "padding = array<i32>, value = 1.0 : f32"),
    Use(
        "pad",
        lambda x: np.pad(x, ((1, 2),), constant_values=1),
        ((0,),),
        "padding = array<i32: 1, 2>, value = 1.0 : f32",
    ),
    Use("repeat", lambda x: np.tile(x, (2, 3)), ((0, 3),), "repeat_dimensions = array<i64: 2, 3>"),
    Use("repeat", lambda x: x, ((),), "repeat_dimensions = array<i64>"),
    Use("permute", lambda x: x, ((),), "permutation = array<i64>"),
    Use(
        "permute",
        lambda x: x.transpose(4, 1, 0, 3, 2),
        ((2, 1, 3, 5, 7),),
        "permutation = array<i64: 4, 1, 0, 3, 2>",
    ),
    Use("reverse", lambda x: x, ((),), "dimensions = array<i64>"),
    Use("slice", lambda x: x[1:1:3, 1:3], ((1, 3),), _SLICE),
    Use("concat", lambda *x: np.concatenate(x), ((0, 3), (2, 3), (0, 3)), "dim = 0 : si32"),
    Use("concat", lambda *x: np.concatenate(x), ((0,), (0,)), "dim = -1 : si32"),
    Use("matmul", np.matmul, ((3, 0), (0, 5))),
    Use("matmul", np.matmul, ((0, 2, 1, 3), (0, 2, 3, 5))),
    Use("add", np.add, ((), ())),
    Use("add", np.add, ((0, 3), (1, 3))),
    Use("multiply", np.multiply, ((2, 1, 3, 1, 5), (4, 1, 2, 1))),
    Use("exp", np.exp, ((0,),)),
    Use("reshape", lambda x: x.reshape(0, 5), ((3, 0),), "shape = [0 : i32, 5 : i32]"),
    Use("reshape", lambda x: x.reshape(()), ((1, 1),), "shape = []"),
]


@pytest.mark.parametrize("use", USES, ids=lambda use: f"{use.op}_{use.shapes}")
def test_use(use: Use) -> None:
    """The compiled operation, and the interpreted one."""
    inputs = [
        (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 5 - 1).astype(np.float32)
        for shape in use.shapes
    ]
    right = np.asarray(use.oracle(*inputs))
    f = FunctionText([tensor(*shape) for shape in use.shapes])
    result = tensor(*right.shape, element=use.element)
    text = f.returning(f.op(use.op, list(f.types), result, use.attributes))
    module = parse_module(text, "test.mlir", make_context(DIALECTS))
    for (got,) in (executed(text, inputs), execute(module, inputs)):
        assert got.shape == right.shape
        np.testing.assert_allclose(got, right, rtol=1e-5)
