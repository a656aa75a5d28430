"""Estimates of files with words changed, swapped and copied: an estimate or an error."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from samples.binary_mutations import mutants
from samples.ttnn_program import ProgramBuilder

from ttmlir.cost import estimate_program
from ttmlir.errors import Error
from ttmlir.layout.system import board
from ttmlir.runtime import BinaryError, read_binary
from ttmlir.runtime.memory import program_memory


def images() -> ProgramBuilder:
    """A convolution, pooling, a product, softmax, and moves."""
    b = ProgramBuilder()
    x = b.to_device(b.input((1, 1, 12 * 10, 8), "bf16"))
    weights = b.to_device(b.input((16, 8, 3, 3), "bf16"))
    fields = {
        **{"in_channels": 8, "out_channels": 16, "batch_size": 1, "groups": 1},
        **{"input_height": 12, "input_width": 10, "kernel_height": 3, "kernel_width": 3},
        **{"stride_height": 1, "stride_width": 1, "padding_height": 1, "padding_width": 1},
        **{"dilation_height": 1, "dilation_width": 1},
    }
    y = b.compute(
        "Conv2dOp", (1, 1, 120, 16), "bf16", input=x, weight=weights, device=b.device, **fields
    )
    y = b.compute("TransposeOp", (1, 1, 16, 120), "bf16", **{"in": y}, dim0=2, dim1=3)
    y = b.compute(
        "MatmulOp",
        (1, 1, 120, 120),
        "bf16",
        in0=b.compute("TransposeOp", (1, 1, 120, 16), "bf16", **{"in": y}, dim0=-1, dim1=-2),
        in1=y,
    )
    y = b.compute("SoftmaxOp", (1, 1, 120, 120), "bf16", **{"in": y}, dimension=-1)
    y = b.compute(
        "ReductionOp", (1, 1, 120, 1), "bf16", type="Sum", **{"in": y}, dim_arg=[3], keep_dim=True
    )
    b.output(y)
    return b


def reductions() -> ProgramBuilder:
    """Elementwise operations, an embedding, slices."""
    b = ProgramBuilder()
    x = b.to_device(b.input((64, 96)))
    y = b.eltwise("Add", [x, b.eltwise("Exp", [x])])
    y = b.compute("SliceOp", (32, 96), **{"in": y}, begins=[0, 0], ends=[64, 96], step=[2, 1])
    y = b.compute("PermuteOp", (96, 32), **{"in": y}, permutation=[1, 0])
    y = b.compute("ReshapeOp", (3, 1024), **{"in": y}, shape=[3, 1024])
    b.output(b.compute("ConcatOp", (6, 1024), inputs=[y, y], dim=0))
    return b


@pytest.mark.parametrize("make", [images, reductions])
def test_damaged_files_end_in_an_estimate_or_an_error(make: Callable[[], ProgramBuilder]) -> None:
    """Never in an exception of Python."""
    data = make().pack()
    assert estimate_program(read_binary(data, "x.ttnn").program(0), "n150").total.mid > 0
    estimated = 0
    for mutant in mutants(data, 300, seed=5):
        try:
            for program in read_binary(mutant, "x.ttnn").programs:
                made = estimate_program(program, "n150")
                assert made.total.low <= made.total.mid <= made.total.high
                assert repr(made)
                assert made.to_json()
                assert made.to_trace()
                program_memory(program, board("n150").chip(0))
                estimated += 1
        except Error:
            continue
    assert estimated > 20


def test_numbers_that_make_no_sense_are_named() -> None:
    """The operation, and that the file is damaged."""
    b = ProgramBuilder()
    x = b.to_device(b.input((64, 96)))
    b.output(b.compute("PermuteOp", (96, 64), **{"in": x}, permutation=[1, 7]))
    with pytest.raises(BinaryError, match=r"operation 4 \(PermuteOp, loc\(\"PermuteOp\"\)\)"):
        estimate_program(read_binary(b.pack(), "x.ttnn").program(0), "n150")


def test_tensors_without_elements_take_no_time() -> None:
    """And divide nothing by zero."""
    b = ProgramBuilder()
    b.output(b.eltwise("Exp", [b.to_device(b.input((0, 96)))]))
    made = estimate_program(read_binary(b.pack(), "x.ttnn").program(0), "n150")
    assert made.total.mid == 0
    assert all(made.share(each) == 0 for each in made.operations)
