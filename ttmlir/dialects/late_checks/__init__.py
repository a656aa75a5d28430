"""Verifiers of operations in the form of 2026, with the sentences of tt-mlir 19c86fca45.

An operation that came in 2026, or got another form then, is checked here; operations in older
forms keep the verifiers of their definitions. The module is imported when the first operation of
2026 is verified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ttmlir.dialects.late_checks import (
    attention,
    computation,
    distribution,
    functions,
    movement,
    placement,
    training,
    ttnn_windows,
    windows,
)
from ttmlir.dialects.late_checks.verified import Verified

Check = Callable[[Verified], None]


def _all(names: Iterable[str], check: Check) -> dict[str, Check]:
    return dict.fromkeys(names, check)


_SHARED: Mapping[str, Check] = {
    # movement
    "concat": movement.check_concat,
    "reshape": movement.check_reshape,
    "permute": movement.check_permute,
    "transpose": movement.check_transpose,
    "repeat": movement.check_repeat,
    "repeat_interleave": movement.check_repeat_interleave,
    "slice": movement.check_slice_static,
    "slice_dynamic": movement.check_slice_dynamic,
    "scatter": movement.check_scatter,
    "embedding": movement.check_embedding,
    "sort": movement.check_sort,
    "topk": movement.check_topk,
    "dropout": movement.check_dropout,
    # computation
    "clamp": computation.check_clamp_scalar,
    "matmul": computation.check_matmul,
    "linear": computation.check_linear,
    "sparse_matmul": computation.check_sparse_matmul,
    "softmax": computation.check_softmax,
    "cumulative": computation.check_cumulative,
    "reduce_precision": computation.check_reduced_precision,
    **_all(("logical_left_shift", "logical_right_shift"), computation.check_shift),
    "adamw": computation.check_adamw,
    **_all(("quantize", "dequantize", "requantize"), computation.check_quantization),
    # windows
    "upsample": windows.check_upsample,
    # attention
    "scaled_dot_product_attention": attention.check_attention,
    "scaled_dot_product_attention_decode": attention.check_attention_decode,
    "paged_scaled_dot_product_attention_decode": attention.check_paged_attention_decode,
    "chunked_scaled_dot_product_attention": attention.check_chunked_attention,
    "paged_flash_multi_latent_attention_decode": attention.check_paged_latent_attention_decode,
    "sdpa_bw": attention.check_training_attention_backward,
    "split_query_key_value_and_split_heads": attention.check_split_heads,
    "fill_cache": attention.check_fill_cache,
    "update_cache": attention.check_update_cache,
    "paged_fill_cache": attention.check_paged_fill_cache,
    "paged_update_cache": attention.check_paged_update_cache,
    # distribution
    "all_gather": distribution.check_all_gather,
    "reduce_scatter": distribution.check_reduce_scatter,
    **_all(("all_reduce", "all_reduce_async"), distribution.check_all_reduce),
    "mesh_partition": distribution.check_mesh_partition,
    "mesh_shard": distribution.check_mesh_shard,
    "collective_permute": distribution.check_collective_permute,
    "collective_broadcast": distribution.check_collective_broadcast,
    "all_to_all": distribution.check_all_to_all,
    "all_to_all_dispatch": distribution.check_dispatch,
    "all_to_all_dispatch_metadata": distribution.check_dispatch_metadata,
    "all_to_all_combine": distribution.check_combine,
    "selective_reduce_combine": distribution.check_selective_combine,
    "moe_expert_token_remap": distribution.check_remap,
    "moe_gpt": distribution.check_moe_gpt,
    "moe_compute": distribution.check_moe_compute,
    "topk_router_gpt": distribution.check_router,
    "sampling": distribution.check_sampling,
    "tt_lang_op": distribution.check_tt_lang,
}
"""What ttir and ttnn check alike, by the name in memory."""

_TTIR: Mapping[str, Check] = {
    **_SHARED,
    "squeeze": movement.check_squeeze,
    "unsqueeze": movement.check_unsqueeze,
    "broadcast": movement.check_broadcast,
    "pad": movement.check_pad,
    "reverse": movement.check_reverse,
    "index": movement.check_index,
    "index_select": movement.check_index_select,
    "rearrange": movement.check_rearrange,
    "gather": movement.check_gather,
    "embedding_backward": movement.check_embedding_backward,
    "full": movement.check_full,
    "rand": movement.check_rand,
    "arange": movement.check_arange,
    "upsample2d": windows.check_upsample,
    **_all(
        ("relu6", "mish", "signbit", "softsign", "frac", "selu", "mulhi"),
        computation.check_elementwise,
    ),
    "bitcast_convert": computation.check_bitcast,
    "clamp_tensor": computation.check_clamp_tensor,
    "gelu_bw": computation.check_gelu_backward,
    "right_shift": computation.check_shift,
    **_all(
        (
            *("sum", "mean", "max", "min", "prod", "argmax", "reduce_and", "reduce_or"),
            *("reduce_bitwise_and", "reduce_bitwise_or", "reduce_bitwise_xor"),
        ),
        computation.check_reduction,
    ),
    **_all(("cumsum", "cumprod"), computation.check_cumulative),
    **_all(("rms_norm", "layer_norm"), computation.check_norm),
    "group_norm": computation.check_group_norm,
    **_all(("batch_norm_inference", "batch_norm_training"), computation.check_batch_norm),
    **_all(("distributed_rms_norm", "distributed_layer_norm"), computation.check_distributed_norm),
    **_all(
        [f"{name}_unrolled" for name in ("quantize", "dequantize", "requantize")],
        computation.check_quantization,
    ),
    "conv1d": windows.check_conv1d,
    "conv2d": windows.check_conv2d,
    "conv3d": windows.check_conv3d,
    "conv_transpose2d": windows.check_conv_transpose2d,
    **_all(("max_pool2d", "avg_pool2d"), windows.check_pool),
    "max_pool2d_with_indices": windows.check_pool_with_indices,
    "global_avg_pool2d": windows.check_global_avg_pool2d,
    "sdpa_fw": attention.check_training_attention,
    "concatenate_heads": attention.check_concatenate_heads,
}

_TTNN: Mapping[str, Check] = {
    **_SHARED,
    "pad": movement.check_ttnn_pad,
    "gather": movement.check_ttnn_gather,
    "embedding_backward": movement.check_ttnn_embedding_backward,
    "argmax": computation.check_ttnn_argmax,
    **_all(
        (
            *("sum", "mean", "max", "min"),
            *("reduce_bitwise_and", "reduce_bitwise_or", "reduce_bitwise_xor"),
        ),
        computation.check_ttnn_reduction,
    ),
    **_all(("zeros", "ones"), movement.check_ttnn_created),
    "prod": computation.check_ttnn_product,
    **_all(("rms_norm", "layer_norm", "dit_rms_norm_unary_fused"), computation.check_ttnn_norm),
    "group_norm": computation.check_ttnn_group_norm,
    **_all(("batch_norm_inference", "batch_norm_training"), computation.check_ttnn_batch_norm),
    "sdpa_fw": attention.check_training_attention_forward,
    "flash_mla_prefill": attention.check_latent_attention,
    "indexer_score_dsa": attention.check_indexer,
    "concatenate_heads": attention.check_ttnn_concatenate_heads,
    "nlp_concat_heads": attention.check_nlp_concat_heads,
    "nlp_concat_heads_decode": attention.check_nlp_concat_heads_decode,
    "point_to_point": distribution.check_point_to_point,
    **_all(
        ("prepare_moe_compute_w0_w1_weights", "prepare_moe_compute_w2_weights"),
        distribution.check_moe_weights,
    ),
    "dump_tensor": placement.check_tensor_file,
    "load_tensor": placement.check_loaded,
    **_all(("begin_trace_capture", "end_trace_capture", "execute_trace"), distribution.check_trace),
    "capture_or_execute_trace": functions.check_capture_or_execute_trace,
    "write_tensor": placement.check_write_tensor,
    "copy": placement.check_copy,
    "assign": placement.check_assign,
    "rotary_embedding": placement.check_rotary_embedding,
    "rotary_embedding_llama": placement.check_rotary_embedding_llama,
    "rand": movement.check_ttnn_rand,
    "arange": movement.check_ttnn_arange,
    "gelu_bw": computation.check_gelu_backward,
    "pow_scalar": computation.check_pow_scalar,
    "layer_norm_pre_all_gather": computation.check_layer_norm_statistics,
    "rms_norm_pre_all_gather": computation.check_rms_norm_statistics,
    "distributed_rms_norm": computation.check_ttnn_distributed_rms_norm,
    "nlp_create_qkv_heads_decode": attention.check_create_heads_decode,
    # windows
    "conv1d": ttnn_windows.check_ttnn_conv1d,
    "conv2d": ttnn_windows.check_ttnn_conv2d,
    "conv_transpose2d": ttnn_windows.check_ttnn_conv_transpose2d,
    "conv3d": ttnn_windows.check_ttnn_conv3d,
    **_all(
        ("prepare_conv2d_weights", "prepare_conv_transpose2d_weights"),
        ttnn_windows.check_prepared_weights,
    ),
    **_all(
        ("prepare_conv2d_bias", "prepare_conv_transpose2d_bias"), ttnn_windows.check_prepared_bias
    ),
    "prepare_conv3d_weights": ttnn_windows.check_prepared_weights_3d,
    **_all(("max_pool2d", "avg_pool2d", "max_pool2d_with_indices"), ttnn_windows.check_ttnn_pool),
    "cross_entropy_fw": training.check_cross_entropy_forward,
    "cross_entropy_bw": training.check_cross_entropy_backward,
    "softmax_backward": training.check_softmax_backward,
    "layernorm_fw": training.check_layernorm_forward,
    "layernorm_bw": training.check_layernorm_backward,
    "rmsnorm_fw": training.check_rmsnorm_forward,
    "rmsnorm_bw": training.check_rmsnorm_backward,
    "chunk_gated_delta_rule": training.check_chunked_delta_rule,
    "d2m_subgraph": functions.check_d2m_subgraph,
}

CHECKS: Mapping[str, Check] = {
    **{f"ttir.{name}": check for name, check in _TTIR.items()},
    **{f"ttnn.{name}": check for name, check in _TTNN.items()},
}
"""The verifiers by operation, where it has one of its own."""

check_elementwise: Check = computation.check_elementwise
"""The verifier of elementwise operations of ttir."""
