"""Kernels of Python for NumPy: configurations, the cache, results, messages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.randomness import TestGenerator
from samples.framework_functions import build_add, build_exp

from ttmlir.bridge import (
    FrameworkKernel,
    NumPyKernel,
    Shards,
    TensorArgument,
    assign_programs,
)
from ttmlir.program import KernelTensor, ProgramDescription, read_custom_kernel
from ttmlir.runtime.errors import ExecutionError

RANDOM = TestGenerator(__name__)


def example_kernel(
    in1: TensorArgument, in2: TensorArgument, out: TensorArgument, grid: tuple[int, ...]
) -> ProgramDescription:
    """Reads its first two tensors and writes its last."""
    return build_add(in1, in2, out, grid)


class FourWords(FrameworkKernel):
    """A framework whose tensors are pairs of a shape and a word."""

    def translate_to_neuron_dtype(self, _dtype: Any) -> str:
        """The keyword of a word."""
        return {"float": "f32", "half": "bf16"}[_dtype]

    def is_framework_tensor(self, t: Any) -> bool:
        """True for pairs."""
        return isinstance(t, tuple)

    def map_framework_tensor(self, t: Any) -> tuple[Sequence[int], Any]:
        """The pair itself."""
        return t


def test_the_documented_example_has_two_inputs_and_one_output() -> None:
    """An output that is passed by reference is a result; another shape gives another text."""
    shape = (16, 8, 128, 512)
    in1, in2, out = (np.zeros(shape, np.float32) for _ in range(3))
    kernel = NumPyKernel(func_name=example_kernel.__name__, func=example_kernel, grid=(16, 8))
    config, inputs, outputs = kernel.dump_config(in1, in2, out)
    assert (inputs, outputs) == (["in1", "in2"], ["out"])
    content = json.loads(config)
    assert content["name"] == "example_kernel"
    assert [each["shape"] for each in content["tensors"]] == [[*shape]] * 3
    assert [each["role"] for each in content["tensors"]] == ["in", "in", "out"]
    # 128 programs on the 64 cores of a chip: two on each, of 64 tiles each.
    assert content["kernels"][0]["cores"] == [[0, 0, 7, 7]]
    assert content["kernels"][0]["runtime_args"][9] == [[1, 1], [9 * 128, 128]]
    in3, in4, out = (np.zeros((16, 8, 64, 1024), np.float32) for _ in range(3))
    other = kernel.dump_config(in3, in4, out=out)
    assert json.loads(other.backend_config)["tensors"][2]["shape"] == [16, 8, 64, 1024]
    assert other.backend_config != config


def test_a_framework_says_what_its_tensors_are() -> None:
    """The three methods."""
    kernel = FourWords("exp", build_exp, grid=(2,))
    config, inputs, outputs = kernel.dump_config(((3, 5), "half"), ((3, 5), "half"))
    assert (inputs, outputs) == (["x"], ["y"])
    assert [each.element for each in read_custom_kernel(config).tensors] == ["bf16", "bf16"]


@pytest.mark.parametrize("dtype", [np.dtype(np.float16), np.float16])
def test_dtypes_are_those_of_numpy_or_keywords(dtype: Any) -> None:
    """As in Neuron's class, which knows dtypes of NumPy and its own."""

    class Halves(FourWords):
        def translate_to_neuron_dtype(self, _dtype: Any) -> Any:
            return dtype

    config, _, _ = Halves("exp", build_exp).dump_config(((3, 5), "half"), ((3, 5), "half"))
    assert [each.element for each in read_custom_kernel(config).tensors] == ["f16", "f16"]


def test_the_base_class_leaves_frameworks_to_subclasses() -> None:
    """None of the three has a meaning without a framework; the message names the method."""

    class Mine(FrameworkKernel):
        pass

    kernel = Mine("exp", build_exp)
    for method in ("translate_to_neuron_dtype", "is_framework_tensor", "map_framework_tensor"):
        with pytest.raises(NotImplementedError, match=rf"^Mine\.{method} is not implemented; .*"):
            getattr(kernel, method)(1)
    with pytest.raises(NotImplementedError, match=r"Mine\.is_framework_tensor is not implemented"):
        kernel.dump_config(np.zeros(3), np.zeros(3))


def test_a_grid_is_a_number_or_extents() -> None:
    """A number of programs is a grid of one dimension."""
    x = RANDOM.uniform(-1, 1, (2, 3, 40, 70)).astype(np.float32)
    kernels = [NumPyKernel("add", build_add, grid=grid) for grid in (3, np.int64(3), (3,))]
    assert {each.grid for each in kernels} == {(3,)}
    texts = {each.dump_config(x, x, x).backend_config for each in kernels}
    assert len(texts) == 1
    np.testing.assert_allclose(kernels[0](x, x, out_shape=x), x + x, rtol=0.01)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(5, 70), (2, 3, 33, 40), (1, 32, 64)])
