"""Verifiers of 2026: norms of training with their gradients, and linear attention."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import bf16, f32

from ttmlir.dialects.late_checks.verified import Verified, is_integer, join, require, spell

_IMAGE = "input must be rank 4 (B, N, S, C)"


def _same_elements(op: Verified, names: tuple[str, ...], message: str) -> None:
    """One element type of operands and results."""
    expected = op.element("input")
    results = (op.result_element(number) for number in range(len(op.op.results)))
    require(all(found == expected for found in (*map(op.element, names), *results)), message)


def _check_scale(op: Verified, name: str) -> None:
    """A number for each channel."""
    channels = op.shape("input")[-1]
    require(op.shape(name) == (1, 1, 1, channels), f"{name} must have shape (1, 1, 1, {channels})")


def _check_cross_entropy(op: Verified) -> tuple[int, ...]:
    """Scores of classes by rows, and the number of the right class for each row."""
    shape, target = op.shape("input"), op.shape("target")
    require(len(shape) == 4, f"input must be a 4D tensor (N, 1, H, W), got rank {len(shape)}")
    require(shape[1] == 1, f"input dim 1 must be 1, got {shape[1]}")
    require(len(target) == 2, f"target must be a 2D tensor (N, H), got rank {len(target)}")
    for number, other in ((0, 0), (1, 2)):
        require(
            target[number] == shape[other],
            f"target dim {number} ({target[number]}) must match input dim {other} ({shape[other]})",
        )
    require(
        is_integer(op.element("target")),
        f"target must have an integer element type, got {spell(op.element('target'))}",
    )
    return shape


def check_cross_entropy_forward(op: Verified) -> None:
    """A loss for each row."""
    shape = _check_cross_entropy(op)
    expected = (*shape[:3], 1)
    require(
        op.result() == expected,
        "result shape must be input shape with the last dimension set to 1, expected "
        f"{join(expected)}, got {join(op.result())}",
    )


def check_cross_entropy_backward(op: Verified) -> None:
    """The gradient of the scores, by that of one number."""
    shape, grad = _check_cross_entropy(op), op.shape("grad_output")
    require(grad == (1, 1, 1, 1), f"grad must be a (1, 1, 1, 1) tensor, got {join(grad)}")
    require(
        op.result() == shape,
        f"result shape must match input shape, expected {join(shape)}, got {join(op.result())}",
    )


def check_softmax_backward(op: Verified) -> None:
    """The gradient along the last dimension, of the type of what softmax made."""
    shape, element = op.shape("softmax_output"), op.element("softmax_output")
    require(len(shape) >= 2, "softmax_output must have rank at least 2")
    for name, found, kind in (
        ("grad", op.shape("grad"), op.element("grad")),
        ("result", op.result(), op.result_element()),
    ):
        require(found == shape, f"{name} shape must match softmax_output shape")
        require(kind == element, f"{name} element type must match softmax_output element type")
    require(element in (bf16, f32), "only bf16 and f32 element types are supported")
    require(
        op.integer("dimension") in (-1, len(shape) - 1), "dimension must select the last dimension"
    )


def check_layernorm_forward(op: Verified) -> None:
    """Input, weight and bias of four dimensions; mean and deviation where they are asked for."""
    shape = op.shape("input")
    require(len(shape) == 4, _IMAGE)
    require(
        op.rank("weight") == op.rank("bias") == 4, "weight and bias must be rank 4 (1, 1, 1, C)"
    )
    _check_scale(op, "weight")
    _check_scale(op, "bias")
    require(op.result() == shape, "output must have the same shape as input")
    elements = {op.element("input"), op.element("weight"), op.element("bias"), op.result_element()}
    require(len(elements) == 1, "input, weight, bias and output must have the same element type")
    wanted = 3 if op.get("return_mean_rstd") else 1
    require(
        len(op.op.results) == wanted,
        "mean and rstd results must be present iff return_mean_rstd is true",
    )
    for number, name in enumerate(("mean", "rstd")[: wanted - 1], 1):
        require(op.result(number) == (*shape[:3], 1), f"{name} must have shape (B, N, S, 1)")
    require(
        {op.result_element(number) for number in range(wanted)} == {op.element("input")},
        "mean and rstd must have the same element type as input",
    )


def check_layernorm_backward(op: Verified) -> None:
    """The gradients have the shapes of what they are gradients of."""
    names = ("input", "gamma", "mean", "rstd", "dL_dout")
    require(all(op.rank(name) == 4 for name in names), "all inputs must be rank 4")
    _check_scale(op, "gamma")
    shape, gamma = op.shape("input"), op.shape("gamma")
    require(
        op.shape("mean") == op.shape("rstd") == (*shape[:3], 1),
        "mean and rstd must have shape (B, N, S, 1)",
    )
    require(op.shape("dL_dout") == shape, "dL_dout must have the same shape as input")
    require(len({*map(op.element, names)}) == 1, "all inputs must have the same element type")
    require(op.result(0) == shape, "dx must have the same shape as input")
    require(
        op.result(1) == op.result(2) == gamma, "dgamma and dbeta must have the same shape as gamma"
    )
    _same_elements(op, (), "all outputs must have the same element type as input")


def _check_rms_input(op: Verified) -> None:
    require(op.rank("input") == 4, _IMAGE)
    require(op.rank("gamma") == 4, "gamma must be rank 4 (1, 1, 1, C)")
    _check_scale(op, "gamma")


def check_rmsnorm_forward(op: Verified) -> None:
    """Input and weight of four dimensions; the root of the mean square where it is asked for."""
    _check_rms_input(op)
    shape = op.shape("input")
    require(op.result() == shape, "output must have the same shape as input")
    require(
        op.element("input") == op.element("gamma") == op.result_element(),
        "input, gamma and output must have the same element type",
    )
    has_rms = len(op.op.results) == 2
    require(
        has_rms == bool(op.get("return_intermediates")),
        "rms result must be present iff return_intermediates is true",
    )
    if has_rms:
        require(op.result(1) == (*shape[:3], 1), "rms must have shape (B, N, S, 1)")
        require(
            op.result_element(1) == op.element("input"),
            "rms must have the same element type as input",
        )


def check_rmsnorm_backward(op: Verified) -> None:
    """The gradients have the shapes of what they are gradients of."""
    _check_rms_input(op)
    shape = op.shape("input")
    require(op.shape("rms") == (*shape[:3], 1), "rms must have shape (B, N, S, 1)")
    require(op.shape("grad_output") == shape, "grad_output must have the same shape as input")
    require(op.result(0) == shape, "grad_input must have the same shape as input")
    require(op.result(1) == op.shape("gamma"), "grad_gamma must have the same shape as gamma")
    _same_elements(
        op,
        ("gamma", "rms", "grad_output"),
        "all operands and results must have the same element type",
    )


# --- Linear attention -----------------------------------------------------------------------------

_TILE = 32
_CONSTANTS = ("eye", "tril", "ones")


def check_chunked_delta_rule(op: Verified) -> None:
    """Queries, keys and values by head, or flat; gates of each position and head of the values."""
    query, value, gate = op.shape("query"), op.shape("value"), op.shape("g")
    require(len(query) in (3, 4), "query and key must be rank-3 or rank-4 tensors")
    require(
        op.value("query").type == op.value("key").type, "query and key must have identical types"
    )
    require(len(value) in (3, 4), "value must be a rank-3 or rank-4 tensor")
    require(len(gate) == op.rank("beta") == 3, "g and beta must be rank-3 tensors")
    require(op.value("g").type == op.value("beta").type, "g and beta must have identical types")
    require(
        query[:2] == value[:2] == gate[:2],
        "query, key, value, g, and beta must share batch and sequence dimensions",
    )
    heads = gate[2] if len(value) == 3 else value[2]
    require(heads > 0, "value head count must be positive")
    require(gate[2] == heads, "g and beta last dimension must equal value heads")
    width = prod(value[2:])
    require(width % heads == 0, "flat value width must be divisible by value heads")
    size = width // heads
    require(size > 0, "value head dimension must be positive")
    # Of flat queries, the state says how wide a head is, or it is as wide as a value's.
    is_flat = len(query) == 3
    key_size = query[3] if not is_flat else size
    if is_flat and op.has("initial_state") and op.rank("initial_state") == 4:
        key_size = op.shape("initial_state")[2]
    require(
        key_size > 0 and prod(query[2:]) % key_size == 0,
        "flat query/key width must be divisible by the inferred head dimension",
    )
    key_heads = prod(query[2:]) // key_size
    require(key_heads > 0, "query/key head count and dimension must be positive")
    require(heads % key_heads == 0, "value heads must be divisible by query/key heads")
    chunk = op.integer("chunk_size")
    require(chunk > 0 and chunk % _TILE == 0, "chunk_size must be a positive multiple of 32")
    require(key_size % _TILE == 0, "key head dimension must be a multiple of 32")
    require(size % _TILE == 0, "value head dimension must be a multiple of 32")
    if is_flat or len(value) == 3:
        require(
            query[1] % chunk == 0,
            "flat Q/K/V inputs require sequence length to be divisible by chunk_size",
        )
    require(not is_flat or chunk == _TILE, "flat query/key inputs require chunk_size to be 32")
    require(not op.get("use_qk_l2norm"), "use_qk_l2norm is not supported by tt-metal")
    state = (query[0], heads, key_size, size)
    if op.has("initial_state"):
        require(op.shape("initial_state") == state, "initial_state must have shape [B, HV, K, V]")
    _check_chunk_constants(op, chunk)
    by_head = (query[0], heads, query[1], size)
    by_position = (query[0], query[1], heads, size)
    require(
        op.result() == (by_head if op.get("output_head_major") else by_position),
        "output shape does not match output_head_major",
    )
    has_state = len(op.op.results) == 2
    require(
        has_state == bool(op.get("output_final_state")),
        "final_state must be present exactly when output_final_state is true",
    )
    require(not has_state or op.result(1) == state, "final_state must have shape [B, HV, K, V]")


def _check_chunk_constants(op: Verified, chunk: int) -> None:
    names = (*_CONSTANTS, "masks")
    there = [op.has(name) for name in names]
    require(
        all(there) or not any(there),
        "eye, tril, ones, and masks must either all be present or all be absent",
    )
    if not any(there):
        return
    for name in _CONSTANTS:
        require(
            op.shape(name) == (1, 1, chunk, chunk) and op.element(name) == f32,
            f"{name} must be an f32 tensor with shape [1, 1, chunk_size, chunk_size]",
        )
    require(
        op.shape("masks") == (1, 1, _TILE, 3 * _TILE) and op.element("masks") == f32,
        "masks must be an f32 tensor with shape [1, 1, 32, 96]",
    )
