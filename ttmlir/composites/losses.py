"""Losses of labels whose scores should be above those of all others by a margin.

Scores are rows (N, classes). Gradients of the reduced loss are numbers, or one for each row.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import array_of


class Reduction(Enum):
    """What becomes of the losses of elements or rows."""

    NONE = "all of them"
    MEAN = "their mean"
    SUM = "their sum"


def reduce_loss(loss: Array, reduction: Reduction) -> Array:
    """All losses, or their mean or sum, which has no dimensions."""
    if reduction is Reduction.NONE:
        return loss
    dims = range(loss.rank)
    return (
        loss.mean(*dims, keep=False) if reduction is Reduction.MEAN else loss.sum(*dims, keep=False)
    )


def _spread(gradient: Array, slope: Array, reduction: Reduction) -> Array:
    """What rows of slopes are in the reduced loss, which is a mean over the elements of a row."""
    count, width = slope.shape
    slope = slope / (width * count if reduction is Reduction.MEAN else width)
    return slope * (gradient.reshape((count if reduction is Reduction.NONE else 1, 1)))


def _classes(rows: Array) -> Array:
    return array_of(np.arange(rows.shape[1]))


# -- several labels of each row: numbers up to the first -1 ------------------------------------


def multilabel_margin_loss(rows: Array, labels: Array, reduction: Reduction) -> tuple[Array, Array]:
    """How far labels are from being above all others by 1, and which classes are labels."""
    counts, below, member = _compare_labels(rows, labels)
    loss = counts.where(below.limit(low=0), 0).sum(1, 2, keep=False) / rows.shape[1]
    return reduce_loss(loss, reduction), member.any(1, keep=False)


def differentiate_multilabel_margin_loss(
    gradient: Array, rows: Array, labels: Array, reduction: Reduction
) -> Array:
    """The gradient of the scores."""
    counts, below, member = _compare_labels(rows, labels)
    pushed = (counts & (below > 0)).cast(rows.dtype)
    # Each pair moves the element up and its label down.
    down = (pushed.sum(2) * member.cast(rows.dtype)).sum(1, keep=False)
    return _spread(gradient, pushed.sum(1, keep=False) - down, reduction)


def _compare_labels(rows: Array, labels: Array) -> tuple[Array, Array, Array]:
    """Of all (row, label, element): whether they count, how far, and which are the label."""
    is_label = labels.eq(-1).cast("i32").cumsum(1).eq(0)
    label = is_label.where(labels, 0)
    member = label.unsqueeze(2).eq(_classes(rows)) & is_label.unsqueeze(2)
    below = 1 - (rows.gather(1, label).unsqueeze(2) - rows.unsqueeze(1))
    others = member.any(1).logical_not()
    return is_label.unsqueeze(2) & others, below, member


# -- one label of each row -----------------------------------------------------------------------


def differentiate_multi_margin_loss(
    gradient: Array,
    rows: Array,
    labels: Array,
    power: int,
    margin: float,
    weights: Array | None,
    reduction: Reduction,
) -> Array:
    """The gradient of the scores, of the sums of max(0, margin - label + other) ** power."""
    label = labels.unsqueeze(1)
    below = margin - rows.gather(1, label) + rows
    slope = (below > 0).cast(rows.dtype) if power == 1 else below.limit(low=0) * 2
    is_label = label.eq(_classes(rows))
    slope = is_label.where(0, slope)
    slope = is_label.where(-slope.sum(1), slope)
    if weights is not None:
        slope = slope * weights.select(0, label)
    return _spread(gradient, slope, reduction)
