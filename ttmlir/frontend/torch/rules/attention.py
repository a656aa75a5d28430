"""Attention: with a mask, in fused forms that remember what their gradient needs, and gradients."""

from __future__ import annotations

import math

from ttmlir.composites import normalization
from ttmlir.frontend.torch.call import Result, TorchCall, TorchRule


def _scale(call: TorchCall) -> float:
    width = call.argument("query").shape[-1]
    return float(call["scale"]) if call.has("scale") else 1 / math.sqrt(width)


def _attention(call: TorchCall) -> Result:
    """softmax(query @ key^T * scale + mask) @ value."""
    query, key, value, mask = map(call.argument, ("query", "key", "value", "attn_mask"))
    if call["dropout_p"]:
        call.refuse(
            f"dropout with probability {call['dropout_p']} is random; call eval() on the module, "
            "or pass dropout_p=0.0"
        )
    if call["enable_gqa"]:
        key, value = (normalization.repeat_heads(each, query.shape[-3]) for each in (key, value))
    scores, _ = normalization.score(query, key, mask, _scale(call), causal=call["is_causal"])
    weights = normalization.weigh(scores, normalization.seen_keys(mask))
    return call.results(weights @ value)


# -- fused forms -------------------------------------------------------------------------------


def _check_no_dropout(call: TorchCall) -> None:
    if call["dropout_p"]:
        call.refuse(
            "a fused attention with dropout has random numbers of its own; trace with "
            "torch.nn.attention.sdpa_kernel(SDPBackend.MATH), or pass dropout_p=0.0"
        )


def _fused(mask: str) -> TorchRule:
    """The result, and the logarithms of the sums that softmax divides by."""

    def rule(call: TorchCall) -> Result:
        _check_no_dropout(call)
        query, key, value, added = map(call.argument, ("query", "key", "value", mask))
        key, value = (normalization.repeat_heads(each, query.shape[-3]) for each in (key, value))
        scores, _ = normalization.score(query, key, added, _scale(call), causal=call["is_causal"])
        weights = normalization.weigh(scores, normalization.seen_keys(added))
        missing = [None] * (len(call.node.meta["val"]) - 2)
        return call.results((weights @ value, normalization.log_sum_exp(scores, -1), *missing))

    return rule


def _fused_backward(gradient: str, mask: str) -> TorchRule:
    """The gradients of query, key and value, and of a mask that is added, from softmax anew."""

    def rule(call: TorchCall) -> Result:
        _check_no_dropout(call)
        *found, of_scores = normalization.differentiate_attention(
            call.argument(gradient),
            call.argument("query"),
            call.argument("key"),
            call.argument("value"),
            call.argument(mask),
            _scale(call),
            causal=call["is_causal"],
        )
        if len(call.node.meta["val"]) == len(found):
            return call.results(found)
        if not call.has(mask) or call.node.meta["val"][-1] is None:
            return call.results((*found, None))
        # Summed over what the mask was repeated for.
        extents = zip(of_scores.shape, call.result_type(3).get_shape(), strict=True)
        dims = [dim for dim, (whole, own) in enumerate(extents) if whole != own]
        return call.results((*found, of_scores.sum(*dims)))

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
