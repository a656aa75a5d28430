"""Numbers scaled by those around them: means and variances, normalizations, softmax, attention."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import array_of

# -- means and variances; dimensions stay with an extent of 1 ------------------------------------


def find_variance(
    x: Array, dims: Sequence[int], correction: float = 0, *, keep: bool = True
) -> tuple[Array, Array]:
    """The variance over dimensions, which stay if `keep`, and the mean, in which they stay.

    The sum of squares is divided by the number of elements less the correction.
    """
    mean = x.mean(*dims)
    squares = (x - mean).square()
    if correction == 0:
        return squares.mean(*dims, keep=keep), mean
    count = math.prod(x.shape[dim] for dim in dims)
    return squares.sum(*dims, keep=keep) / max(0.0, count - correction), mean


def normalize(x: Array, dims: Sequence[int], epsilon: float) -> tuple[Array, Array, Array]:
    """(x - mean) / sqrt(variance + epsilon), the mean, and the reciprocal of that root."""
    variance, mean = find_variance(x, dims)
    scale = (variance + epsilon).rsqrt()
    return (x - mean) * scale, mean, scale


def scale_channels(
    x: Array, weight: Array | None, bias: Array | None, dim: int | None = None
) -> Array:
    """x * weight + bias, either of which may be missing; their numbers are along a dimension.

    Without a dimension, they are along the last ones.
    """
    shape = None if dim is None else [n if i == dim else 1 for i, n in enumerate(x.shape)]
    if weight is not None:
        x = x * (weight if shape is None else weight.reshape(shape))
    if bias is not None:
        x = x + (bias if shape is None else bias.reshape(shape))
    return x


def layer_norm(
    x: Array, count: int, weight: Array | None, bias: Array | None, epsilon: float
) -> tuple[Array, Array, Array]:
    """The last dimensions, so many of them, normalized; the mean, and what was multiplied with."""
    value, mean, scale = normalize(x, range(x.rank - count, x.rank), epsilon)
    return scale_channels(value, weight, bias), mean, scale


def group_norm(
    x: Array, groups: int, weight: Array | None, bias: Array | None, epsilon: float
) -> tuple[Array, Array, Array]:
    """Groups of channels of (N, C, ...) normalized, with a weight and a bias for each channel."""
    grouped = x.reshape((x.shape[0], groups, math.prod(x.shape[1:]) // groups))
    value, mean, scale = normalize(grouped, (2,), epsilon)
    return scale_channels(value.reshape(x.shape), weight, bias, 1), mean, scale


def batch_norm(
    x: Array, weight: Array | None, bias: Array | None, epsilon: float
) -> tuple[Array, Array, Array]:
    """Channels of (N, C, ...) normalized over all else."""
    value, mean, scale = normalize(x, (0, *range(2, x.rank)), epsilon)
    return scale_channels(value, weight, bias, 1), mean, scale


def move_average(old: Array, new: Array, momentum: float) -> Array:
    """A running average, moved toward a new value."""
    return old * (1 - momentum) + new.cast(old.dtype) * momentum


def differentiate_weight_norm(
    gradient: Array, v: Array, g: Array, norms: Array, dim: int
) -> tuple[Array, Array]:
    """The gradients of v and g of `v * (g / norm(v))`, where the norm leaves one dimension."""
    total = (gradient * v).sum(*(each for each in range(v.rank) if each != dim))
    g, norms = g.reshape(total.shape), norms.reshape(total.shape)
    along = total / norms
    # What is along v does not change v / norm(v).
    return (gradient - v * (along / norms)) * (g / norms), along


# -- softmax -------------------------------------------------------------------------------------


def softmax(x: Array, dim: int) -> Array:
    """Exponentials along a dimension, scaled to the sum 1."""
    if not x.rank:
        return x.fill(1)
    return x.create("softmax", parameters={"dimension": dim % x.rank})


def log_softmax(x: Array, dim: int) -> Array:
    """The logarithm of `softmax`."""
    if not x.rank:
        return x.fill(0)
    shifted = x - x.max(dim)
    return shifted - shifted.exp().sum(dim).log()


def log_sum_exp(x: Array, dim: int) -> Array:
    """The logarithm of the sum of exponentials along a dimension, which stays."""
    largest = x.max(dim)
    return (x - largest).exp().sum(dim).log() + largest


# -- attention -----------------------------------------------------------------------------------
# Queries, keys and values are (..., rows, width).


def score(
    query: Array, key: Array, mask: Array | None, scale: float, *, causal: bool = False
) -> tuple[Array, Array | None]:
    """query @ key^T * scale + mask, and where keys are not hidden.

    Hidden scores are -inf: where a mask of truth values is false, or after the diagonal if causal.
    """
    scores = (query @ key.transpose()) * scale
    if causal:
        mask = array_of(np.tri(*scores.shape[-2:], dtype=np.bool_))
    if mask is None:
        return scores, None
    if mask.dtype != "i1":
        return scores + mask.cast(scores.dtype), None
    return mask.where(scores, -math.inf), mask


def attend(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    scale: float,
    *,
    causal: bool = False,
) -> Array:
    """softmax(scores) @ value; rows for which all keys are hidden are 0."""
    scores, allowed = score(query, key, mask, scale, causal=causal)
    weights = softmax(scores, -1)
    if allowed is not None and not causal:
        weights = allowed.any(-1).where(weights, 0)
    return weights @ value


def repeat_heads(x: Array, heads: int) -> Array:
    """Keys or values (..., heads, rows, width), each head as often as queries share it."""
    *batch, own, length, width = x.shape
    grouped = x.unsqueeze(-3).broadcast((*batch, own, heads // own, length, width))
    return grouped.reshape((*batch, heads, length, width))


def differentiate_attention(
    gradient: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    scale: float,
    *,
    causal: bool,
) -> tuple[Array, Array, Array, Array]:
    """The gradients of query, key, value, and of the scores."""
    weights = softmax(score(query, key, mask, scale, causal=causal)[0], -1)
    slopes = gradient @ value.transpose()
    of_scores = (slopes - (slopes * weights).sum(-1)) * weights
    scaled = of_scores * scale
    return (
        scaled @ key,
        scaled.transpose() @ query,
        weights.transpose() @ gradient,
        of_scores,
    )
