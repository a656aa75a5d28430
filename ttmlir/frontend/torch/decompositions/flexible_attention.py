"""`flex_attention`: attention whose scores and masks are functions of the user, all at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.replacing import attributes_replaced


def flexible_attention_written_out() -> AbstractContextManager[None]:
    """Let torch's operator, which has no ATen form, be operations that have one."""
    module: Any = import_module("torch._higher_order_ops.flex_attention")
    # Its own call, not the operator, is replaced: others hold that.
    return attributes_replaced(module.FlexAttentionHOP, {"__call__": _call})


def _call(_: Any, *args: Any, **keywords: Any) -> Any:
    return _attend(*args, **keywords)


def _attend(
    query: Any,
    key: Any,
    value: Any,
    change_score: Callable[..., Any],
    block_mask: Sequence[Any],
    scale: float,
    _options: Any,
    score_tensors: Sequence[Any] = (),
    mask_tensors: Sequence[Any] = (),
) -> tuple[Any, Any, Any]:
    """The result, and base-2 logarithms of the sums of exponentials, and of the largest of them.

    Queries are (batch, heads, rows, width); heads of keys and values are shared by as many of the
    queries as there are more. The last item of the block mask is the function that masks.
    """
    torch = torch_package()
    heads = query.shape[1] // key.shape[1]
    key, value = (
        each.repeat_interleave(heads, dim=1).expand(len(query), -1, -1, -1) for each in (key, value)
    )
    working = torch.float64 if query.dtype == torch.float64 else torch.float32
    scores = (query.to(working) @ key.to(working).mT) * scale
    places = [torch.arange(extent) for extent in scores.shape]
    # Indexing by one of the places is a lookup, not a number that Python would have to know.
    lookups: Any = import_module("torch._dynamo._trace_wrapped_higher_order_op")
    with lookups.TransformGetItemToIndex():
        scores = _over_places(change_score, (0,), score_tensors)(scores, *places, *score_tensors)
        seen = _over_places(block_mask[-1], (), mask_tensors)(*places, *mask_tensors)
    scores = scores.to(working).masked_fill(~seen, -math.inf)
    weights = scores.softmax(-1).masked_fill(~seen.any(-1, keepdim=True), 0)
    return (
        weights.to(query.dtype) @ value,
        scores.logsumexp(-1) / math.log(2),
        scores.amax(-1) / math.log(2),
    )


def _over_places(
    function: Callable[..., Any], first: tuple[int, ...], tensors: Sequence[Any]
) -> Callable[..., Any]:
    """A function of one score and place, over (batch, head, row of query, row of key)."""
    for place in (3, 2, 1, 0):
        along = [0 if each == place else None for each in range(4)]
        in_dims = (*first, *along, *[None] * len(tensors))
        function = torch_package().vmap(function, in_dims=in_dims)
    return function
