"""Products of matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.optable.op_definition import (
    Family,
    Flatbuffer,
    Kind,
    OpDefinition,
    Operand,
    Parameter,
    Shape,
    broadcast_shape,
    require,
)


def matrix_shape(a: Shape, b: Shape) -> Shape:
    """Rows and columns of a product of matrices, the last dimensions of its operands."""
    require(len(a) >= 2, "Input A must be at least a 2D tensor")
    require(len(b) >= 2, "Input B must be at least a 2D tensor")
    require(a[-1] == b[-2], "Input A and B must have matching inner dimensions")
    return a[-2], b[-1]


def matmul_shape(
    a: Shape, b: Shape, *, transpose_a: bool = False, transpose_b: bool = False
) -> Shape:
    """Shape of a product of matrices; leading dimensions are batches and broadcast."""
    a, b = _swapped(a) if transpose_a else a, _swapped(b) if transpose_b else b
    matrix = matrix_shape(a, b)
    return (*broadcast_shape(a[:-2], b[:-2]), *matrix)


def _swapped(shape: Shape) -> Shape:
    return (*shape[:-2], *reversed(shape[-2:]))


@dataclass(frozen=True)
class DotDimensions:
    """What becomes of the dimensions of an operand in a general product.

    Every dimension is in one of the three lists; `free` has those that only this operand has.
    """

    batch: Shape
    contract: Shape
    free: Shape

    @classmethod
    def of(cls, rank: int, batch: Shape, contract: Shape) -> DotDimensions:
        """The dimensions of an operand; ValueError for one that is missing or named twice."""
        named = (*batch, *contract)
        for dim in named:
            if not 0 <= dim < rank:
                raise ArgumentError(f"Dimension {dim} is out of range for rank {rank}.")
        if len(set(named)) != len(named):
            raise ArgumentError("Batch and contracting dimensions must differ from each other.")
        return cls(batch, contract, tuple(dim for dim in range(rank) if dim not in named))


def dot_general_shape(
    lhs: Shape,
    rhs: Shape,
    *,
    batch_dims_lhs: Shape,
    contract_dims_lhs: Shape,
    batch_dims_rhs: Shape,
    contract_dims_rhs: Shape,
) -> Shape:
    """Shape of a general product: batch dimensions, then the free ones of lhs, then of rhs."""
    left = DotDimensions.of(len(lhs), batch_dims_lhs, contract_dims_lhs)
    right = DotDimensions.of(len(rhs), batch_dims_rhs, contract_dims_rhs)
    for what, ours, theirs in (
        ("batch", left.batch, right.batch),
        ("contracting", left.contract, right.contract),
    ):
        if [lhs[dim] for dim in ours] != [rhs[dim] for dim in theirs]:
            raise ArgumentError(
                f"The {what} dimensions {list(ours)} of lhs and {list(theirs)} of rhs must have "
                "the same extents."
            )
    return (*(lhs[dim] for dim in (*left.batch, *left.free)), *(rhs[dim] for dim in right.free))


def _matmul(
    xp: Any, a: Any, b: Any, *, transpose_a: bool = False, transpose_b: bool = False
) -> Any:
    a = xp.swapaxes(a, -1, -2) if transpose_a else a
    return xp.matmul(a, xp.swapaxes(b, -1, -2) if transpose_b else b)


def _dot_general(xp: Any, lhs: Any, rhs: Any, **dimensions: Shape) -> Any:
    shape = dot_general_shape(lhs.shape, rhs.shape, **dimensions)
    contract = dimensions["contract_dims_lhs"]
    left = DotDimensions.of(lhs.ndim, dimensions["batch_dims_lhs"], contract)
    right = DotDimensions.of(
        rhs.ndim, dimensions["batch_dims_rhs"], dimensions["contract_dims_rhs"]
    )
    batches = tuple(lhs.shape[dim] for dim in left.batch)
    terms = math.prod(lhs.shape[dim] for dim in contract)
    rows = math.prod(lhs.shape[dim] for dim in left.free)
    columns = math.prod(rhs.shape[dim] for dim in right.free)
    a = xp.transpose(lhs, left.batch + left.free + left.contract)
    b = xp.transpose(rhs, right.batch + right.contract + right.free)
    product = xp.matmul(
        xp.reshape(a, (*batches, rows, terms)), xp.reshape(b, (*batches, terms, columns))
    )
    return xp.reshape(product, shape)


DEFINITIONS = (
    OpDefinition(
        mnemonic="matmul",
        summary="Product of matrices; leading dimensions are batches.",
        formula="output[..., m, n] = sum over k of a[..., m, k] * b[..., k, n]",
        family=Family.CONTRACTION,
        multiplies=True,
        operands=(Operand(name="a"), Operand(name="b")),
        reference=_matmul,
        result_shape=matmul_shape,
        flatbuffer=Flatbuffer(
            table="MatmulOp", fields=(("in0", "a"), ("in1", "b"), ("out", "output"))
        ),
    ),
    OpDefinition(
        mnemonic="dot_general",
        summary="Products summed over any dimensions; others are batches or stand side by side.",
        formula="output[batch..., i..., j...] = sum over k... of lhs[batch, i, k] * rhs[batch, k, "
        "j], the dimensions of each operand being in any order",
        family=Family.CONTRACTION,
        operands=(Operand(name="lhs"), Operand(name="rhs")),
        parameters=tuple(
            Parameter(name=f"{kind}_dims_{side}", kind=Kind.DENSE_I64, doc=doc)
            for side, other in (("lhs", "rhs"), ("rhs", "lhs"))
            for kind, doc in (
                ("batch", f"Dimensions of {side} that correspond to those of {other}."),
                ("contract", f"Dimensions of {side} that are summed over."),
            )
        ),
        reference=_dot_general,
        result_shape=dot_general_shape,
        in_ttnn=False,
        flatbuffer=None,
        since="2026-08",
    ),
)
