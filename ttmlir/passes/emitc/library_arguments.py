"""Arguments of the ttnn library's functions, as both C++ and Python call them.

A list is in the order of C++, by the names of Python. `name=source` says what of the operation
stands for an argument, where it has another name there: a group of operands, a property, or
`dtype`, `layout` and `memory_config` of the first result. `*` is every operand that no other word
names, without a name; `-` is an argument that is left to the library,
and one without a name is given by its place.

C++, which has no names, reads on: `:kind` is the type of a list or of the device there, and
`?text` what stands for an argument that is left out in front of others, `std::nullopt` without it.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

_LISTED = ":span?{}"
_ACTIVATIONS = (
    f"output_tensor=- activations{_LISTED} input_tensor_a_activations{_LISTED} "
    f"input_tensor_b_activations{_LISTED}"
)
_COMPUTE = "compute_kernel_config=compute_config"
_REDUCTION = f"* dim=dim_arg:ints keepdim=keep_dim memory_config {_COMPUTE}"
_PRODUCT = (
    "transpose_a transpose_b memory_config dtype program_config=matmul_program_config activation "
    + _COMPUTE
)
_IMAGE = "in_channels out_channels batch_size"
_WINDOW = "stride:array padding:array dilation:array"
_PREPARED = (
    f"input_memory_config input_layout=input_tensor_layout {_IMAGE} input_height input_width "
    f"kernel_size:array {_WINDOW} groups device input_dtype output_dtype "
    "conv_config=conv2d_config compute_config slice_config=conv2d_slice_config"
)
_NEW = "dtype layout device:reference memory_config"
_POOL = (
    "* batch_size input_h=input_height input_w=input_width channels kernel_size:array stride:array "
    "padding:array"
)
_POOLED = (
    "dtype=-?ttnn::DataType::BFLOAT16 output_layout=-?ttnn::Layout::ROW_MAJOR "
    "config_tensor_in_dram=config_tensors_in_dram"
)
_MAX_POOL = (
    f"{_POOL} dilation:array ceil_mode memory_config dram_slice_config=- applied_shard_scheme "
    f"deallocate_input=-?false reallocate_halo_output return_indices?false {_POOLED}"
)
_NORM = f"* epsilon weight bias residual_input_tensor=- memory_config program_config=- {_COMPUTE}"
_ATTENTION = "attention_sink"

_DEFAULT = "* memory_config"
_FAST = "* fast_and_approximate_mode=-?false memory_config"
_BINARY = f"* dtype memory_config {_ACTIVATIONS}"
_BITWISE = f"* memory_config {_ACTIVATIONS}"

_ARGUMENTS: dict[str, str] = {
    **dict.fromkeys(
        (
            *("add", "subtract", "multiply", "div", "eq", "ne", "lt", "le", "gt", "ge"),
            *("logical_and", "logical_or", "logical_xor", "remainder", "maximum", "minimum"),
            *("pow", "logical_right_shift"),
        ),
        _BINARY,
    ),
    **dict.fromkeys(
        (
            *("bitwise_and", "bitwise_or", "bitwise_xor", "right_shift", "left_shift"),
            *("logical_left_shift", "bitwise_right_shift", "bitwise_left_shift"),
        ),
        _BITWISE,
    ),
    **dict.fromkeys(("sum", "mean", "max", "min"), _REDUCTION),
    **dict.fromkeys(("ones", "zeros"), f"shape {_NEW}"),
    **dict.fromkeys(("erf", "exp", "gelu", "log", "log1p", "mish", "rsqrt", "sqrt"), _FAST),
    "adamw": (
        "* lr beta1_pow beta2_pow beta1 beta2 epsilon weight_decay max_exp_avg_sq "
        "stochastic_rounding"
    ),
    "aggregate_tensor": "* composer=composer_config mesh_device=device",
    "all_gather": (
        "* dim=all_gather_dim cluster_axis memory_config output_tensor=- "
        "subdevice_id=sub_device_id sub_core_grids=- num_links topology"
    ),
    "all_reduce": "* cluster_axis subdevice_id=sub_device_id memory_config num_links topology",
    "arange": "start end step dtype device:reference memory_config?ttnn::MemoryConfig{} layout",
    "argmax": "* dim keepdim=keep_dim sub_core_grids=- memory_config",
    "assign": "* memory_config dtype",
    "avg_pool2d": (
        f"{_POOL} ceil_mode count_include_pad divisor_override memory_config dram_slice_config=- "
        "applied_shard_scheme compute_kernel_config=- deallocate_input=-?false "
        f"reallocate_halo_output {_POOLED}"
    ),
    "batch_norm_inference": (
        f"* running_mean running_var training=-?false eps=epsilon momentum=-?0.1f weight bias "
        f"output=- memory_config {_COMPUTE}"
    ),
    "batch_norm_training": (
        f"* running_mean running_var training=true eps=epsilon momentum weight bias output=- "
        f"memory_config {_COMPUTE}"
    ),
    "bitcast_convert": "* dtype memory_config",
    "chunked_scaled_dot_product_attention": (
        "* page_table_tensor=page_table chunk_start_idx_tensor=chunk_start_idx scale "
        "memory_config program_config"
    ),
    "clamp": "* min max memory_config",
    "clamp_tensor": "* min max memory_config",
    "concat": "* dim memory_config",
    "constant": "=value shape data_type=dtype layout device?nullptr memory_config",
    "conv1d": (
        f"input_tensor=input weight_tensor=weight device {_IMAGE} input_length kernel_size "
        f"{_WINDOW} groups dtype bias_tensor=bias conv_config=conv2d_config compute_config "
        "memory_config"
    ),
    "conv2d": (
        f"input_tensor=input weight_tensor=weight device {_IMAGE} input_height input_width "
        f"kernel_size:array {_WINDOW} groups dtype bias_tensor=bias conv_config=conv2d_config "
        "compute_config memory_config slice_config=conv2d_slice_config"
    ),
    "conv3d": (
        "input_tensor=input weight_tensor=weight device bias_tensor=bias "
        "config=conv3d_config dtype output_channels=out_channels kernel_size:array "
        f"stride:array padding:array dilation:array?{{1,1,1}} padding_mode groups memory_config "
        f"{_COMPUTE}"
    ),
    "conv_transpose2d": (
        f"input_tensor=input weight_tensor=weight device {_IMAGE} input_height input_width "
        "kernel_size:array stride:array padding:array output_padding:array dilation:array groups "
        "dtype bias_tensor=bias conv_config=conv2d_config compute_config memory_config "
        "dram_slice_config=conv2d_slice_config"
    ),
    "cumprod": "* dim dtype reverse_order=-?false out=- memory_config",
    "cumsum": "* dim dtype reverse_order=-?false out=- memory_config",
    "deallocate": "* force",
    "dealloc": "* force",
    "cumulative": "* dim reduction reverse memory_config",
    "dequantize": "* axis dtype=output_dtype memory_config",
    "distribute_tensor": "* mapper=mapper_config mesh_device=device",
    "embedding": (
        "* padding_idx=- layout embeddings_type=-?ttnn::prim::EmbeddingsType::GENERIC dtype "
        "memory_config"
    ),
    "embedding_backward": "* dtype memory_config",
    "empty": "shape dtype layout device?nullptr memory_config?ttnn::MemoryConfig{}",
    "fill_cache": "* batch_idx=batch_offset",
    "from_device": "*",
    "full": f"shape fill_value {_NEW}",
    "gather": "* dim index sparse_grad=-?false memory_config",
    "global_avg_pool2d": "* memory_config dtype",
    "group_norm": "* num_groups epsilon input_mask weight bias memory_config",
    "layer_norm": _NORM,
    "leaky_relu": "* negative_slope=parameter memory_config",
    "linear": f"* bias {_PRODUCT}",
    "load_tensor": "path=file_path layout dtype device?nullptr memory_config",
    "matmul": f"* {_PRODUCT}",
    "max_pool2d": _MAX_POOL,
    "max_pool2d_with_indices": _MAX_POOL.replace("return_indices", "return_indices=true"),
    "pad": "* padding:pairs value use_multicore memory_config",
    "paged_fill_cache": "* page_table batch_idx_tensor=batch_idx_tensor",
    "paged_scaled_dot_product_attention_decode": (
        "* page_table_tensor=page_table is_causal attn_mask=attention_mask "
        f"cur_pos_tensor {_ATTENTION} scale sliding_window_size memory_config program_config"
    ),
    "paged_update_cache": (
        "* update_idxs=-?std::vector<uint32_t>{} update_idxs_tensor=update_index share_cache "
        "page_table"
    ),
    "permute": "* dims=permutation:longs memory_config pad_value",
    "pow_scalar": "* exponent=rhs memory_config",
    "prod": "* dim=dim_arg keepdim=keep_dim memory_config",
    "prepare_conv2d_bias": f"bias_tensor {_PREPARED}",
    "prepare_conv2d_weights": f"weight_tensor weights_format has_bias {_PREPARED}",
    "prepare_conv3d_weights": "weight_tensor groups C_in_block=c_in_block alignment device",
    "quantize": "* axis dtype=output_dtype memory_config",
    "rand": "shape=size device:reference dtype layout memory_config low high seed",
    "point_to_point": "* sender_coord receiver_coord",
    "reduce_scatter": (
        "* dim=scatter_dim cluster_axis subdevice_id=sub_device_id memory_config "
        "intermediate_memory_config=- output_tensor=- num_links topology"
    ),
    **dict.fromkeys(
        ("reduce_bitwise_and", "reduce_bitwise_or", "reduce_bitwise_xor"),
        "* dim=dim_arg keepdim=keep_dim memory_config",
    ),
    "reduce_precision": "* exponent_bits mantissa_bits memory_config",
    "repeat": "* =repeat_dims:unsigned memory_config",
    "repeat_interleave": "* repeats dim memory_config",
    "requantize": "* axis dtype=output_dtype memory_config",
    "reshape": "* shape:shape memory_config",
    "rms_norm": _NORM,
    "round": "* decimals memory_config",
    "rows_gather": (
        "* sizes:numbers windows:numbers column?false fill_out_of_bounds?false memory_config"
    ),
    "rows_scatter": "* sizes:numbers windows:numbers column?false reduce memory_config",
    "sampling": "* seed",
    "scaled_dot_product_attention": (
        "* attn_mask=attention_mask is_causal scale sliding_window_size memory_config "
        f"program_config=- compute_kernel_config=- {_ATTENTION}"
    ),
    "scaled_dot_product_attention_decode": (
        "* is_causal attn_mask=attention_mask cur_pos=-?std::vector<uint32_t>{} cur_pos_tensor "
        "attention_sink scale sliding_window_size memory_config program_config"
    ),
    "scatter": "* dim index src=source memory_config reduce=scatter_reduce_type",
    "sigmoid": (
        "* vector_mode=-?4 mode=-?ttnn::operations::unary::SigmoidMode::Accurate memory_config"
    ),
    "slice": "* slice_start=begins:ints slice_end=ends:ints slice_step=step:ints memory_config",
    "slice_dynamic": "* starts=begins ends slice_step=step:unsigned memory_config",
    "softmax": f"* dim=dimension memory_config {_COMPUTE} numeric_stable=numericStable",
    "sort": "* dim descending stable memory_config",
    "sparse_matmul": (
        f"* sparsity program_config nnz is_input_a_sparse is_input_b_sparse memory_config dtype "
        f"{_COMPUTE}"
    ),
    "to_device": "* device memory_config",
    "to_layout": "* layout dtype memory_config",
    "to_memory_config": "* memory_config",
    "topk": "* k dim largest sorted memory_config",
    "transpose": "* dim1=dim0 dim2=dim1 memory_config",
    "typecast": "* dtype memory_config",
    "update_cache": "* update_idx=update_index batch_offset",
    "upsample": "* scale_factor:int_array mode memory_config",
}

NAMES = {
    "aggregate_tensor": "utils.aggregate_tensor",
    "batch_norm_inference": "batch_norm",
    "batch_norm_training": "utils.batch_norm_training",
    "bitcast_convert": "bitcast",
    "chunked_scaled_dot_product_attention": "transformer.chunked_scaled_dot_product_attention",
    "clamp_tensor": "clamp",
    "adamw": "utils.adamw",
    "concatenate_heads": "transformer.concatenate_heads",
    "constant": "Tensor",
    "conv3d": "experimental.conv3d",
    "dealloc": "deallocate",
    "distribute_tensor": "utils.distribute_tensor",
    "div": "divide",
    "embedding_backward": "embedding_bw",
    "embedding_of_rows": "utils.embedding_of_rows",
    "left_shift": "bitwise_left_shift",
    "load_tensor": "utils.load_tensor",
    "max_pool2d_with_indices": "max_pool2d",
    "nlp_concat_heads": "experimental.nlp_concat_heads",
    "nlp_concat_heads_decode": "experimental.nlp_concat_heads_decode",
    "nlp_create_qkv_heads_decode": "experimental.nlp_create_qkv_heads_decode",
    "paged_fill_cache": "experimental.paged_fill_cache",
    "paged_scaled_dot_product_attention_decode": (
        "transformer.paged_scaled_dot_product_attention_decode"
    ),
    "paged_update_cache": "experimental.paged_update_cache",
    "point_to_point": "utils.point_to_point",
    "pow_scalar": "pow",
    "right_shift": "bitwise_right_shift",
    "prepare_conv2d_bias": "prepare_conv_bias",
    "prepare_conv2d_weights": "prepare_conv_weights",
    "prepare_conv3d_weights": "experimental.prepare_conv3d_weights",
    "cumulative": "utils.cumulative",
    "reduce_precision": "utils.reduce_precision",
    "rotary_embedding": "experimental.rotary_embedding",
    "rotary_embedding_llama": "experimental.rotary_embedding_llama",
    "rows_gather": "utils.rows_gather",
    "rows_scatter": "utils.rows_scatter",
    "scaled_dot_product_attention": "transformer.scaled_dot_product_attention",
    "scaled_dot_product_attention_decode": "transformer.scaled_dot_product_attention_decode",
    "slice_dynamic": "slice",
    "split_query_key_value_and_split_heads": "transformer.split_query_key_value_and_split_heads",
    "update_cache": "utils.update_cache",
}
"""Functions that are called otherwise than their operations, after `ttnn.` if not in `utils`."""


CPP_NAMES = {
    "constant": "utils.create_tensor",
    "gelu_bw": "utils.gelu_bw",
    "global_avg_pool2d": "utils.global_avg_pool2d",
}
"""Functions that C++ calls otherwise than Python."""


class Argument(NamedTuple):
    """An argument of a function of the library."""

    name: str
    source: str
    kind: str
    default: str


@cache
def arguments_of(name: str, *, is_known: bool = False) -> tuple[Argument, ...] | None:
    """The arguments of an operation, without the dialect's name.

    None where the operation's own form says them; with `is_known` operands and memory.
    """
    found = _ARGUMENTS.get(name, _DEFAULT if is_known else None)
    return None if found is None else tuple(map(_argument, found.split()))


def _argument(word: str) -> Argument:
    head, _, default = word.partition("?")
    head, _, kind = head.partition(":")
    name, _, source = head.partition("=")
    return Argument("" if name == "*" else name, source or name, kind, default)


WITHOUT_FUNCTION = frozenset(
    (
        "all_reduce_async alloc all_to_all_dispatch_metadata allocate_moe_compute_semaphore "
        "causal_conv1d_update chunk_gated_delta_rule collective_permute count_leading_zeros "
        "cross_entropy_bw cross_entropy_fw distributed_layer_norm distributed_rms_norm "
        "dit_rms_norm_unary_fused dropout flash_mla_prefill gated_delta_decode gated_delta_rule "
        "indexer_score_dsa layernorm_bw layernorm_fw mesh_shard moe_compute moe_gpt mulhi "
        "paged_flash_multi_latent_attention_decode population_count "
        "prepare_moe_compute_w0_w1_weights prepare_moe_compute_w2_weights "
        "reduce_and reduce_or reset_global_semaphore reverse rmsnorm_bw rmsnorm_fw "
        "rng_bit_generator scatter_maximum scatter_minimum scatter_multiply "
        "softmax_backward sdpa_bw sdpa_fw selective_reduce_combine slice_write "
        "state_pool_update topk_router_gpt write_tensor "
    ).split()
)
"""Operations that ttnn 0.81.1 has no function for in Python."""

IN_PYTHON_ALONE = frozenset(
    (
        "adamw cumulative prepare_conv2d_bias prepare_conv2d_weights prepare_conv3d_weights "
        "reduce_bitwise_and reduce_bitwise_or reduce_bitwise_xor reduce_precision"
    ).split()
)
"""Operations that scripts compose, and programs in C++ do not."""