@pytest.mark.parametrize("grid", [(1,), (2, 2), (16, 8)])
def test_results_are_those_of_numpy(
    dtype: Any, shape: tuple[int, ...], grid: tuple[int, ...]
) -> None:
    """Sums of tensors of any shape, on few cores or many."""
    a, b = (RANDOM.uniform(-1, 1, shape).astype(dtype) for _ in range(2))
    kernel = NumPyKernel("add", build_add, grid=grid)
    result = kernel(a, b, out_shape=a)
    assert (result.shape, result.dtype) == (shape, np.dtype(dtype))
    wide = a.astype(np.float64) + b.astype(np.float64)
    tolerance = 2**-9 if dtype == np.float32 else 2**-7
    np.testing.assert_allclose(result.astype(np.float64), wide, atol=tolerance)
    assert kernel.last_run is not None
    assert kernel.last_run.cycles > 0


def test_outputs_that_are_given_are_not_changed() -> None:
    """By reference in the kernel, a result of the call."""
    a = RANDOM.uniform(-1, 1, (3, 5)).astype(np.float32)
    out = np.full((3, 5), 7, np.float32)
    result = NumPyKernel("add", build_add)(a, a, out)
    assert np.all(out == 7)
    np.testing.assert_allclose(result, 2 * a, atol=2**-9)


def two_sums(
    first: TensorArgument, a: TensorArgument, second: TensorArgument, times: int
) -> ProgramDescription:
    """Copies of nothing: only the order of its tensors matters."""
    assert (a.number, first.number, second.number) == (0, 1, 2)
    assert first.is_output
    assert times == 3
    return build_exp(a, first, (1,))


def test_outputs_may_stand_anywhere() -> None:
    """Operands come first, in the order of the parameters; constants are no tensors."""
    kernel = NumPyKernel("sums", two_sums, outputs=("first", "second"))
    x = np.zeros((4, 4), np.float32)
    found = kernel.dump_config(x, x, x, times=3)
    assert found[1:] == (["a"], ["first", "second"])


def test_equal_calls_are_built_once() -> None:
    """Unless the cache is off; shapes, dtypes, constants and the grid tell calls apart."""
    calls: list[tuple[Any, ...]] = []

    def build(x: TensorArgument, y: TensorArgument, times: int = 1, grid: Any = ()) -> Any:
        calls.append((x.shape, x.dtype, times, grid))
        return build_exp(x, y, grid)

    x, half = np.zeros((4, 4), np.float32), np.zeros((4, 4), ml_dtypes.bfloat16)
    kernel = NumPyKernel("exp", build, grid=(2,))
    for _ in range(2):
        kernel.dump_config(x, x)
        kernel.dump_config(half, half)
        kernel.dump_config(x, x, times=2)
    assert len(calls) == 3
    kernel.grid = (1,)
    kernel.dump_config(x, x)
    assert len(calls) == 4
    kernel.enable_cache = False
    kernel.dump_config(x, x)
    kernel.dump_config(x, x)
    assert len(calls) == 6


def test_a_function_that_has_changed_is_called_again() -> None:
    """Also where what has changed is a text outside of it, or a function that it calls."""
    words = ["first"]

    def make(word: str) -> Any:
        def inner() -> str:
            return word

        def build(x: TensorArgument, y: TensorArgument) -> Any:
            words.append(inner())
            return build_exp(x, y, (1,))

        return build

    x = np.zeros((4, 4), np.float32)
    kernel = NumPyKernel("exp", make("a"))
    for word in ("a", "b", "b"):
        kernel.func = make(word)
        kernel.dump_config(x, x)
    assert words == ["first", "a", "b"]


WRONG: list[tuple[str, Any]] = [
    ("'add' needs 'out': give tensors that it makes as arguments", lambda k, x: k(x, x)),
    ("'add': too many positional arguments", lambda k, x: k(x, x, x, (1,), x)),
    ("'add': got an unexpected keyword argument 'z'", lambda k, x: k(x, x, x, z=1)),
    ("'add' was given no tensor", lambda k, x: k(1, 2, 3)),
    ("has 1 parameter left for them", lambda k, x: k(x, x, out_shape=[x, x])),
    (
        "kernels take no tensors of float64; supported are float32",
        lambda k, x: k(x.astype(np.float64), x, x),
    ),
    ("the shape [0, 5] is not supported", lambda k, x: k(x[:0], x, x)),
]


