"""New destinations and layout changes in front of an operation, with its location."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import ttir
from ttmlir.ir.rewriting import insert_before


def written_results(op: ttir.TTIROp) -> dict[int, SSAValue]:
    """The results of an operation by the number of the operand that is their destination."""
    first, end = op.init_range
    tensors = (n for n in range(first, end) if isinstance(op.operands[n].type, TensorType))
    return dict(zip(tensors, op.results, strict=True))


def emptied(type_: Attribute, user: Operation) -> SSAValue:
    """A new destination in front of `user`."""
    empty = EmptyOp.create(result_types=(type_,), location=user.location)
    insert_before(user, empty)
    return empty.results[0]


def moved(value: SSAValue, type_: Attribute, user: Operation) -> SSAValue:
    """A tensor in another layout, moved there in front of `user`."""
    destination = emptied(type_, user)
    move = ttir.ToLayoutOp.dps((value,), (destination,), location=user.location)
    insert_before(user, move)
    return move.results[0]
