"""Programs that ask for more than they are worth: refused before anything is allocated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from running.confinement import confined
from samples.ttnn_program import ProgramBuilder

from ttmlir.errors import Error
from ttmlir.limits import MEMORY_VARIABLE
from ttmlir.runtime import Tensor, open_device, read_binary, submit
from ttmlir.runtime.ttrt.running import generate_inputs

HUGE = (1 << 10, 1 << 12, 1 << 10)
WINDOW = {"kernel_height": 1, "kernel_width": 1, "stride_height": 1, "stride_width": 1}
DILATION = {"dilation_height": 1, "dilation_width": 1}


def input_without_end(b: ProgramBuilder) -> None:
    """An input of 4 Gi numbers."""
    b.output(b.to_device(b.input(HUGE)))


def full(b: ProgramBuilder) -> None:
    """A tensor of one number, 4 Gi times."""
    out = b.empty(HUGE)
    b.op("FullOp", device=b.device, out=out, fill_value=1.0)
    b.output(out)


def arange(b: ProgramBuilder) -> None:
    """1 Gi numbers in a row."""
    out = b.empty((1 << 30,), "i32")
    b.op("ArangeOp", out=out, start=0, end=1 << 30, step=1, arange_dimension=0)
    b.output(out)


def repeat(b: ProgramBuilder) -> None:
    """A small tensor, repeated 4 Mi times."""
    x = b.to_device(b.input((32, 32)))
    fields = {"in": x, "repeat_dimensions": [1 << 11, 1 << 11]}
    b.output(b.compute("RepeatOp", (1 << 16, 1 << 16), **fields))


def pad(b: ProgramBuilder) -> None:
    """A small tensor with 4 Gi zeros around it."""
    x = b.to_device(b.input((1, 1)))
    fields = {"in": x, "padding": [0, (1 << 16) - 1, 0, (1 << 16) - 1], "value": 0.0}
    b.output(b.compute("PadOp", (1 << 16, 1 << 16), **fields))


def pool_with_padding(b: ProgramBuilder) -> None:
    """A window as large as the padding, which is far larger than image and result."""
    x, huge = b.to_device(b.input((1, 4, 4, 1))), 1 << 24
    fields = {**WINDOW, "kernel_height": 2 * huge + 4, "padding_height": huge, "padding_width": 0}
    image = {"batch_size": 1, "input_height": 4, "input_width": 4, "channels": 1}
    more = {"in": x, "device": b.device, "ceil_mode": False, **image, **DILATION, **fields}
    b.output(b.compute("MaxPool2dOp", (1, 1, 4, 1), **more))


def broadcast(b: ProgramBuilder) -> None:
    """Two vectors that make 4 Gi sums."""
    x, y = b.to_device(b.input((1 << 16, 1))), b.to_device(b.input((1, 1 << 16)))
    b.output(b.eltwise("Add", [x, y], shape=(1 << 16, 1 << 16)))


def many_live(b: ProgramBuilder) -> None:
    """Small results, all of which are kept until the end."""
    x = b.to_device(b.input((1 << 10, 1 << 10)))
    kept = [b.eltwise("Relu", [x]) for _ in range(100)]
    for each in kept:
        b.output(each)


@pytest.mark.parametrize(
    "build",
    [input_without_end, full, arange, repeat, pad, pool_with_padding, broadcast, many_live],
    ids=lambda build: build.__name__,
)
def test_memory_is_checked_before_it_is_taken(
    build: Callable[[ProgramBuilder], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message has the bytes, the limit and how to change it; nothing large is allocated."""
    monkeypatch.setenv(MEMORY_VARIABLE, "0.25")
    b = ProgramBuilder()
    build(b)
    data = b.pack()
    with confined(megabytes=400, cpu_seconds=10), pytest.raises(Error) as caught:
        run(data)
    assert "hostile.ttnn: program 0 'forward': " in str(caught.value)
    assert "at most 0.25 GiB are taken; the environment variable TTMLIR_MEMORY_GIB" in str(
        caught.value
    )


def test_results_that_are_released_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long chain of tensors needs memory for two of them at a time."""
    monkeypatch.setenv(MEMORY_VARIABLE, "0.25")
    b = ProgramBuilder()
    x = b.to_device(b.input((1 << 10, 1 << 10)))
    for _ in range(100):
        x = b.eltwise("Relu", [x])
    b.output(x)
    run(b.pack())


def run(data: bytes) -> None:
    """Run the program of a file."""
    binary = read_binary(data, "hostile.ttnn")
    inputs = generate_inputs(binary.programs[0], "ones", np.random.default_rng(0))
    submit(open_device(), binary, 0, [Tensor.from_numpy(each) for each in inputs])
