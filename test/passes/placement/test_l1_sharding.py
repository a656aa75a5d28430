"""Runs of operations in L1: where results are kept, and that the programs compute the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from running.pass_runner import TTNN_PIPELINE, executed, printed
from running.randomness import TestGenerator
from samples.ttir_text import FunctionText, tensor

SHARDED = f"{TTNN_PIPELINE}=sharding-pass-enabled=true"
_RNG = TestGenerator(__name__)
_LAYOUT = re.compile(r"^(#layout\d*) = #tt\.layout<.*?, undef, <([\dx]+)>, .*?(?:, (\w+))?>$", re.M)
_OPERATION = re.compile(r'"ttnn\.(\w+)"\(.*-> tensor<[^#]*(#layout\d*)>$', re.M)
_MOVES = {"to_layout", "to_device", "to_memory_config", "empty", "full", "constant"}

Array = Any


def _places(text: str) -> list[tuple[str, str]]:
    """Each computing operation of a compiled program with grid and memory layout of its result."""
    compiled = printed(text, SHARDED)
    layouts = {name: f"{grid} {kept or 'none'}" for name, grid, kept in _LAYOUT.findall(compiled)}
    operations = _OPERATION.findall(compiled)
    return [(name, layouts[layout]) for name, layout in operations if name not in _MOVES]


DRAM = "8x8 interleaved"


@pytest.mark.parametrize(
    ("shape", "kept"),
    [
        ((64, 128), "2x4 block_sharded"),
        ((1, 256), "1x8 block_sharded"),
        ((1, 10), "1x1 block_sharded"),
        ((256,), "1x8 block_sharded"),
        ((33, 70), "2x3 block_sharded"),
        ((300, 7), "10x1 height_sharded"),
        ((5, 1088), "1x34 width_sharded"),
        ((3, 64, 96), "2x3 block_sharded"),
        ((256, 256), "8x8 block_sharded"),
        ((352, 64), "11x1 height_sharded"),
    ],
)
def test_first_of_two_is_kept_in_l1(shape: tuple[int, ...], kept: str) -> None:
    """The division uses most cores; of several, blocks come before rows before columns."""
    f = FunctionText([tensor(*shape)])
    hidden = f.op("relu", ["%arg0"], tensor(*shape))
    text = f.returning(f.op("exp", [hidden], tensor(*shape)))
    assert _places(text) == [("relu", kept), ("exp", DRAM)]


def _chain(shape: tuple[int, ...], *mnemonics: str) -> str:
    type_ = tensor(*shape)
    f = FunctionText([type_])
    value = "%arg0"
    for mnemonic in mnemonics:
        value = f.op(mnemonic, [value], type_)
    return f.returning(value)


def test_all_but_the_last_are_kept_in_l1() -> None:
    """The result of a run leaves L1."""
    places = _places(_chain((33, 70), "relu", "exp", "neg", "abs"))
    block = "2x3 block_sharded"
    assert places == [("relu", block), ("exp", block), ("neg", block), ("abs", DRAM)]


def test_neighbours_fit_into_l1_together() -> None:
    """A core may hold two shards of half a MiB, but not two of 1 MiB."""
    assert _places(_chain((8192, 2048), "relu", "exp")) == [("relu", DRAM), ("exp", DRAM)]
    places = _places(_chain((8192, 1024), "relu", "exp"))
    assert places == [("relu", "8x8 block_sharded"), ("exp", DRAM)]


def test_result_with_two_uses_leaves_l1() -> None:
    """Only a result that one operation uses, once, stays in L1."""
    wide = tensor(33, 70)
    f = FunctionText([wide])
    shared = f.op("relu", [f.op("neg", ["%arg0"], wide)], wide)
    one = f.op("exp", [shared], wide)
    text = f.returning(f.op("add", [one, shared], wide))
    block = "2x3 block_sharded"
    right = [("neg", block), ("relu", DRAM), ("exp", block), ("add", DRAM)]
    assert _places(text) == right


def test_runs_are_contiguous() -> None:
    """Of two interleaved chains one is finished before the other begins."""
    wide, other = tensor(33, 70), tensor(5, 7)
    f = FunctionText([wide, other])
    first, second = f.op("neg", ["%arg0"], wide), f.op("sigmoid", ["%arg1"], other)
    first, second = f.op("abs", [first], wide), f.op("tanh", [second], other)
    names = [name for name, _ in _places(f.returning(first, second))]
    assert names == ["neg", "abs", "sigmoid", "tanh"]


def _mlp(f: FunctionText) -> str:
    hidden = f.op("matmul", ["%arg0", "%arg1"], tensor(33, 130))
    hidden = f.op("add", [hidden, "%arg2"], tensor(33, 130))
    hidden = f.op("relu", [hidden], tensor(33, 130))
    hidden = f.op("matmul", [hidden, "%arg3"], tensor(33, 10))
    return f.op("softmax", [hidden], tensor(33, 10), "dimension = -1 : si32")


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _reductions(f: FunctionText) -> str:
    total = f.op("sum", ["%arg0"], tensor(3, 33, 1), "keep_dim = true, dim_arg = [-1 : i32]")
    scaled = f.op("multiply", ["%arg0", total], tensor(3, 33, 70))
    top = f.op("max", [scaled], tensor(3, 70), "keep_dim = false, dim_arg = [1 : i32]")
    top = f.op("neg", [top], tensor(3, 70))
    return f.op("mean", [top], tensor(3), "keep_dim = false, dim_arg = [1 : i32]")


def _movement(f: FunctionText) -> str:
    turned = f.op("transpose", ["%arg0"], tensor(70, 33), "dim0 = 0 : si32, dim1 = 1 : si32")
    doubled = f.op("concat", [turned, turned], tensor(70, 66), "dim = 1 : si32")
    flat = f.op("reshape", [doubled], tensor(2310, 2), "shape = [2310 : i32, 2 : i32]")
    flat = f.op("exp", [flat], tensor(2310, 2))
    return f.op("slice", [flat], tensor(770, 1), _SLICE)


_SLICE = "begins = [0 : i32, 1 : i32], ends = [2310 : i32, 2 : i32], step = [3 : i32, 1 : i32]"


def _comparisons(f: FunctionText) -> str:
    bits = f.op("gt", ["%arg0", "%arg1"], tensor(33, 70, element="i1"))
    bits = f.op("logical_not", [bits], tensor(33, 70, element="i1"))
    chosen = f.op("where", [bits, "%arg0", "%arg1"], tensor(33, 70))
    narrow = f.op("typecast", [chosen], tensor(33, 70, element="bf16"))
    return f.op("typecast", [narrow], tensor(33, 70))


def _to_bf16(x: Array) -> Array:
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


_PROGRAMS: dict[str, tuple[Callable[[FunctionText], str], list[Any], Callable[..., Any]]] = {
    "mlp": (
        _mlp,
        [(33, 70), (70, 130), (1, 130), (130, 10)],
        lambda x, v, b, w: _softmax(np.maximum(x @ v + b, 0) @ w),
    ),
    "reductions": (
        _reductions,
        [(3, 33, 70)],
        lambda x: -(x * x.sum(-1, keepdims=True)).max(1).mean(-1),
    ),
    "movement": (
        _movement,
        [(33, 70)],
        lambda x: np.exp(np.concatenate([x.T, x.T], 1).reshape(2310, 2))[::3, 1:],
    ),
    "comparisons": (
        _comparisons,
        [(33, 70), (33, 70)],
        lambda x, y: _to_bf16(np.where(x > y, y, x)),
    ),
}


@pytest.mark.parametrize("name", _PROGRAMS)
def test_programs_compute_the_same(name: str) -> None:
    """Runs with matrix products, reductions and changes of shape and type are kept in L1."""
    build, shapes, oracle = _PROGRAMS[name]
    f = FunctionText([tensor(*shape) for shape in shapes])
    text = f.returning(build(f))
    kept = [place for _, place in _places(text)]
    assert any("sharded" in place for place in kept)
    assert kept[-1] == DRAM
    arrays = [_RNG.standard_normal(shape).astype(np.float32) for shape in shapes]
    [result] = executed(text, arrays, SHARDED)
    right = oracle(*(array.astype(np.float64) for array in arrays))
    np.testing.assert_allclose(result, right, rtol=1e-4, atol=1e-5)
