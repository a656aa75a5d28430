"""Matrix products, look-ups and normalisations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ttmlir.optable.row import Domain, Family, Flatbuffer, Kind, Operand, Parameter, Row, Shape


def broadcast_shape(*shapes: Shape) -> Shape:
    """Shape that all shapes broadcast to, aligned at the last dimension as in NumPy."""
    rank = max((len(shape) for shape in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for i, extent in enumerate(shape, rank - len(shape)):
            if extent != 1 and result[i] not in (1, extent):
                raise ValueError("Operands are not broadcast compatible")
            if extent != 1:
                result[i] = extent
    return tuple(result)


def matmul_shape(a: Shape, b: Shape) -> Shape:
    """Shape of a product of matrices; leading dimensions are batches and broadcast."""
    if len(a) < 2 or len(b) < 2:
        raise ValueError("Both inputs must be at least 2D tensors.")
    if a[-1] != b[-2]:
        raise ValueError("Input A and B must have matching inner dimensions")
    return (*broadcast_shape(a[:-2], b[:-2]), a[-2], b[-1])


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
                raise ValueError(f"Dimension {dim} is out of range for rank {rank}.")
        if len(set(named)) != len(named):
            raise ValueError("Batch and contracting dimensions must differ from each other.")
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
            raise ValueError(
                f"The {what} dimensions {list(ours)} of lhs and {list(theirs)} of rhs must have "
                "the same extents."
            )
    return (
        *(lhs[dim] for dim in (*left.batch, *left.free)),
        *(rhs[dim] for dim in right.free),
    )


def embedded_shape(input: Shape, weight: Shape) -> Shape:
    """Shape of looked-up rows: that of the row numbers and the width of the table."""
    return (*input, weight[-1])


def _same_shape(input: Shape, *, dimension: int) -> Shape:
    return input


def _matmul(xp: Any, a: Any, b: Any) -> Any:
    return xp.matmul(a, b)


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


def _softmax(xp: Any, input: Any, *, dimension: int) -> Any:
    if not input.size:
        return input
    # Subtracting the maximum changes nothing but keeps exp from overflowing.
    powers = xp.exp(input - xp.max(input, axis=dimension, keepdims=True))
    return powers / xp.sum(powers, axis=dimension, keepdims=True)


def _embedding(xp: Any, input: Any, weight: Any) -> Any:
    rows = xp.asarray(input).astype(xp.int64)
    if rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < weight.shape[0]:
        raise ValueError(
            f"Row numbers from {int(rows.min())} to {int(rows.max())} were looked up "
            f"in a table of {weight.shape[0]} rows."
        )
    return weight[rows]


ROWS = (
    Row(
        mnemonic="embedding",
        summary="Rows of a table, looked up by number.",
        formula="output[i..., :] = weight[input[i...], :]",
        family=Family.LOOKUP,
        operands=(Operand(name="input"), Operand(name="weight")),
        reference=_embedding,
        result_shape=embedded_shape,
        domains=(Domain.INDEX, Domain.REAL),
        flatbuffer=Flatbuffer(
            table="EmbeddingOp",
            fields=(("input", "input"), ("weight", "weight"), ("output", "output")),
        ),
    ),
    Row(
        mnemonic="softmax",
        summary="Exponentials along a dimension, scaled to the sum 1.",
        formula="exp(x) / sum(exp(x))",
        family=Family.NORMALIZATION,
        operands=(Operand(name="input"),),
        parameters=(Parameter(name="dimension", kind=Kind.SI32, doc="Dimension of the sum."),),
        reference=_softmax,
        result_shape=_same_shape,
        flatbuffer=Flatbuffer(
            table="SoftmaxOp",
            fields=(("in", "input"), ("out", "output"), ("dimension", "dimension")),
        ),
    ),
    Row(
        mnemonic="matmul",
        summary="Product of matrices; leading dimensions are batches.",
        formula="output[..., m, n] = sum over k of a[..., m, k] * b[..., k, n]",
        family=Family.CONTRACTION,
        operands=(Operand(name="a"), Operand(name="b")),
        reference=_matmul,
        result_shape=matmul_shape,
        flatbuffer=Flatbuffer(
            table="MatmulOp", fields=(("in0", "a"), ("in1", "b"), ("out", "output"))
        ),
    ),
    Row(
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
