"""Conversion of properties and the parts of the verifier that text does not reach."""

from __future__ import annotations

import pytest
from running.ir_text import message_of, parse_op
from xdsl.dialects.builtin import TensorType, UnitAttr, f32, i32
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.ir import Block, Operation, Region

from ttmlir.dialects import ttir
from ttmlir.dialects.definition.ods import segments_attr
from ttmlir.mlir.printing import print_op_line
from ttmlir.mlir.reporting import DiagnosticError

T = "tensor<3x7xf32>"
TYPES = f"({T}, {T}, {T}) -> {T}"


def add(rest: str) -> Operation:
    """A binary operation with these dictionaries."""
    return parse_op(f'%r = "ttir.add"(%0, %1, %2) {rest} : {TYPES}', T, T, T)


@pytest.mark.parametrize(
    "rest",
    [
        "<{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = []}>",
        "<{operand_constraints = [], operand_segment_sizes = array<i32: 2, 1>}>",
        "{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = []}",
        "{operand_constraints = [], operand_segment_sizes = array<i32: 2, 1>}",
        "<{operand_constraints = [], unknown = 7, operandSegmentSizes = array<i32: 2, 1>}>",
        "<{operand_constraints = []}> {operandSegmentSizes = array<i32: 2, 1>}",
    ],
)
def test_properties_are_accepted_everywhere_and_printed_sorted(rest: str) -> None:
    """Both dictionaries and both spellings of the segment sizes give the same operation."""
    op = add(rest)
    assert message_of(op) is None
    printed = "<{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = []}> : "
    assert printed in print_op_line(op)
    assert not op.attributes


def test_unknown_attributes_stay_discardable() -> None:
    """What is not a property stays in the trailing dictionary."""
    op = add(
        "<{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = []}> {test.mark, plain}"
    )
    assert op.attributes == {"test.mark": UnitAttr(), "plain": UnitAttr()}


def test_missing_segments_are_zero() -> None:
    """Without segment sizes all groups are empty, which the verifier then finds."""
    op = add("<{operand_constraints = []}>")
    assert op.properties["operandSegmentSizes"] == segments_attr((0, 0))
    assert message_of(op) == (
        "operand count (3) does not match with the total size (0) specified in attribute "
        "'operandSegmentSizes'"
    )


def test_older_properties_of_empty_are_dropped() -> None:
    """`ttnn.empty` once had its shape, type, layout and memory as properties."""
    op = parse_op(
        '%r = "ttnn.empty"(%0) <{dtype = #tt.supportedDataTypes<f32>, '
        "layout = #ttnn.layout<tile>, "
        "memory_config = #ttnn.memory_config<<interleaved>, <dram>>, shape = #ttnn.shape<3x7>}> "
        f": (!tt.device<#device>) -> {T}",
        "!tt.device<#device>",
    )
    assert message_of(op) is None
    assert not op.properties


def test_the_place_of_refused_properties_is_the_name() -> None:
    """The reader points at the operation's name."""
    with pytest.raises(DiagnosticError) as caught:
        add("<{operandSegmentSizes = array<i64: 2, 1>, operand_constraints = []}>")
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.message == (
        "invalid properties {operandSegmentSizes = array<i64: 2, 1>, operand_constraints = []} "
        "for op ttir.add: expected DenseI32ArrayAttr for key `value`"
    )
    assert str(diagnostic.location).endswith(":3:6)")


def test_operations_made_by_passes_are_checked_too() -> None:
    """Properties that no text could give are refused by the verifier."""
    value = AnyOp(result_types=[TensorType(f32, [3, 7])]).results[0]
    op = ttir.AddOp.create(
        operands=[value],
        result_types=[value.type],
        properties={"operandSegmentSizes": segments_attr((1,))},
    )
    assert message_of(op) == (
        "'operandSegmentSizes' attribute for specifying operand segments must have 2 elements"
    )
    op = ttir.AddOp.create(
        operands=[value, value],
        result_types=[value.type],
        properties={"operandSegmentSizes": segments_attr((1, 1)), "operand_constraints": i32},
    )
    assert message_of(op) == "attribute 'operand_constraints' failed to satisfy constraint: "


def test_successors_are_refused() -> None:
    """No operation of ours branches."""
    end, other = Block(), Block()
    op = ttir.YieldOp.create(successors=[other])
    end.add_op(op)
    Region([end, other])
    assert message_of(op) == "requires 0 successors but found 1"
