"""Making `ttir.generic` operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from ttmlir.dialects import tt, ttir
from ttmlir.dialects.definition.ods import SEGMENTS
from ttmlir.ir.rewriting import insert_before
from ttmlir.layout.enums import IteratorType, OperandConstraint


def is_inside_generic(op: Operation) -> bool:
    """True for an operation directly in the body of a `ttir.generic`."""
    return isinstance(op.parent_op(), ttir.GenericOp)


def wrap(
    op: Operation,
    inputs: Sequence[SSAValue],
    outputs: Sequence[SSAValue],
    body: Callable[[Block], Sequence[SSAValue]],
    *,
    indexing_maps: Sequence[AffineMap],
    iterator_types: Sequence[IteratorType],
    constraint: OperandConstraint,
) -> ttir.GenericOp:
    """Put a generic on one core in front of an operation, whose work it does.

    `body` fills a block whose arguments are like the inputs and outputs and returns what it yields;
    every operand gets the same constraint.
    """
    operands = (*inputs, *outputs)
    block = Block(arg_types=[value.type for value in operands])
    yielded = ttir.YieldOp.create(operands=body(block), location=op.location)
    block.add_op(yielded)
    generic = ttir.GenericOp.create(
        operands=operands,
        result_types=[output.type for output in outputs],
        properties={
            "grid": tt.GridAttr.get((1, 1)),
            "indexing_maps": ArrayAttr([AffineMapAttr(map_) for map_ in indexing_maps]),
            "iterator_types": ArrayAttr([tt.IteratorTypeAttr(kind) for kind in iterator_types]),
            SEGMENTS: ttir.GenericOp.segments(len(inputs), len(outputs)),
            "operand_constraints": ArrayAttr(
                [tt.OperandConstraintAttr.of(constraint)] * len(operands)
            ),
        },
        regions=[Region(block)],
        location=op.location,
    )
    insert_before(op, generic)
    return generic
