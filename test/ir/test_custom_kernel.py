"""What a custom kernel's operation asks of its tensors."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from samples.generic_programs import exp_program
from xdsl.dialects.builtin import ArrayAttr, TensorType, UnknownLoc, f32
from xdsl.ir import Attribute, Block, Operation

from ttmlir.ir.builder import Builder
from ttmlir.program import CustomKernel, KernelTensor, write_custom_kernel

INPUT = KernelTensor(name="x", role="in", shape=(5, 70), element="f32")


@pytest.mark.parametrize(("layout", "element"), [("tile", "tile"), ("row_major", "scalar")])
@pytest.mark.parametrize("memory", ["dram", "l1"])
def test_constraints_are_those_of_the_program(layout: str, element: str, memory: str) -> None:
    """Each tensor has its memory and its layout, the other one those that it has by default."""
    output = replace(INPUT, name="y", role="out", layout=layout, memory=memory)
    kernel = CustomKernel(name="k", tensors=(INPUT, output), program=exp_program(3))
    block = Block(arg_types=[TensorType(f32, (5, 70))])
    builder, x = Builder(block, UnknownLoc()), block.args[0]
    [result] = builder.create_custom_kernel(write_custom_kernel(kernel), [x], [x.type])
    assert isinstance(result.owner, Operation)
    constraints = result.owner.properties["operand_constraints"]
    assert isinstance(constraints, ArrayAttr)
    assert [str(each) for each in cast("ArrayAttr[Attribute]", constraints)] == [
        "#tt.operand_constraint<dram|tile|interleaved>",
        f"#tt.operand_constraint<{memory}|{element}|interleaved>",
    ]
