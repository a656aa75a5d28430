"""Making `ttir.generic` operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from ttmlir.dialects import tt, ttir
from ttmlir.dialects.ods import SEGMENTS
from ttmlir.layout.enums import IteratorType, OperandConstraint
from ttmlir.passes.rewriting import insert_before, replace


def is_inside_generic(op: Operation) -> bool:
    """True for an operation directly in the body of a `ttir.generic`."""
    return isinstance(op.parent_op(), ttir.GenericOp)


def wrap(
    op: ttir.TTIROp,
    body: Callable[[Block], Sequence[SSAValue]],
    *,
    indexing_maps: Sequence[AffineMap],
    iterator_types: Sequence[IteratorType],
    constraint: OperandConstraint,
) -> None:
    """Replace an operation by a generic on one core, with the same operands and results.

    `body` fills a block whose arguments are like the operands and returns what it yields; every
    operand gets the same constraint.
    """
    block = Block(arg_types=[value.type for value in op.operands])
    yielded = ttir.YieldOp.create(operands=body(block), location=op.location)
    block.add_op(yielded)
    generic = ttir.GenericOp.create(
        operands=tuple(op.operands),
        result_types=[result.type for result in op.results],
        properties={
            "grid": tt.GridAttr.get((1, 1)),
            "indexing_maps": ArrayAttr([AffineMapAttr(map_) for map_ in indexing_maps]),
            "iterator_types": ArrayAttr([tt.IteratorTypeAttr(kind) for kind in iterator_types]),
            SEGMENTS: ttir.GenericOp.segments(len(op.inputs), len(op.inits)),
            "operand_constraints": ArrayAttr(
                [tt.OperandConstraintAttr.of(constraint)] * len(op.operands)
            ),
        },
        regions=[Region(block)],
        location=op.location,
    )
    insert_before(op, generic)
    replace(op, *generic.results)
