"""What shape rules of several families share."""

from __future__ import annotations

from collections.abc import Sequence

from ttmlir.optable.row import Shape


def require(condition: bool, message: str) -> None:
    """Raise ValueError with a message unless a condition holds."""
    if not condition:
        raise ValueError(message)


def spell_shape(shape: Sequence[int]) -> str:
    """A shape as messages show it, such as 33x70."""
    return "x".join(map(str, shape)) or "scalar"


def check_dimension(dim: int, rank: int) -> int:
    """The number of a dimension, which may count from the end; ValueError if there is none."""
    if not -rank <= dim < rank:
        raise ValueError(f"Dimension {dim} is out of range for rank {rank}.")
    return dim % rank


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
