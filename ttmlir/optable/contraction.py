"""Matrix products, look-ups and normalisations."""

from __future__ import annotations

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


def embedded_shape(input: Shape, weight: Shape) -> Shape:
    """Shape of looked-up rows: that of the row numbers and the width of the table."""
    return (*input, weight[-1])


def _same_shape(input: Shape, *, dimension: int) -> Shape:
    return input


def _matmul(xp: Any, a: Any, b: Any) -> Any:
    return xp.matmul(a, b)


def _softmax(xp: Any, input: Any, *, dimension: int) -> Any:
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
)