@pytest.mark.parametrize(("message", "call"), WRONG, ids=[message for message, _ in WRONG])
def test_wrong_calls_are_refused(message: str, call: Any) -> None:
    """The message names the function and what is missing."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        call(NumPyKernel("add", build_add), np.zeros((3, 5), np.float32))
    assert message in str(caught.value)


def test_functions_return_programs() -> None:
    """Anything else is refused by name."""
    kernel = NumPyKernel("nothing", lambda x, y: None)
    x = np.zeros((3, 5), np.float32)
    with pytest.raises(ValueError, match="'nothing' returned a NoneType; a kernel's function ret"):
        kernel.dump_config(x, x)


def test_an_unknown_output_is_refused() -> None:
    """By its name."""
    kernel = NumPyKernel("add", build_add, outputs=("result",))
    x = np.zeros((3, 5), np.float32)
    with pytest.raises(ValueError, match="the output 'result' of 'add' is not given"):
        kernel.dump_config(x, x, x)


def test_what_a_kernel_does_wrong_names_the_kernel() -> None:
    """The simulator's message, with the line of the C++."""
    a, b = np.zeros((32, 64), np.float32), np.zeros((32, 32), np.float32)
    with pytest.raises(ExecutionError, match=r"kernel 'add': reader.cpp:15:9: error: copies"):
        NumPyKernel("add", build_add)(a, b, out_shape=a)


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        ((1,), (((0, 0), 0, 1),)),
        ((2, 2), (((0, 0), 0, 1), ((1, 0), 1, 1), ((2, 0), 2, 1), ((3, 0), 3, 1))),
        ((5,), tuple(((i % 3, i // 3), i, 1) for i in range(5))),
        ((7,), (((0, 0), 0, 2), ((1, 0), 2, 2), ((2, 0), 4, 2), ((0, 1), 6, 1))),
    ],
)
def test_programs_are_dealt_in_equal_shares(grid: tuple[int, ...], expected: Any) -> None:
    """On six cores, three in a row; the last core may have fewer."""
    chip_grid = (3, 2) if grid != (2, 2) else (8, 8)
    assert assign_programs(grid, chip_grid) == expected


def test_grids_have_programs() -> None:
    """Extents of at least one."""
    with pytest.raises(ValueError, match=r"the grid \(0,\) has no programs"):
        assign_programs((0,))
    with pytest.raises(ValueError, match=r"the grid \(2, 0\) has no programs"):
        NumPyKernel("exp", build_exp, grid=(2, 0))


def tensor(name: str, role: str) -> KernelTensor:
    """A tensor of 64x32 numbers."""
    return KernelTensor(name=name, role=role, shape=(64, 32), element="f32")


HEIGHT = Shards("height_sharded", (2, 1))
PLACED: list[tuple[Any, Any, list[tuple[str, str, Any]]]] = [
    ("tile", "dram", [("tile", "dram", None)] * 2),
    ("row_major", "l1", [("row_major", "l1", None)] * 2),
    ("tile", HEIGHT, [("tile", "l1", HEIGHT)] * 2),
    ({"y": "row_major"}, {"x": "l1"}, [("tile", "l1", None), ("row_major", "dram", None)]),
    ({}, {"y": HEIGHT}, [("tile", "dram", None), ("tile", "l1", HEIGHT)]),
]


@pytest.mark.parametrize(("layout", "memory", "expected"), PLACED)
def test_how_tensors_lie(layout: Any, memory: Any, expected: list[tuple[str, str, Any]]) -> None:
    """As was said for all or by name; otherwise tiled in DRAM, in calls as in specialized ones."""
    kernel = NumPyKernel("exp", build_exp, layout=layout, memory=memory)
    x = np.zeros((64, 32), np.float32)
    called = read_custom_kernel(kernel.dump_config(x, x).backend_config)
    given = [tensor("a", "in"), tensor("b", "out")]
    special = kernel.specialize(given, "")
    for tensors in (called.tensors, special.tensors):
        assert [(t.name, t.role, t.shape, t.element) for t in tensors] == [
            ("x", "in", (64, 32), "f32"),
            ("y", "out", (64, 32), "f32"),
        ]
        assert [(each.layout, each.memory, each.shards) for each in tensors] == expected
    assert special.name == "exp"


def test_specialized_kernels_have_enough_parameters() -> None:
    """The grid is none of them."""
    kernel = NumPyKernel("exp", build_exp)
    with pytest.raises(ValueError, match="'exp' has 2 parameters for 3 tensors"):
        kernel.specialize([tensor("a", "in")] * 3, "")
