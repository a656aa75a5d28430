"""Attention with a state that each token corrects: the gated delta rule."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.arguments import take_tensors
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_flag,
    common_device,
    is_strict,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout

_CHUNKS = (32, 64)
_EPSILON = 1e-6
"""Under the root of the length of a query or a key."""
_OPERANDS = ("q", "k", "v", "g", "beta")


def _describe(tensors: tuple[Tensor, ...]) -> str:
    return ", ".join(f"{name} {each.shape}" for name, each in zip(_OPERANDS, tensors, strict=True))


def _read(values: dict[str, Any], *, may_be_flat: bool) -> tuple[list[Array], tuple[Tensor, ...]]:
    """Queries, keys and values (B, T, heads, columns), decays and gates (B, T, heads)."""
    given = take_tensors(values, *_OPERANDS)
    arrays = [each.array.astype(np.float64) for each in given]
    q, k, v, g, beta = arrays
    if may_be_flat and q.ndim == 3 and v.ndim == 3 and g.ndim == 3 and g.shape[-1]:
        heads = g.shape[-1]
        depth = v.shape[-1] // heads
        if not depth or v.shape[-1] % heads or q.shape[-1] % depth or k.shape != q.shape:
            raise ArgumentError(f"columns are not divided into {heads} heads: {_describe(given)}")
        q, k, v = (each.reshape(*each.shape[:2], -1, depth) for each in (q, k, v))
        q, k = (
            each / np.sqrt(np.square(each).sum(-1, keepdims=True) + _EPSILON) for each in (q, k)
        )
    ranks = [each.ndim for each in (q, k, v, g, beta)]
    fit = (
        ranks == [4, 4, 4, 3, 3]
        and q.shape == k.shape
        and q.shape[:2] == v.shape[:2]
        and v.shape[:3] == g.shape == beta.shape
        and q.shape[2] > 0
        and v.shape[2] % q.shape[2] == 0
    )
    if not fit:
        raise ArgumentError(
            "q and k are (B, T, H, K), v (B, T, HV, V), g and beta (B, T, HV), HV a multiple of H, "
            f"not {_describe(given)}"
        )
    count = v.shape[2] // q.shape[2]
    return [q.repeat(count, 2), k.repeat(count, 2), v, g, beta], given


def _first_state(values: dict[str, Any], shape: tuple[int, ...]) -> Array:
    """The state before the first token."""
    if values["initial_state"] is None:
        return np.zeros(shape)
    state = require_tensor(values["initial_state"], "initial_state")
    if tuple(state.shape) != shape:
        raise ArgumentError(f"initial_state has {state.shape}; it is {list(shape)}")
    common_device(state)
    return state.array.astype(np.float64)


def _recur(arrays: list[Array], scale: float | None, state: Array) -> tuple[Array, list[Array]]:
    """What each token reads from the state, which it corrects first, and the states behind them."""
    q, k, v, g, beta = arrays
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    found, states = np.empty(v.shape), list[Array]()
    with np.errstate(all="ignore"):
        for token in range(q.shape[1]):
            query, key, value = (each[:, token] for each in (q, k, v))
            state = state * np.exp(g[:, token])[..., None, None]
            error = value - np.einsum("bhkv,bhk->bhv", state, key)
            state = state + np.einsum("bhk,bhv->bhkv", key, error * beta[:, token, :, None])
            found[:, token] = np.einsum("bhkv,bhk->bhv", state, query * factor)
            states.append(state)
    return found, states


def _keep(array: Array, given: tuple[Tensor, ...], layout: Layout, config: Any = None) -> Tensor:
    return store(
        array,
        given,
        device=common_device(*given),
        dtype=DataType.FLOAT32,
        layout=layout,
        memory_config=config,
    )


def _state_shape(arrays: list[Array]) -> tuple[int, ...]:
    q, _, v, *_ = arrays
    return (v.shape[0], v.shape[2], q.shape[3], v.shape[3])


def _refuse_lengths(values: dict[str, Any]) -> None:
    if as_flag(values["use_qk_l2norm"], "use_qk_l2norm"):
        raise ArgumentError("use_qk_l2norm=True is not supported: divide q and k by their lengths")


def _chunk(values: dict[str, Any]) -> tuple[Tensor, Tensor | None]:
    """All tokens; what a card does in chunks gives the same."""
    _refuse_lengths(values)
    size = values["chunk_size"]
    if size not in _CHUNKS:
        raise ArgumentError(f"chunk_size is 32 or 64, not {size}")
    arrays, given = _read(values, may_be_flat=True)
    is_flat, tokens = len(given[0].shape) == 3, given[0].shape[1]
    if is_flat and is_strict(given[0]) and (size != _CHUNKS[0] or tokens % size):
        raise ArgumentError(
            f"heads that are joined take chunk_size=32, and tokens in multiples of it, not {tokens}"
        )
    shape = _state_shape(arrays)
    found, states = _recur(arrays, values["scale"], _first_state(values, shape))
    layout = Layout.ROW_MAJOR
    if as_flag(values["output_head_major"], "output_head_major"):
        found, layout = found.swapaxes(1, 2).reshape(-1, tokens, shape[-1]), Layout.TILE
    made = _keep(found, given, layout, values["memory_config"])
    if not as_flag(values["output_final_state"], "output_final_state"):
        return made, None
    return made, _keep(states[-1], given, Layout.TILE)


def _recurrent(values: dict[str, Any]) -> tuple[Tensor, Tensor | None]:
    _refuse_lengths(values)
    if values["initial_state_block_idx"] is not None:
        raise ArgumentError("initial_state_block_idx is not supported; give the states themselves")
    arrays, given = _read(values, may_be_flat=False)
    found, states = _recur(arrays, values["scale"], _first_state(values, _state_shape(arrays)))
    made = _keep(found, given, Layout.TILE, values["memory_config"])
    if as_flag(values["output_per_token_state"], "output_per_token_state"):
        return made, _keep(np.stack(states, 1), given, Layout.TILE)
    if as_flag(values["output_final_state"], "output_final_state"):
        return made, _keep(states[-1], given, Layout.TILE)
    return made, None


_PREPARED = (
    *("L_unit", "v_beta_sc", "k_bd_sc", "intra_attn", "q_decay", "k_decay_t", "dl_exp", "L_inv"),
)


def _scan_chunks(values: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """Chunks whose products are prepared: (BH, chunks, tokens, columns)."""
    given = take_tensors(values, *_PREPARED)
    lower, value, key, within, query, keys, decay, _ = (
        each.array.astype(np.float64) for each in given
    )
    if value.ndim != 4 or key.ndim != 4:
        raise ArgumentError(f"v_beta_sc has {given[1].shape}; it is (BH, chunks, tokens, columns)")
    heads, chunks, tokens, depth = value.shape
    columns = key.shape[-1]
    shapes = (
        *((tokens, tokens), (tokens, depth), (tokens, columns), (tokens, tokens)),
        *((tokens, columns), (columns, tokens), (1, 1)),
    )
    for name, each, shape in zip(_PREPARED, given, shapes, strict=False):
        if tuple(each.shape) != (heads, chunks, *shape):
            raise ArgumentError(f"{name} has {each.shape}; it is {[heads, chunks, *shape]}")
    if is_strict(given[0]) and {tokens, depth, columns} != {128}:
        raise ArgumentError(f"tokens of a chunk and columns are 128, not {tokens} and {columns}")
    state = _first_state(values, (heads, columns, depth))
    found = np.empty(value.shape)
    for chunk in range(chunks):
        error = value[:, chunk] - key[:, chunk] @ state
        for row in range(1, tokens):
            # The triangle has ones in its diagonal.
            error[:, row] -= (lower[:, chunk, row, None, :row] @ error[:, :row])[:, 0]
        found[:, chunk] = query[:, chunk] @ state + within[:, chunk] @ error
        state = state * decay[:, chunk] + keys[:, chunk] @ error
    return (
        _keep(found, given, Layout.TILE, values["memory_config"]),
        _keep(state, given, Layout.TILE),
    )


OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "transformer.chunk_gated_delta_rule",
        _chunk,
        "q, k, v, g, beta, *, scale=None, initial_state=None, output_final_state=False, "
        "chunk_size=64, use_qk_l2norm=False, output_head_major=False, program_config=None, "
        "wy_inverse=None, memory_config=None, compute_kernel_config, eye=None, tril=None, "
        "ones=None, masks=None",
    ),
    Operation(
        "transformer.fused_recurrent_gated_delta_rule",
        _recurrent,
        "q, k, v, g, beta, *, scale=None, initial_state=None, initial_state_block_idx=None, "
        "output_final_state=False, output_per_token_state=False, use_qk_l2norm=False, "
        "memory_config=None, compute_kernel_config",
    ),
    Operation(
        "transformer.gated_delta_attn_seq",
        _scan_chunks,
        f"{', '.join(_PREPARED)}, *, initial_state=None, memory_config=None, compute_kernel_config",
    ),
)
