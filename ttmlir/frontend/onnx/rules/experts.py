"""Mixtures of experts: layers of which each row passes a few, with their own weights.

All rows pass all experts, and those that were not chosen for a row count 0 times.
"""

from __future__ import annotations

import math

import numpy as np

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import normalization
from ttmlir.composites.arithmetic import tanh_gelu
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.frontend.onnx.rules.elementwise import swish
from ttmlir.frontend.onnx.rules.fused import attribute
from ttmlir.frontend.onnx.rules.quantized import unpack


def _mix(call: Call) -> Array:
    return _run(call, *(call.optional(f"fc{layer}_experts_weights") for layer in (1, 2, 3)))


def _mix_quantized(call: Call) -> Array:
    if (kind := str(attribute(call, "quant_type", "int"))) != "int":
        call.refuse(f"quant_type is '{kind}'; weights that are integers ('int') are supported")
    if attribute(call, "weights_prepacked", -1) > 0:
        call.refuse("weights in an order for one processor (weights_prepacked) are not supported")
    return _run(call, *(_weight(call, layer) for layer in (1, 2, 3)))


def _weight(call: Call, layer: int) -> Array | None:
    """The weights (experts, rows, columns) of a layer, which have scales for rows or blocks."""
    packed, scales = (call.optional(f"fc{layer}_{name}") for name in ("experts_weights", "scales"))
    if packed is None:
        return None
    bits = int(
        attribute(call, f"fc{layer}_expert_weight_bits", attribute(call, "expert_weight_bits", 4))
    )
    if scales is None or packed.rank != 3 or scales.rank not in (2, 3):
        call.refuse(f"fc{layer}_scales have to be given, with 2 or 3 dimensions, and weights of 3")
    experts, rows, width = packed.shape
    columns = width * 8 // max(bits, 1)
    weight = unpack(call, packed, bits, columns).cast("f32")
    scales = scales.cast("f32")
    blocks = 1 if scales.rank == 2 else scales.shape[2]
    if scales.shape[:2] != (experts, rows) or not blocks or columns % blocks:
        call.refuse(
            f"fc{layer}_scales of {list(scales.shape)} do not fit weights of "
            f"{[experts, rows, columns]}"
        )
    zeros = call.optional(f"fc{layer}_zero_points")
    if zeros is None:
        point: Array | int = 1 << (bits - 1)
    else:
        # Without blocks those of all rows are packed into bytes, else those of a row's blocks.
        count = rows if scales.rank == 2 else blocks
        point = unpack(call, zeros, bits, count).cast("f32").reshape((experts, rows, blocks, 1))
    apart = weight.reshape((experts, rows, blocks, columns // blocks))
    whole = (apart - point) * scales.reshape((experts, rows, blocks, 1))
    return whole.reshape((experts, rows, columns))


def _run(call: Call, first: Array | None, second: Array | None, third: Array | None) -> Array:
    if call["use_sparse_mixer"]:
        call.refuse("use_sparse_mixer is not supported")
    x = call.of_rank("input", 2, 3)
    router = call.of_rank("router_probs", 2)
    rows = x.reshape((math.prod(x.shape[:-1]), x.shape[-1]))
    if first is None or second is None or first.rank != 3 or second.rank != 3:
        call.refuse("weights of the layers 1 and 2 have to be given, with 3 dimensions")
    experts, count = first.shape[0], int(attribute(call, "k", 1))
    if router.shape != (rows.shape[0], experts) or not 1 <= count <= experts:
        call.refuse(
            f"{count} experts are chosen of {experts} for {rows.shape[0]} rows; router_probs has "
            f"the shape {list(router.shape)}"
        )
    wide = rows.cast("f32").unsqueeze(0)
    hidden = _layer(call, 1, wide, first)
    gate = None if third is None else _layer(call, 3, wide, third)
    found = _layer(call, 2, _activate(call, hidden, gate), second)
    shares = _shares(call, router.cast("f32"), count).transpose().unsqueeze(2)
    return (found * shares).sum(0, keep=False).cast(x.dtype).reshape(x.shape)


def _layer(call: Call, layer: int, x: Array, weight: Array) -> Array:
    """What rows (experts or 1, rows, columns) become in each expert."""
    if weight.shape[2] != x.shape[2]:
        call.refuse(
            f"the weights of layer {layer} have the shape {list(weight.shape)}, and rows "
            f"{x.shape[2]} numbers"
        )
    product = x @ weight.cast("f32").transpose()
    bias = call.optional(f"fc{layer}_experts_bias")
    return product if bias is None else product + bias.cast("f32").unsqueeze(1)


def _shares(call: Call, router: Array, count: int) -> Array:
    """How often each expert counts for each row (rows, experts): 0 if it was not chosen."""
    scores, places = router.sort(1, descending=True, stable=True)
    places = places.cut(1, 0, count)
    numbers = array_of(np.arange(router.shape[1])).reshape((1, 1, router.shape[1]))
    is_chosen = places.unsqueeze(2).eq(numbers)
    weights = call.optional("router_weights")
    if weights is None:
        # Softmax of all or of those that were chosen, as onnxruntime always has it in `QMoE`.
        is_normal = call.operator == "QMoE" or call["normalize_routing_weights"]
        scores = normalization.softmax(scores.cut(1, 0, count) if is_normal else scores, 1)
        shares = scores.cut(1, 0, count).unsqueeze(2)
    else:
        shares = weights.cast("f32").unsqueeze(1)
    chosen = is_chosen.where(shares, 0.0)
    found = chosen.sum(1, keep=False)
    if weights is not None and attribute(call, "normalize_routing_weights", 0):
        found = found / found.sum(1)
    return found


def _activate(call: Call, x: Array, gate: Array | None) -> Array:
    kind = str(attribute(call, "activation_type", "relu"))
    if kind == "swiglu":
        return _swiglu(call, x, gate)
    functions = {
        "relu": x.relu,
        "gelu": lambda: tanh_gelu(x),
        "silu": x.silu,
        "identity": lambda: x,
    }
    if kind not in functions:
        call.refuse(f"activation_type is '{kind}'; supported are swiglu, {', '.join(functions)}")
    found = functions[kind]()
    return found if gate is None else found * gate


def _swiglu(call: Call, x: Array, linear: Array | None) -> Array:
    """`g * sigmoid(alpha * g) * (l + beta)` of two halves, which may stand in turns."""
    fusion = int(attribute(call, "swiglu_fusion", 0))
    if call["swiglu_limit_after_activation"]:
        call.refuse("swiglu_limit_after_activation is not supported")
    half = x.shape[2] // 2
    if fusion and (linear is not None or x.shape[2] % 2):
        call.refuse("with swiglu_fusion layer 1 has both halves, and there is no layer 3")
    if fusion == 1:
        pairs = x.reshape((*x.shape[:2], half, 2))
        gate, linear = (pairs.cut(3, place, place + 1).squeeze(3) for place in (0, 1))
    elif fusion:
        gate, linear = x.cut(2, 0, half), x.cut(2, half, 2 * half)
    else:
        gate = x
    if linear is None:
        call.refuse("without swiglu_fusion there has to be a layer 3")
    limit = call["swiglu_limit"]
    if limit is not None:
        gate, linear = gate.limit(-math.inf, float(limit)), linear.limit(-limit, float(limit))
    alpha, beta = (
        float(attribute(call, f"activation_{name}", default))
        for name, default in (("alpha", 1), ("beta", 0))
    )
    return swish(gate, alpha) * (linear + beta)


RULES: dict[str, Rule] = {"MoE": _mix, "QMoE": _mix_quantized}
"""Rules by the names of operators of the domain `com.microsoft`."""

INPUTS: dict[str, str] = {
    "MoE": "input router_probs fc1_experts_weights fc1_experts_bias fc2_experts_weights "
    "fc2_experts_bias fc3_experts_weights fc3_experts_bias",
    "QMoE": "input router_probs fc1_experts_weights fc1_scales fc1_experts_bias "
    "fc2_experts_weights fc2_scales fc2_experts_bias fc3_experts_weights fc3_scales "
    "fc3_experts_bias fc1_zero_points fc2_zero_points fc3_zero_points router_weights",
}
"""Names of inputs, in their order."""
