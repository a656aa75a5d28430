"""Attention: with a mask, in fused forms that remember what their gradient needs, and gradients."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from ttmlir.frontend.torch.building import BodyBuilder
from ttmlir.frontend.torch.call import Result, TorchCall, TorchRule
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.rules.contraction import product, swap
from ttmlir.frontend.torch.rules.normalization import softmax
from ttmlir.ir.tensor_types import element_type, value_shape


def _scale(call: TorchCall) -> float:
    width = value_shape(call.tensor("query"))[-1]
    return float(call["scale"]) if call.has("scale") else 1 / math.sqrt(width)


def _scores(call: TorchCall, mask: str, key: SSAValue) -> tuple[SSAValue, SSAValue | None]:
    """What softmax is taken of, and where it is not hidden."""
    build = call.build
    scores = build.array(product(build, call.tensor("query"), swap(build, key))) * _scale(call)
    allowed: SSAValue | None = None
    if call["is_causal"]:
        # What each row may look at is on and below the diagonal.
        torch = torch_package()
        allowed = build.create_tensor(torch.ones(scores.shape[-2:], dtype=torch.bool).tril())
    elif (added := call.optional(mask)) is not None:
        if element_type(added) == i1:
            allowed = added
        else:
            scores = scores + build.array(added).cast(scores.dtype)
    if allowed is not None:
        scores = build.array(allowed).where(scores, -math.inf)
    return scores.value, allowed


def _attention(call: TorchCall) -> SSAValue:
    """softmax(query @ key^T * scale + mask) @ value; rows without any key are 0."""
    build = call.build
    query, key, value = (call.tensor(name) for name in ("query", "key", "value"))
    if call["dropout_p"]:
        call.refuse(
            f"dropout with probability {call['dropout_p']} is random; call eval() on the module, "
            "or pass dropout_p=0.0"
        )
    if call["enable_gqa"]:
        key, value = (_each_head_repeated(build, x, value_shape(query)[-3]) for x in (key, value))
    scores, allowed = _scores(call, "attn_mask", key)
    weights = softmax(build, scores, -1)
    if allowed is not None and not call["is_causal"]:
        some = build.reduce("reduce_or", allowed, (len(value_shape(allowed)) - 1,))
        weights = build.array(some).where(build.array(weights), 0.0).value
    return product(build, weights, value)


def _each_head_repeated(build: BodyBuilder, x: SSAValue, heads: int) -> SSAValue:
    """Each head as often as queries share it."""
    *batch, own, length, width = value_shape(x)
    grouped = build.reshape(x, (*batch, own, 1, length, width))
    grouped = build.broadcast(grouped, (*batch, own, heads // own, length, width))
    return build.reshape(grouped, (*batch, heads, length, width))


# -- fused forms -------------------------------------------------------------------------------


def _fused_scores(call: TorchCall, mask: str) -> SSAValue:
    if call["dropout_p"]:
        call.refuse(
            "a fused attention with dropout has random numbers of its own; trace with "
            "torch.nn.attention.sdpa_kernel(SDPBackend.MATH), or pass dropout_p=0.0"
        )
    return _scores(call, mask, call.tensor("key"))[0]


def _fused(mask: str) -> TorchRule:
    """The result, and the logarithms of the sums that softmax divides by."""

    def rule(call: TorchCall) -> Result:
        build = call.build
        scores = _fused_scores(call, mask)
        value = product(build, softmax(build, scores, -1), call.tensor("value"))

        def of_sums() -> SSAValue:
            x = build.array(scores)
            largest = x.max(-1)
            logarithms = (x - largest).exp().sum(-1).log() + largest
            type_ = call.result_type(1)
            return build.cast(logarithms.reshape(type_.get_shape()).value, type_.element_type)

        return (value, of_sums, *(None for _ in range(len(call.node.meta["val"]) - 2)))

    return rule


def _fused_backward(gradient: str, mask: str) -> TorchRule:
    """The gradients of query, key and value, and of a mask that is added, from softmax anew."""

    def rule(call: TorchCall) -> Result:
        build = call.build
        query, key, value = (call.tensor(name) for name in ("query", "key", "value"))
        upstream = call.tensor(gradient)
        weights = build.array(softmax(build, _fused_scores(call, mask), -1))
        slopes = build.array(product(build, upstream, swap(build, value)))
        of_scores = (slopes - (slopes * weights).sum(-1)) * weights
        scaled = (of_scores * _scale(call)).value
        results = (
            product(build, scaled, key),
            product(build, swap(build, scaled), query),
            product(build, swap(build, weights.value), upstream),
        )
        if len(call.node.meta["val"]) == len(results):
            return results
        if not call.has(mask) or call.node.meta["val"][-1] is None:
            return (*results, None)
        # Summed over what the mask was repeated for.
        extents = zip(of_scores.shape, call.result_type(3).get_shape(), strict=True)
        dims = [dim for dim, (whole, own) in enumerate(extents) if whole != own]
        return (*results, of_scores.sum(*dims).value)

    return rule


RULES: dict[str, TorchRule] = {
    "_scaled_dot_product_efficient_attention": _fused("attn_bias"),
    "_scaled_dot_product_efficient_attention_backward": _fused_backward("grad_out_", "attn_bias"),
    "_scaled_dot_product_flash_attention_for_cpu": _fused("attn_mask"),
    "_scaled_dot_product_flash_attention_for_cpu_backward": _fused_backward(
        "grad_out", "attn_mask"
    ),
    "scaled_dot_product_attention": _attention,
}
"""Rules by the name of the ATen operation."""
