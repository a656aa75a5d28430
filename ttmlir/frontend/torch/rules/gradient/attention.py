"""Fused forms of attention that remember what their gradient needs, and their gradients."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from ttmlir.frontend.torch.building import BodyBuilder
from ttmlir.frontend.torch.call import Result, TorchCall, TorchRule
from ttmlir.frontend.torch.rules.contraction import create_causal_mask, product, swap
from ttmlir.frontend.torch.rules.normalization import softmax
from ttmlir.ir.tensor_types import element_type, value_shape


def _attention(mask: str) -> TorchRule:
    """The result, and the logarithms of the sums that softmax divides by."""

    def rule(call: TorchCall) -> Result:
        build = call.build
        scores = _scores(call, mask)
        value = product(build, softmax(build, scores, -1), call.tensor("value"))

        def of_sums() -> SSAValue:
            dims = (len(value_shape(scores)) - 1,)
            largest = build.reduce("max", scores, dims)
            shifted = build.compute("exp", build.compute("subtract", scores, largest))
            total = build.compute("log", build.reduce("sum", shifted, dims))
            type_ = call.result_type(1)
            logarithms = build.reshape(build.compute("add", total, largest), type_.get_shape())
            return build.cast(logarithms, type_.element_type)

        return (value, of_sums, *(None for _ in range(len(call.node.meta["val"]) - 2)))

    return rule


def _attention_backward(gradient: str, mask: str) -> TorchRule:
    """The gradients of query, key and value, and of a mask that is added, from softmax anew."""

    def rule(call: TorchCall) -> Result:
        build = call.build
        query, key, value = (call.tensor(name) for name in ("query", "key", "value"))
        upstream = call.tensor(gradient)
        weights = softmax(build, _scores(call, mask), -1)
        slopes = product(build, upstream, swap(build, value))
        weighted = build.compute("multiply", slopes, weights)
        total = build.reduce("sum", weighted, (len(value_shape(weighted)) - 1,))
        centered = build.compute("subtract", slopes, total)
        of_scores = build.compute("multiply", centered, weights)
        scaled = build.compute("multiply", of_scores, build.create_number(_scale(call), of_scores))
        results = (
            product(build, scaled, key),
            product(build, swap(build, scaled), query),
            product(build, swap(build, weights), upstream),
        )
        if len(call.node.meta["val"]) == len(results):
            return results
        is_added = call.has(mask) and call.node.meta["val"][-1] is not None
        return (*results, _summed(build, of_scores, call) if is_added else None)

    return rule


def _summed(build: BodyBuilder, gradient: SSAValue, call: TorchCall) -> SSAValue:
    """The gradient of a mask, summed over what it was repeated for."""
    shape = call.result_type(3).get_shape()
    dims = [i for i, (a, b) in enumerate(zip(value_shape(gradient), shape, strict=True)) if a != b]
    return build.reduce("sum", gradient, dims)


def _scale(call: TorchCall) -> float:
    width = value_shape(call.tensor("query"))[-1]
    return float(call["scale"]) if call.has("scale") else 1 / math.sqrt(width)


def _scores(call: TorchCall, mask: str) -> SSAValue:
    """What softmax is taken of."""
    build, query, key = call.build, call.tensor("query"), call.tensor("key")
    if call["dropout_p"]:
        call.refuse(
            "a fused attention with dropout has random numbers of its own; trace with "
            "torch.nn.attention.sdpa_kernel(SDPBackend.MATH), or pass dropout_p=0.0"
        )
    scores = product(build, query, swap(build, key))
    scores = build.compute("multiply", scores, build.create_number(_scale(call), scores))
    if call["is_causal"]:
        rows, columns = value_shape(scores)[-2:]
        return _hide(build, create_causal_mask(build, rows, columns), scores)
    added = call.optional(mask)
    if added is None:
        return scores
    if element_type(added) == i1:
        return _hide(build, added, scores)
    return build.compute("add", scores, build.cast(added, element_type(scores)))


def _hide(build: BodyBuilder, allowed: SSAValue, scores: SSAValue) -> SSAValue:
    return build.compute("where", allowed, scores, build.create_number(-math.inf, scores))


RULES: dict[str, TorchRule] = {
    "_scaled_dot_product_efficient_attention": _attention("attn_bias"),
    "_scaled_dot_product_efficient_attention_backward": _attention_backward(
        "grad_out_", "attn_bias"
    ),
    "_scaled_dot_product_flash_attention_for_cpu": _attention("attn_mask"),
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward(
        "grad_out", "attn_mask"
    ),
}
"""Rules by the name of the ATen operation."""
