"""Memory that programs give back, and what it takes them at most."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from running.pass_runner import TTNN_PIPELINE, executed, lowered, printed
from samples.ttir_text import FunctionText, tensor

import ttmlir
from ttmlir.compiler import write_cpp
from ttmlir.layout.system import board
from ttmlir.runtime.memory import program_memory

SHAPE = (37, 70)


def chain(count: int) -> str:
    """A function that computes one thing after another, and keeps the first result."""
    f = FunctionText([tensor(*SHAPE)])
    first = value = f.op("exp", ["%arg0"], tensor(*SHAPE))
    for _ in range(count):
        value = f.op("sqrt", [value], tensor(*SHAPE))
    return f.returning(f.op("add", [value, first], tensor(*SHAPE)))


MADE = ("to_layout", "to_device", "exp", "sqrt", "sqrt", "sqrt", "add")
"""What makes tensors on the device; what is returned is a copy on the host."""


@pytest.mark.parametrize(
    ("option", "count"),
    [("", 0), ("=deallocate-above=1", len(MADE)), ("=deallocate-above=1000000000", 0)],
)
def test_each_tensor_is_deallocated_once(option: str, count: int) -> None:
    """Behind what takes it last."""
    text = printed(chain(3), f"{TTNN_PIPELINE}{option}")
    assert text.count("ttnn.dealloc") == count


def test_tensors_are_deallocated_behind_their_last_use() -> None:
    """Each number of the text that is deallocated is not there any more below."""
    lines = printed(chain(3), f"{TTNN_PIPELINE}=deallocate-above=1").splitlines()
    for number, line in enumerate(lines):
        if "ttnn.dealloc" in line:
            name = line[line.index("%") : line.index(")")]
            assert not any(f"{name}," in each or f"{name})" in each for each in lines[number + 1 :])
            before = [each for each in lines[:number] if "ttnn.dealloc" not in each]
            assert f"{name}," in before[-1] or f"{name})" in before[-1]


def test_numbers_stay() -> None:
    """A file whose tensors are deallocated runs, and nothing reads them afterwards."""
    x = np.random.default_rng(3).standard_normal(SHAPE).astype(np.float32)
    (result,) = executed(chain(3), [x], f"{TTNN_PIPELINE}=deallocate-above=1")
    wanted = np.sqrt(np.sqrt(np.sqrt(np.exp(x)))) + np.exp(x)
    np.testing.assert_allclose(result, wanted, rtol=1e-5)


def test_cpp_deallocates() -> None:
    """The call of the library."""
    module = lowered(chain(1), f"{TTNN_PIPELINE}=deallocate-above=1")
    assert "ttnn::deallocate(v" in write_cpp(module)


def test_loops_keep_what_they_take() -> None:
    """What goes round in a loop may be its operand still."""

    def double(x: Any) -> Any:
        def body(number: Any, value: Any) -> Any:
            return number + 1, value * 2

        count = (x[0, 0] > 0).to(torch.int32) * 3
        _, doubled = torch.while_loop(lambda n, _: n < count, body, (torch.tensor(0), x * 1.0))
        return doubled + x

    example = torch.arange(1.0, 7.0).reshape(2, 3)
    compiled = ttmlir.compile(double, example, options="deallocate-above=1")
    assert "ttnn.dealloc" in compiled.text("ttnn")
    for sign in (1.0, -1.0):
        x = sign * example
        np.testing.assert_array_equal(compiled(x), x * (9 if sign > 0 else 2))


def test_long_models_take_what_lives_at_once() -> None:
    """Each of the results takes 300 MB: two, and not forty, are there at a time."""
    layers = 40

    def long(x: Any) -> Any:
        y = x.expand(9, 256, 32768)
        for _ in range(layers):
            y = torch.tanh(y)
        return y.mean((1, 2))

    size = 9 * 256 * 32768 * 4
    x = torch.zeros(1, 1, 1)
    given_back, kept = (
        memory_of(ttmlir.compile(long, x, options=options).binary)
        for options in ("", "deallocate-above=0")
    )
    assert kept > layers * size
    assert given_back < 4 * size


def memory_of(binary: Any) -> int:
    """Bytes of DRAM that its program needs at most."""
    [program] = binary.programs
    return program_memory(program, board("default").chip(0)).dram.total_bytes
