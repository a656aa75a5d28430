"""How operations are written in 2026, where that is not the form of their definition.

Operations of 2026 make their results instead of writing to a destination, and many have other
parameters than in September 2024. A form names what is different; `read` gives the parameters of
the definition, so that whoever asks an operation what it does need not know its form. Operations
that have no definition are here with their form alone.

Forms are written as operands and parameters, `weight?` being optional and `inputs*` any number:

    _form("input weight bias?", "stride:extents groups:i32 activation?:string")

Those whose names end in `semaphore` or `semaphores` are none of tensors, nor is `device`. A
parameter with a default, `transpose_a:bool=false`, is always printed. Source: TTIROps.td and
TTNNOps.td of tt-mlir 19c86fca45, and what Tenstorrent's compiler of September 2026 writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.optable.op_definition import Kind, Operand, Parameter, Shape

Read = Callable[[dict[str, Any], Sequence[Shape], Shape], dict[str, Any]]
"""The definition's parameters from those of the form, the operands' shapes and the result's."""
Write = Read
"""The form's parameters from those of the definition, the operands' shapes and the result's."""


@dataclass(frozen=True, kw_only=True)
class LateForm:
    """Operands, parameters and results of an operation of 2026."""

    operands: tuple[Operand, ...] | None = None
    """None for those of the definition."""
    parameters: tuple[Parameter, ...] | None = None
    """None for those of the definition."""
    results: tuple[str, ...] = ("result",)
    """Names; one of any number, or of one that may be missing, ends in `*` or `?`."""
    read: Read | None = None
    """None where the parameters are the definition's."""
    write: Write | None = None
    """None where the parameters of the definition have the same names in the form."""
    device: bool | None = None
    """Whether a ttnn operation takes the device last: never (False), always, or as it likes."""
    summary: str = ""


_KINDS = {
    **{kind.name.lower(): kind for kind in Kind},
    "i32s": Kind.I32_ARRAY,
    "i64s": Kind.I64_ARRAY,
}


def parse_operand(text: str) -> Operand:
    """An operand or result as forms name it."""
    name = text.rstrip("?*")
    return Operand(
        name=name,
        optional=text[-1] == "?",
        variadic=text[-1] == "*",
        is_semaphore=name.endswith(("semaphore", "semaphores")),
    )


def _parameter(text: str) -> Parameter:
    text, has_default, default = text.partition("=")
    name, _, kind = text.partition(":")
    optional, name = name.endswith("?"), name.rstrip("?")
    if kind.startswith("["):
        found, attribute = Kind.ATTRIBUTES, kind[2:-1]
    elif kind.startswith("#"):
        found, attribute = Kind.ATTRIBUTE, kind[1:]
    else:
        found, attribute = _KINDS[kind], ""
    return Parameter(
        name=name,
        kind=found,
        optional=optional,
        attribute=attribute,
        default=_default(default, found) if has_default else None,
    )


def _default(text: str, kind: Kind) -> Any:
    match kind:
        case Kind.BOOL:
            return text == "true"
        case Kind.F32:
            return float(text)
        case Kind.STRING:
            return text
        case Kind.ATTRIBUTES:
            return ()
        case _:
            return int(text)


def _form(
    operands: str | None = None,
    parameters: str | None = None,
    *,
    results: str = "result",
    read: Read | None = None,
    write: Write | None = None,
    device: bool | None = None,
    summary: str = "",
) -> LateForm:
    return LateForm(
        operands=None if operands is None else tuple(map(parse_operand, operands.split())),
        parameters=None if parameters is None else tuple(map(_parameter, parameters.split())),
        results=tuple(results.split()),
        read=read,
        write=write,
        device=device,
        summary=summary,
    )


# --- Parameters of the definition -----------------------------------------------------------------


def _drop(*names: str) -> Read:
    """The parameters without some that do not change what is computed."""

    def read(parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape) -> dict[str, Any]:
        return {name: value for name, value in parameters.items() if name not in names}

    return read


def _unfused(*names: str) -> Read:
    """The parameters without the activations, of which there are none; ValueError for others."""

    def read(parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape) -> dict[str, Any]:
        for name in _FUSED:
            # Lists of attributes are those of the IR, which know their length.
            if name in parameters and (name == "activation" or len(parameters[name])):
                raise ArgumentError(
                    f"computes '{name}', too; only the operation without it is known here"
                )
        return _drop(*_FUSED, *names)(parameters, shapes, result)

    return read


_FUSED = (
    *("activations", "input_tensor_a_activations", "input_tensor_b_activations"),
    "activation",
)
"""What an operation computes besides itself."""


def _clamp(parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape) -> dict[str, Any]:
    return {name: float(value) for name, value in parameters.items()}


def _broadcast(
    parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    return {"dimension": tuple(range(len(result) - len(shapes[0]), len(result)))}


def _product(parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape) -> dict[str, Any]:
    """What transposes, which the definition need not say."""
    return {name: value for name, value in parameters.items() if value is not False}


def _slice_dynamic(
    parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    raise ArgumentError("takes its ends as a tensor, and other operations fixed extents")


def _pad(parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape) -> dict[str, Any]:
    if any(margin < 0 for margin in parameters["padding"]):
        raise ArgumentError("margins below 0 cut off elements; slice the tensor instead")
    return parameters


def _broadcast_factors(
    parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    pairs = zip(result, shapes[0], strict=True)
    return {"broadcast_dimensions": tuple(n // max(1, own) for n, own in pairs)}


def _pair(value: int | tuple[int, ...]) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (value[0], value[1])


def _margins(value: int | tuple[int, ...]) -> tuple[int, int, int, int]:
    """Top, left, bottom, right."""
    if isinstance(value, int):
        return value, value, value, value
    if len(value) == 2:
        return value[0], value[1], value[0], value[1]
    return value[0], value[1], value[2], value[3]


def _axes(parameters: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Parameters for both axes as one for each: `stride` is `stride_height`, `stride_width`."""
    found: dict[str, Any] = {}
    for name in names:
        found[f"{name}_height"], found[f"{name}_width"] = _pair(parameters[name])
    return found


def _write_axes(parameters: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The other way round: one list for both axes."""
    sides = ("top", "left", "bottom", "right")
    return {
        **{
            name: (parameters[f"{name}_height"], parameters[f"{name}_width"])
            for name in names
            if f"{name}_height" in parameters
        },
        "padding": tuple(parameters[f"padding_{side}"] for side in sides),
    }


def _write_convolution(
    parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    axes = _write_axes(parameters, "stride", "dilation", "output_padding")
    return {**axes, "groups": parameters["groups"]}


def _write_pool(
    parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    if "original_height" in parameters:
        raise ArgumentError("an image of another shape than the tensor's has no form in 2026")
    kept = ("ceil_mode", "count_include_pad")
    axes = _write_axes(parameters, "kernel", "stride", "dilation")
    return {**axes, **{name: parameters[name] for name in kept if name in parameters}}


def _padding(parameters: Mapping[str, Any]) -> dict[str, Any]:
    sides = ("top", "left", "bottom", "right")
    margins = _margins(parameters["padding"])
    return {f"padding_{side}": n for side, n in zip(sides, margins, strict=True)}


def _convolution(
    parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    dims = [parameters.get(name, n) for n, name in enumerate(IMAGE_DIMS)]
    if dims != [0, 1, 2, 3]:
        raise ArgumentError(
            f"an image has the dimensions batch, height, width, channels in this order, got {dims}"
        )
    more = {}
    if "output_padding" in parameters:
        more = _axes(parameters, "output_padding")
    return {
        **_axes(parameters, "stride", "dilation"),
        **_padding(parameters),
        **more,
        "groups": parameters["groups"],
    }


IMAGE_DIMS = ("batch_dim", "height_dim", "width_dim", "channel_dim")
"""Which dimension of an image is which."""


def _check_divisor(parameters: Mapping[str, Any]) -> None:
    if "divisor_override" in parameters:
        raise ArgumentError("divides by a number of its own; only means are known here")


def _pool(parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape) -> dict[str, Any]:
    _check_divisor(parameters)
    kept = {
        name: parameters[name] for name in ("ceil_mode", "count_include_pad") if name in parameters
    }
    return {**_axes(parameters, "kernel", "stride", "dilation"), **_padding(parameters), **kept}


COMBINERS = {
    "invalid": "",
    "sum": "add",
    "prod": "multiply",
    "max": "maximum",
    "min": "minimum",
}
"""What `#ttcore.reduce_type` does to values that are put in one place; nothing: the last stays."""

# --- ttir -----------------------------------------------------------------------------------------

_WINDOW = "stride:extents=1 padding:extents=0 dilation:extents=1"
_IMAGE_DIMS = "batch_dim:i64=0 height_dim:i64=1 width_dim:i64=2 channel_dim:i64=3"
_POOL = "kernel:extents stride:extents=1 dilation:extents=1 padding:extents=0 ceil_mode:bool=false"
_ADAMW = "beta1:f32 beta2:f32 epsilon:f32 weight_decay:f32 stochastic_rounding:bool=false"
_REDUCTION = _form("input", "keep_dim:bool dim_arg?:i32s")
_ROWS = "sizes:dense_i64 windows:dense_i64 column:bool=false"


def without_divisor(form: LateForm, parameters: dict[str, Any]) -> tuple[dict[str, Any], float]:
    """The parameters of the mean over a window, and what it is multiplied by.

    A sum over a window that is divided by `divisor_override` counts the padding.
    """
    left = {name: value for name, value in parameters.items() if name != "divisor_override"}
    height, width = _pair(parameters["kernel"])
    if not parameters["divisor_override"]:
        raise ArgumentError("divides by 0")
    assert form.read is not None, "pooling has parameters of its own"
    factor = height * width / parameters["divisor_override"]
    return {**form.read(left, (), ()), "count_include_pad": True}, factor


TTIR: Mapping[str, LateForm] = {
    # elementwise
    "typecast": _form(
        "input", "conservative_folding:bool=false", read=_drop("conservative_folding")
    ),
    "clamp": _form("input", "min:number max:number", read=_clamp),
    "clamp_tensor": _form("input min max", "", summary="Numbers between two tensors of bounds."),
    "gelu_bw": _form("grad input", "approximate:string=none", summary="Gradient of gelu."),
    "mulhi": _form("lhs rhs", "", summary="The high half of a product of unsigned numbers."),
    "selu": _form("input", "scale:f32 alpha:f32", summary="Scaled exponential linear unit."),
    "relu6": _form("input", "", summary="Numbers between 0 and 6."),
    "mish": _form("input", "", summary="x * tanh(softplus(x))."),
    "signbit": _form("input", "", summary="1 for numbers with a sign, -0 included."),
    "softsign": _form("input", "", summary="x / (1 + |x|)."),
    "frac": _form("input", "", summary="The fraction, with the sign of the number."),
    "reduce_precision": _form(
        "input", "exponent_bits:si32 mantissa_bits:si32", summary="Rounding to a smaller format."
    ),
    # reductions
    **dict.fromkeys(("reduce_bitwise_and", "reduce_bitwise_or", "reduce_bitwise_xor"), _REDUCTION),
    "cumsum": _form("input", "dim:i64"),
    "cumprod": _form("input", "dim:i64", summary="Products of all elements up to each."),
    "cumulative": _form(
        "input",
        "dim:i64 reduction:#ttcore.reduce_type reverse:bool=false",
        summary="A reduction of all elements up to each.",
    ),
    # creation
    "full": _form("", "shape:dense_i32 fill_value:number", summary="One number everywhere."),
    "zeros": _form("", "shape:dense_i32", summary="Zeros."),
    "ones": _form("", "shape:dense_i32", summary="Ones."),
    "rand": _form(
        "",
        "size:i32s low:f32=0.0 high:f32=1.0 seed:ui32=0",
        summary="Uniformly distributed random numbers.",
    ),
    # movement
    "broadcast": _form(
        "input", "broadcast_dimensions:dense_i64", read=_broadcast, write=_broadcast_factors
    ),
    "repeat_interleave": _form(
        "input", "repeats:ui32 dim:si32", summary="Each element repeated along a dimension."
    ),
    "rearrange": _form("input", "pattern:string", summary="Dimensions by a pattern of einops."),
    "pad": _form("input", "padding:dense_i32 value:f32", read=_pad),
    "slice_dynamic": _form("input begins ends", "step?:i32s", read=_slice_dynamic),
    "index": _form(
        "input", "dim:i32 begin:i32 end:i32 step:i32", summary="A slice along one dimension."
    ),
    "index_select": _form(
        "input",
        "dim:si32 begin:si32 length:si32 stride:si32=0",
        summary="Stretches along a dimension, at equal distances.",
    ),
    # lookups
    "gather": _form("input index", "dim:i32"),
    "scatter": _form(
        "input index source",
        "dim:i32 scatter_reduce_type:#ttcore.reduce_type",
        read=_drop("scatter_reduce_type"),
    ),
    "rows_gather": _form(
        "operand indices",
        f"{_ROWS} fill_out_of_bounds:bool=false",
        summary="Windows of a tensor, at indices along its first dimensions.",
    ),
    "rows_scatter": _form(
        "operand indices updates",
        f"{_ROWS} reduce:#ttcore.reduce_type",
        summary="A tensor with windows written, or combined, at indices.",
    ),
    "embedding_backward": _form(
        "input weight in_gradient", "", summary="Gradient of an embedding by its weight."
    ),
    "topk": _form(
        "input",
        "k:i32 dim:i32=-1 largest:bool=true sorted:bool=true",
        results="values indices",
    ),
    "sort": _form(
        "input",
        "dim:si32=-1 descending:bool=false stable:bool=false",
        results="values indices",
    ),
    # products
    "matmul": _form("a b", "transpose_a:bool=false transpose_b:bool=false", read=_product),
    "linear": _form(
        "a b bias?",
        "transpose_a:bool=false transpose_b:bool=false",
        summary="Product of matrices and a bias.",
    ),
    "sparse_matmul": _form(
        "a b sparsity",
        "is_input_a_sparse:bool=false is_input_b_sparse:bool=true nnz?:i64",
        summary="Products of those matrices that a tensor of numbers names.",
    ),
    # windows
    "conv1d": _form(
        "input weight bias?",
        "stride:extents=1 padding:extents=0 dilation:extents=1 groups:i32=1 "
        "batch_dim:i64=0 length_dim:i64=1 channel_dim:i64=2",
        summary="Convolution along one dimension.",
    ),
    "conv2d": _form(
        "input weight bias?",
        f"{_WINDOW} groups:i32=1 {_IMAGE_DIMS} flattened_compat_info?:#ttir.flattened_compat",
        read=_convolution,
        write=_write_convolution,
    ),
    "conv3d": _form(
        "input weight bias?",
        f"{_WINDOW} groups:i32=1 padding_mode:string=zeros batch_dim:i64=0 depth_dim:i64=1 "
        "height_dim:i64=2 width_dim:i64=3 channel_dim:i64=4",
        summary="Convolution along three dimensions.",
    ),
    "conv_transpose2d": _form(
        "input weight bias?",
        f"{_WINDOW} output_padding:extents=0 groups:i32=1 {_IMAGE_DIMS} "
        "flattened_compat_info?:#ttir.flattened_compat",
        read=_convolution,
        write=_write_convolution,
    ),
    "max_pool2d": _form(
        "input",
        f"{_POOL} flattened_compat_info?:#ttir.flattened_compat",
        read=_pool,
        write=_write_pool,
    ),
    "max_pool2d_with_indices": _form(
        "input outputs*",
        f"{_POOL} flattened_compat_info?:#ttir.flattened_compat",
        results="result result_indices",
        summary="The largest number of each window, and where it is.",
    ),
    "avg_pool2d": _form(
        "input",
        f"{_POOL} count_include_pad:bool=true divisor_override?:i32 "
        "flattened_compat_info?:#ttir.flattened_compat",
        read=_pool,
        write=_write_pool,
    ),
    "global_avg_pool2d": _form("input", "", summary="The mean of each channel of an image."),
    "upsample2d": _form(
        "input", "scale_factor:signed_extents mode:string=nearest", summary="An image, enlarged."
    ),
    # normalization
    "softmax": _form(
        "input", "dimension:si32 numericStable:bool=false", read=_drop("numericStable")
    ),
    "rms_norm": _form(
        "input weight? bias?",
        "normalized_shape:dense_i64 epsilon:f32=1e-5",
        summary="Division by the root of the mean square.",
    ),
    "layer_norm": _form(
        "input weight? bias?",
        "normalized_shape:dense_i64 epsilon:f32=1e-5",
        summary="Mean 0 and variance 1 over the last dimensions.",
    ),
    "group_norm": _form(
        "input input_mask? weight? bias?",
        "num_groups:i64 epsilon:f32=1e-12 channel_dim?:i64",
        summary="Mean 0 and variance 1 over groups of channels.",
    ),
    "distributed_rms_norm": _form(
        "input weight? residual?",
        "cluster_axis:ui32 epsilon:f32=1e-5",
        summary="Division by the root of the mean square over several devices.",
    ),
    "distributed_layer_norm": _form(
        "input weight? bias? residual?",
        "cluster_axis:ui32 epsilon:f32=1e-5",
        summary="Mean 0 and variance 1 over several devices.",
    ),
    "batch_norm_inference": _form(
        "operand scale offset mean variance", "dimension:i32 epsilon:f32"
    ),
    "batch_norm_training": _form(
        "operand scale offset running_mean? running_variance?",
        "dimension:i32 epsilon:f32 momentum:f32",
        results="result batch_mean batch_variance",
        summary="Mean 0 and variance 1 over a batch.",
    ),
    # attention
    "scaled_dot_product_attention": _form(
        "query key value attention_mask? attention_sink?",
        "is_causal:bool=true scale?:f32 sliding_window_size?:ui32",
        summary="Attention.",
    ),
    "scaled_dot_product_attention_decode": _form(
        "query key value attention_mask? cur_pos_tensor attention_sink?",
        "is_causal:bool=true scale?:f32",
        summary="Attention of one position to a cache.",
    ),
    "paged_scaled_dot_product_attention_decode": _form(
        "query key value page_table output? attention_mask? cur_pos_tensor? attention_sink?",
        "is_causal:bool=true scale?:f32",
        summary="Attention of one position to a cache of pages.",
    ),
    "chunked_scaled_dot_product_attention": _form(
        "query key value page_table chunk_start_idx output?",
        "scale?:f32",
        summary="Attention of a part of the positions to a cache of pages.",
    ),
    "sdpa_fw": _form(
        "query key value attention_mask?",
        "mask_type?:#ttcore.attention_mask_type dropout_probability?:f32",
        results="result intermediates",
        summary="Attention, and what its gradient needs.",
    ),
    "sdpa_bw": _form(
        "grad_output attn_output query key value intermediates attention_mask?",
        "mask_type?:#ttcore.attention_mask_type dropout_probability?:f32",
        results="grad_query grad_key grad_value",
        summary="The gradients of attention.",
    ),
    "paged_flash_multi_latent_attention_decode": _form(
        "query key value? page_table attention_mask? cur_pos_tensor? attention_sink?",
        "head_dim_v:ui32 is_causal:bool=true scale?:f32",
        summary="Attention of one position to a compressed cache of pages.",
    ),
    "concatenate_heads": _form("input", "", summary="Heads of attention, side by side."),
    # recurrent layers
    "gated_delta_rule": _form(
        "query key value g beta initial_state",
        "",
        results="final_state output",
        summary="Linear attention with gates, chunk by chunk.",
    ),
    "gated_delta_decode": _form(
        "state query key value a b a_log dt_bias",
        "",
        summary="One position of linear attention with gates; the state is written in place.",
    ),
    "causal_conv1d_update": _form(
        "state input weight bias indices",
        "",
        summary="One position of a convolution; its state is written in place.",
    ),
    "state_pool_update": _form(
        "state_pool updates indices", "", results="", summary="States written to a pool of them."
    ),
    "split_query_key_value_and_split_heads": _form(
        "input_tensor kv_input_tensor?",
        "num_heads:ui32 num_kv_heads?:ui32 transpose_key:bool",
        results="query key value",
        summary="Query, key and value of attention, by head.",
    ),
    "fill_cache": _form(
        "cache input", "batch_offset:i32", results="result?", summary="A batch written to a cache."
    ),
    "update_cache": _form(
        "cache input update_index",
        "batch_offset:i32",
        results="result?",
        summary="A position written to a cache.",
    ),
    "paged_fill_cache": _form(
        "cache input page_table batch_idx_tensor?",
        "",
        results="result?",
        summary="A batch written to a cache of pages.",
    ),
    "paged_update_cache": _form(
        "cache input update_index page_table?",
        "share_cache:bool=false",
        results="result?",
        summary="A position written to a cache of pages.",
    ),
    # experts
    "all_to_all_dispatch": _form(
        "input_tensor expert_indices expert_mapping",
        "num_devices:i64 cluster_axis:i64",
        results="dispatched metadata",
        summary="Tokens sent to the devices of their experts.",
    ),
    "all_to_all_dispatch_metadata": _form(
        "input_tensor expert_indices expert_scores expert_mapping",
        "num_devices:i64 cluster_axis:i64",
        results="dispatched indices scores",
        summary="Tokens sent to the devices of their experts, with indices and scores.",
    ),
    "all_to_all_combine": _form(
        "input_tensor expert_metadata expert_mapping",
        "num_devices:i64 cluster_axis:i64 num_experts_per_tok:i64 output_shard_dim:i64=2",
        summary="What experts made of tokens, sent back.",
    ),
    "selective_reduce_combine": _form(
        "dense_input_tensor dense_activations_tensor dense_token_maps_tensor "
        "dense_token_counts_tensor",
        "hidden_size:ui32 batch_size:ui32 seq_size:ui32 select_experts_k:ui32 experts:ui32",
        summary="What experts made of tokens, combined and sent back.",
    ),
    "moe_expert_token_remap": _form(
        "topk_tensor expert_mapping expert_metadata",
        "reduction_size:i64",
        results="mapping reduced",
        summary="The weights of a device's own experts.",
    ),
    "moe_gpt": _form(
        "input_tensor expert_indices expert_scores expert_mapping w0_w1_tensor w2_tensor",
        "output_height_shard_dim:ui32=4 output_width_shard_dim:ui32=3 hidden_size:ui32=2880 "
        "cluster_axis?:ui32",
        results="token_counts activation_records token_indices tilize_out tilize_out_rm",
        summary="The experts of a mixture, in one operation.",
    ),
    "moe_compute": _form(
        "tilize_input_tensor tilize_expert_indices_tensor tilize_expert_scores_tensor "
        "tilize_expert_mapping_tensor w0 w1 w2 bias_0? bias_1? bias_2?",
        "layer_id:ui32 output_height_shard_dim:ui32 intermediate_size:ui32 cluster_axis?:ui32 "
        "activation_function?:#ttcore.moe_activation_function rings?:ui32",
        results="combine_output",
        summary="Dispatch, experts and combination of a mixture, in one operation.",
    ),
    "topk_router_gpt": _form(
        "input weight bias",
        "k:i32 num_experts:i32",
        results="expert_indices expert_weights",
        summary="The experts of each token, and their weights.",
    ),
    # quantization
    "quantize": _form("input", "", summary="Numbers as integers of a quantized type."),
    "dequantize": _form("input", "", summary="Integers of a quantized type as numbers."),
    "requantize": _form("input", "", summary="Integers of another quantized type."),
    **{
        f"{name}_unrolled": _form(
            "input in_scale in_zero_point out_scale out_zero_point"
            if name == "requantize"
            else "input scale zero_point",
            "axis?:i32",
            summary="The same with scale and zero point as tensors.",
        )
        for name in ("quantize", "dequantize", "requantize")
    },
    # collectives
    "all_gather": _form(
        "input", "all_gather_dim:si32 cluster_axis:ui32", summary="All parts on all devices."
    ),
    "reduce_scatter": _form(
        "input",
        "reduce_type:#ttcore.reduce_type scatter_dim:si32 cluster_axis:ui32",
        summary="A part of the combination on each device.",
    ),
    **dict.fromkeys(
        ("all_reduce", "all_reduce_async"),
        _form(
            "input",
            "reduce_type:#ttcore.reduce_type cluster_axis:ui32",
            summary="The combination on all devices.",
        ),
    ),
    "collective_permute": _form(
        "input", "source_target_pairs:elements", summary="Tensors sent from device to device."
    ),
    "collective_broadcast": _form(
        "input", "replica_groups:elements", summary="A tensor of one device on all of its group."
    ),
    "all_to_all": _form(
        "input",
        "split_dim:si32 concat_dim:si32 split_count:si32 replica_groups:elements",
        summary="Parts exchanged among devices.",
    ),
    "mesh_partition": _form(
        "input", "dim:si32 cluster_axis?:ui32", summary="Each device's part of a tensor."
    ),
    "mesh_shard": _form(
        "input",
        "shard_type:#ttcore.shard_type shard_direction:#ttcore.shard_direction "
        "shard_shape:dense_i64 shard_dims:dense_i64",
        summary="A tensor divided over a mesh, or put together.",
    ),
    # others
    "rng_bit_generator": _form(
        "state",
        "philox:bool",
        results="output_state output",
        summary="Random bits, and the state after them.",
    ),
    "sampling": _form(
        "input_values input_indices k p temp", "seed?:ui32", summary="Draws from the largest."
    ),
    "adamw": _form(
        "param grad exp_avg exp_avg_sq max_exp_avg_sq? lr beta1_pow beta2_pow",
        _ADAMW,
        results="param_out exp_avg_out exp_avg_sq_out max_exp_avg_sq_out?",
        summary="A step of the optimizer AdamW.",
    ),
    "dropout": _form(
        "input",
        "prob:f32=0.0 scale:f32=1.0 seed:ui32=21 use_per_device_seed:bool=true",
        summary="Numbers, some of them replaced by 0.",
    ),
    "get_dimension_size": _form("input", "dimension:i32", summary="An extent as a tensor."),
    "tt_lang_op": _form(
        "inputs*",
        "arg_roles:string kernel_id:string shard_spec?:string version_tag:string",
        results="results*",
        summary="A kernel of tt-lang, which writes to those operands whose role is `out`.",
    ),
}
"""Forms of ttir operations, by the name in memory."""


# --- ttnn -----------------------------------------------------------------------------------------

_CONFIG = "compute_config?:#ttnn.device_compute_kernel_config"
_ACTIVATIONS = " ".join(f"{name}?:[#ttnn.unary_with_param]" for name in _FUSED[:3])
_BINARY = _form("lhs rhs", _ACTIVATIONS, read=_unfused())
_TTNN_REDUCTION = _form(
    "input", f"keep_dim:bool dim_arg?:i32s {_CONFIG}", read=_drop("compute_config")
)
_CONV2D = (
    "in_channels:i32 out_channels:i32 batch_size:i32 input_height:i32 input_width:i32 "
    "kernel_size:dense_i32 stride:dense_i32 padding:dense_i32 dilation:dense_i32 groups:i32 "
    f"conv2d_config?:#ttnn.conv2d_config {_CONFIG} "
    "conv2d_slice_config?:#ttnn.conv2d_slice_config"
)
_PREPARED = (
    "input_memory_config:#ttnn.memory_config input_tensor_layout:#ttnn.layout in_channels:i32 "
    "out_channels:i32 batch_size:i32 input_height:i32 input_width:i32 kernel_size:dense_i32 "
    "stride:dense_i32 padding:dense_i32 dilation:dense_i32 groups:i32 "
    "input_dtype:#tt.supportedDataTypes output_dtype?:#tt.supportedDataTypes "
    f"conv2d_config?:#ttnn.conv2d_config {_CONFIG} conv2d_slice_config?:#ttnn.conv2d_slice_config"
)
_PREPARED_WEIGHT = "The weight of a convolution as the library takes it."
_TTNN_POOL = (
    "batch_size:si32 input_height:si32 input_width:si32 channels:si32 kernel_size:dense_i32 "
    "stride:dense_i32 padding:dense_i32 dilation:dense_i32 ceil_mode:bool "
    "applied_shard_scheme?:#ttnn.tensor_memory_layout reallocate_halo_output?:bool "
    "config_tensors_in_dram?:bool"
)
_MATMUL_CONFIGS = "|".join(
    f"ttnn.matmul_multi_core_reuse{kind}_program_config"
    for kind in (
        "",
        "_multi_cast",
        "_multi_cast_1d",
        "_multi_cast_dram_sharded",
    )
)
_MATMUL = (
    "transpose_a:bool=false transpose_b:bool=false activation?:string "
    f"matmul_program_config?:#{_MATMUL_CONFIGS} {_CONFIG}"
)
_CREATED = "shape:#ttnn.shape"
_ATTENTION = "is_causal:bool=true scale?:f32"
_DECODED_ATTENTION = f"{_ATTENTION} program_config?:#ttnn.sdpa_program_config"
_COLLECTIVE = "sub_device_id?:ui8 num_links?:ui32 topology?:#ttcore.topology"


def _ttnn_image(
    parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    """One number for each axis: `kernel_size` is `kernel_height` and `kernel_width`."""
    _check_divisor(parameters)
    named = {"kernel": parameters["kernel_size"], **parameters}
    top, left, bottom, right = _margins(parameters["padding"])
    kept = (
        *("in_channels", "out_channels", "batch_size", "input_height", "input_width", "groups"),
        *("channels", "ceil_mode", "count_include_pad"),
    )
    padding = {
        "padding_top": top,
        "padding_left": left,
        "padding_bottom": bottom,
        "padding_right": right,
    }
    axes = ["kernel", "stride", "dilation"]
    axes += ["output_padding"] if "output_padding" in parameters else []
    return {
        **{name: parameters[name] for name in kept if name in parameters},
        **_axes(named, *axes),
        **padding,
    }


def _symmetric_image(
    parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    """The same with equal padding on opposite sides; ValueError for other padding."""
    found = _ttnn_image(parameters, shapes, result)
    top, left, bottom, right = (
        found.pop(f"padding_{side}") for side in ("top", "left", "bottom", "right")
    )
    if (top, left) != (bottom, right):
        raise ArgumentError(
            f"padding of top, left, bottom, right is {top}, {left}, {bottom}, {right}; the same on "
            "opposite sides is supported"
        )
    return {**found, "padding_height": top, "padding_width": left}


def _repeat(parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape) -> dict[str, Any]:
    padded = (1,) * (len(result) - len(shapes[0])) + tuple(shapes[0])
    counts = tuple(after // max(1, before) for before, after in zip(padded, result, strict=True))
    return {"repeat_dimensions": counts}


def _full(parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape) -> dict[str, Any]:
    return {"fillValue": float(parameters["fill_value"])}


def _other_order(
    parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    raise ArgumentError("takes its operands in another order than the definition")


def _ttnn_product(
    parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    configs = ("matmul_program_config", "compute_config")
    return _product(_unfused(*configs)(parameters, shapes, result), shapes, result)


def _one_dimension(
    parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    dim = parameters.get("dim_arg", parameters.get("dim"))
    dims = {} if dim is None else {"dim_arg": (dim,)}
    return {"keep_dim": parameters["keep_dim"], **dims}


def _last_dimension(
    parameters: dict[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    return {**parameters, "arange_dimension": len(result) - 1}


TTNN: Mapping[str, LateForm] = {
    # structure
    "to_tensor_spec": _form("input", "", summary="A tensor in another layout, type or memory."),
    "typecast": _form("input", ""),
    "deallocate": _form(
        "input", "force?:bool", results="", summary="The end of the life of a tensor's memory."
    ),
    "from_device": _form("input", "", summary="A tensor of the device on the host."),
    # elementwise
    **dict.fromkeys(
        (
            *("add", "subtract", "multiply", "div", "pow", "remainder", "maximum", "minimum"),
            *("eq", "ne", "gt", "ge", "lt", "le", "logical_and", "logical_or", "logical_xor"),
            *("bitwise_and", "bitwise_or", "bitwise_xor"),
            *("logical_left_shift", "logical_right_shift", "right_shift"),
        ),
        _BINARY,
    ),
    "clamp": _form("input", "min:number max:number", read=_clamp),
    "clamp_tensor": TTIR["clamp_tensor"],
    "pow_scalar": _form("lhs", "rhs:number", summary="A tensor to the power of a number."),
    **{name: TTIR[name] for name in ("relu6", "mish", "signbit", "softsign", "frac", "selu")},
    "reduce_precision": TTIR["reduce_precision"],
    "gelu_bw": TTIR["gelu_bw"],
    "mulhi": _form("lhs rhs", _ACTIVATIONS, summary=TTIR["mulhi"].summary),
    # reductions
    **dict.fromkeys(
        (
            *("sum", "mean", "max", "min", "reduce_and", "reduce_or"),
            *("reduce_bitwise_and", "reduce_bitwise_or", "reduce_bitwise_xor"),
        ),
        _TTNN_REDUCTION,
    ),
    "prod": _form("input", "keep_dim:bool dim_arg?:si64", read=_one_dimension),
    "argmax": _form(
        "input", "dim?:si32 keep_dim:bool=false use_multicore?:bool", read=_one_dimension
    ),
    "cumsum": _form("input", "dim:si32"),
    "cumprod": _form("input", "dim:si32", summary="Products of all elements up to each."),
    "cumulative": _form(
        "input",
        "dim:si32 reduction:#ttcore.reduce_type reverse:bool=false",
        summary="A reduction of all elements up to each.",
    ),
    # creation
    "full": _form("", f"{_CREATED} fill_value:number", read=_full, device=True),
    "zeros": _form("", _CREATED, device=True, summary="Zeros."),
    "ones": _form("", _CREATED, device=True, summary="Ones."),
    "rand": _form(
        "",
        "size:#ttnn.shape low:f32=0.0 high:f32=1.0 seed:ui32=0",
        device=True,
        summary="Uniformly distributed random numbers.",
    ),
    "arange": _form("", "start:si64 end:si64 step:si64", read=_last_dimension, device=True),
    # movement
    "permute": _form("input", "permutation:dense_i64 pad_value?:f32", read=_drop("pad_value")),
    "repeat": _form("input", "repeat_dims:#ttnn.shape", read=_repeat),
    "repeat_interleave": TTIR["repeat_interleave"],
    "pad": _form(
        "input", "padding:dense_i32 value:f32 use_multicore:bool", read=_drop("use_multicore")
    ),
    "slice_dynamic": _form("input begins ends", "step?:i32s", read=_slice_dynamic),
    # lookups
    "gather": _form("input index", "dim:si32"),
    "scatter": _form(
        "input index source",
        "dim:i32 scatter_reduce_type:#ttcore.reduce_type",
        read=_drop("scatter_reduce_type"),
    ),
    "rows_gather": TTIR["rows_gather"],
    "rows_scatter": TTIR["rows_scatter"],
    "embedding_backward": TTIR["embedding_backward"],
    "topk": _form(
        "input", "k:i32 dim:si32=-1 largest:bool=true sorted:bool=true", results="values indices"
    ),
    "sort": _form(
        "input", "dim:si8=-1 descending:bool=false stable:bool=false", results="values indices"
    ),
    # products
    "matmul": _form("a b", _MATMUL, read=_ttnn_product),
    "linear": _form("a b bias?", _MATMUL, summary="Product of matrices, a bias, an activation."),
    # windows
    "conv1d": _form(
        "input weight bias?",
        "in_channels:i32 out_channels:i32 batch_size:i32 input_length:i32 kernel_size:i32 "
        f"stride:i32 padding:dense_i32 dilation:i32 groups:i32 "
        f"conv2d_config?:#ttnn.conv2d_config {_CONFIG}",
        device=True,
        summary="Convolution along one dimension.",
    ),
    "conv2d": _form("input weight bias?", _CONV2D, read=_symmetric_image, device=True),
    "conv_transpose2d": _form(
        "input weight bias?", f"{_CONV2D} output_padding:dense_i32", read=_ttnn_image, device=True
    ),
    "conv3d": _form(
        "input weight bias?",
        "in_channels:i32 out_channels:i32 batch_size:i32 input_depth:i32 input_height:i32 "
        "input_width:i32 kernel_size:dense_i32 stride:dense_i32 padding:dense_i32 "
        "dilation:dense_i32 padding_mode:string=zeros groups:i32 "
        f"conv3d_config?:#ttnn.conv3d_config {_CONFIG}",
        device=True,
        summary="Convolution along three dimensions.",
    ),
    "prepare_conv3d_weights": _form(
        "weight_tensor",
        "groups:i32 c_in_block:i32 alignment:i32",
        device=True,
        summary=_PREPARED_WEIGHT,
    ),
    "prepare_conv2d_weights": _form(
        "weight_tensor",
        f"{_PREPARED} weights_format:string has_bias:bool",
        device=True,
        summary=_PREPARED_WEIGHT,
    ),
    "prepare_conv2d_bias": _form(
        "bias_tensor", _PREPARED, device=True, summary="The bias as the library takes it."
    ),
    "prepare_conv_transpose2d_weights": _form(
        "weight_tensor",
        f"{_PREPARED} output_padding?:dense_i32 weights_format:string has_bias:bool "
        "mirror_kernel:bool=true",
        device=True,
        summary=_PREPARED_WEIGHT,
    ),
    "prepare_conv_transpose2d_bias": _form(
        "bias_tensor", _PREPARED, device=True, summary="The bias as the library takes it."
    ),
    "max_pool2d": _form("input", _TTNN_POOL, read=_symmetric_image, device=False),
    "max_pool2d_with_indices": _form(
        "input",
        _TTNN_POOL,
        results="result result_indices",
        summary="The largest number of each window, and where it is.",
    ),
    "avg_pool2d": _form(
        "input",
        f"{_TTNN_POOL} count_include_pad:bool=true divisor_override?:i32",
        read=_ttnn_image,
        device=False,
    ),
    "global_avg_pool2d": TTIR["global_avg_pool2d"],
    "upsample": _form(
        "input", "scale_factor:signed_extents mode:string=nearest", summary="An image, enlarged."
    ),
    # normalization
    "softmax": _form(
        "input",
        f"dimension:si32 numericStable?:bool {_CONFIG}",
        read=_drop("numericStable", "compute_config"),
    ),
    "rms_norm": _form(
        "input weight? bias?",
        f"epsilon:f32=1e-12 {_CONFIG}",
        summary=TTIR["rms_norm"].summary,
    ),
    "layer_norm": _form(
        "input weight? bias?", "epsilon:f32=1e-12", summary=TTIR["layer_norm"].summary
    ),
    "group_norm": _form(
        "input input_mask? weight? bias?",
        "num_groups:i64 epsilon:f32=1e-12",
        summary=TTIR["group_norm"].summary,
    ),
    "rms_norm_pre_all_gather": _form(
        "input residual?",
        f"{_CONFIG} program_config?:#ttnn.layernorm_sharded_multicore_program_config "
        "use_2d_core_grid?:bool",
        summary="One device's part of the sums that a norm over several devices needs.",
    ),
    "layer_norm_pre_all_gather": _form(
        "input residual_input? recip?",
        f"{_CONFIG} program_config?:#ttnn.layernorm_sharded_multicore_program_config",
        summary="One device's part of the sums that a norm over several devices needs.",
    ),
    "layer_norm_post_all_gather": _form(
        "input stats weight? bias?",
        f"epsilon:f32=1e-12 {_CONFIG} "
        "program_config?:#ttnn.layernorm_sharded_multicore_program_config",
        summary="A norm from the sums of several devices.",
    ),
    "distributed_rms_norm": _form(
        "input weight? residual? stats? semaphore?",
        f"cluster_axis:ui32 epsilon:f32=1e-12 {_COLLECTIVE} {_CONFIG} "
        "program_config?:#ttnn.layernorm_sharded_multicore_program_config",
        device=True,
        summary=TTIR["distributed_rms_norm"].summary,
    ),
    "distributed_layer_norm": _form(
        "input weight? bias? residual?",
        "cluster_axis:ui32 epsilon:f32=1e-5",
        device=True,
        summary=TTIR["distributed_layer_norm"].summary,
    ),
    "dit_rms_norm_unary_fused": _form(
        "input weight? bias? residual_input?",
        f"epsilon:f32=1e-5 activation?:string memory_config?:#ttnn.memory_config {_CONFIG}",
        summary="A norm and an activation.",
    ),
    "batch_norm_inference": _form(
        "input running_mean running_var weight? bias?",
        f"epsilon:f32=1e-5 {_CONFIG}",
        read=_other_order,
    ),
    "batch_norm_training": _form(
        "input running_mean? running_var? weight? bias?",
        f"epsilon:f32=1e-5 momentum:f32=0.1 {_CONFIG}",
        results="result batch_mean batch_var",
        summary=TTIR["batch_norm_training"].summary,
    ),
    # attention
    "scaled_dot_product_attention": _form(
        "query key value attention_mask? attention_sink?",
        f"{_ATTENTION} sliding_window_size?:ui32",
        summary="Attention.",
    ),
    "scaled_dot_product_attention_decode": _form(
        "query key value attention_mask? cur_pos_tensor? attention_sink?",
        f"{_DECODED_ATTENTION} sliding_window_size?:ui32",
        summary=TTIR["scaled_dot_product_attention_decode"].summary,
    ),
    "flash_mla_prefill": _form(
        "query key value? attention_mask?",
        "head_dim_v:ui32 is_causal:bool=true scale?:f32",
        summary="Attention to a compressed cache.",
    ),
    "paged_flash_multi_latent_attention_decode": TTIR["paged_flash_multi_latent_attention_decode"],
    "indexer_score_dsa": _form(
        "query key weights",
        "chunk_start_idx:ui32=0 cluster_axis?:ui32",
        summary="Scores by which sparse attention chooses positions.",
    ),
    "sdpa_fw": _form(
        "query key value attention_mask?",
        "mask_type?:#ttcore.attention_mask_type dropout_probability?:f32 "
        "return_intermediates:bool=false",
        results="result intermediates?",
        summary=TTIR["sdpa_fw"].summary,
    ),
    "sdpa_bw": TTIR["sdpa_bw"],
    "concatenate_heads": TTIR["concatenate_heads"],
    # recurrent layers
    "gated_delta_rule": _form(
        "query key value g beta initial_state eye tril ones masks",
        "",
        results="final_state output",
        summary=TTIR["gated_delta_rule"].summary,
    ),
    "chunk_gated_delta_rule": _form(
        "query key value g beta initial_state? eye? tril? ones? masks?",
        "chunk_size:ui32=32 output_final_state:bool=false output_head_major:bool=false "
        "scale?:f32 use_qk_l2norm:bool=false",
        results="output final_state?",
        summary=TTIR["gated_delta_rule"].summary,
    ),
    **{
        name: TTIR[name]
        for name in ("gated_delta_decode", "causal_conv1d_update", "state_pool_update")
    },
    # training
    "cross_entropy_fw": _form(
        "input target", "", summary="The loss of scores against the right classes."
    ),
    "cross_entropy_bw": _form(
        "input target grad_output", "scaler:f32", summary="The gradient of that loss."
    ),
    "softmax_backward": _form(
        "softmax_output grad", "dimension:si32", summary="The gradient of `softmax`."
    ),
    "layernorm_fw": _form(
        "input weight bias",
        "epsilon:f32=1e-5 return_mean_rstd:bool=false",
        results="output mean? rstd?",
        summary="Mean 0 and variance 1, and what the gradient needs.",
    ),
    "layernorm_bw": _form(
        "input gamma mean rstd dL_dout",
        "",
        results="dx dgamma dbeta",
        summary="The gradients of `layernorm_fw`.",
    ),
    "rmsnorm_fw": _form(
        "input gamma",
        "epsilon:f32=1e-5 return_intermediates:bool=false",
        results="output rms?",
        summary="Division by the root of the mean square, and what the gradient needs.",
    ),
    "rmsnorm_bw": _form(
        "input gamma rms grad_output",
        "",
        results="grad_input grad_gamma",
        summary="The gradients of `rmsnorm_fw`.",
    ),
    "nlp_create_qkv_heads_decode": _form(
        "input batch_offset?",
        "num_heads:ui32 num_kv_heads?:ui32 overlap_qk_coregrid?:bool slice_size?:ui32",
        results="query key value",
        summary=TTIR["split_query_key_value_and_split_heads"].summary,
    ),
    "nlp_concat_heads": _form("input", "", summary=TTIR["concatenate_heads"].summary),
    "nlp_concat_heads_decode": _form(
        "input", "num_heads:ui32", summary=TTIR["concatenate_heads"].summary
    ),
    "split_query_key_value_and_split_heads": TTIR["split_query_key_value_and_split_heads"],
    "rotary_embedding": _form(
        "input cos_cache sin_cache", f"token_index?:ui32 {_CONFIG}", summary="Rotary positions."
    ),
    "rotary_embedding_llama": _form(
        "input cos_cache sin_cache trans_mat",
        f"is_decode_mode:bool=false {_CONFIG}",
        summary="Rotary positions.",
    ),
    "fill_cache": TTIR["fill_cache"],
    "update_cache": TTIR["update_cache"],
    "paged_fill_cache": TTIR["paged_fill_cache"],
    "paged_update_cache": TTIR["paged_update_cache"],
    # quantization
    "quantize": _form(
        "input scale zero_point",
        "axis?:i32 output_dtype?:#tt.supportedDataTypes",
        summary="Numbers as integers, by scale and zero point.",
    ),
    "dequantize": _form(
        "input scale zero_point",
        "axis?:i32 output_dtype?:#tt.supportedDataTypes",
        summary="Integers as numbers, by scale and zero point.",
    ),
    "requantize": _form(
        "input in_scale in_zero_point out_scale out_zero_point",
        "axis?:i32 output_dtype?:#tt.supportedDataTypes",
        summary="Integers by another scale and zero point.",
    ),
    # collectives
    "all_gather": _form(
        "input",
        f"all_gather_dim:si32 cluster_axis:ui32 {_COLLECTIVE}",
        summary=TTIR["all_gather"].summary,
    ),
    "reduce_scatter": _form(
        "input",
        "reduce_type:#ttcore.reduce_type scatter_dim:si32 cluster_axis:ui32 "
        f"{_COLLECTIVE} {_CONFIG}",
        summary=TTIR["reduce_scatter"].summary,
    ),
    **dict.fromkeys(
        ("all_reduce", "all_reduce_async"),
        _form(
            "input",
            f"reduce_type:#ttcore.reduce_type cluster_axis:ui32 {_COLLECTIVE}",
            summary=TTIR["all_reduce"].summary,
        ),
    ),
    "mesh_partition": TTIR["mesh_partition"],
    "collective_permute": TTIR["collective_permute"],
    "mesh_shard": _form(
        "input",
        "shard_type:#ttcore.shard_type shard_direction:#ttcore.shard_direction "
        "shard_shape:dense_i64 shard_dims:dense_i64",
        device=True,
        summary=TTIR["mesh_shard"].summary,
    ),
    "point_to_point": _form(
        "input optional_output_tensor?",
        "sender_coord:dense_i64 receiver_coord:dense_i64",
        summary="A tensor sent from one device to another.",
    ),
    "distribute_tensor": _form(
        "input",
        "mapper_config:#ttnn.mesh_mapper_config cq_id?:ui32",
        device=True,
        summary="A tensor divided over the devices of a mesh.",
    ),
    "aggregate_tensor": _form(
        "input",
        "composer_config:#ttnn.mesh_composer_config",
        device=True,
        summary="A tensor put together from the devices of a mesh.",
    ),
    # experts
    "all_to_all_dispatch": TTIR["all_to_all_dispatch"],
    "all_to_all_dispatch_metadata": _form(
        "input_tensor expert_indices expert_scores expert_mapping dispatched_buffer? "
        "indices_buffer? scores_buffer? cross_device_semaphore?",
        "num_devices:i64 cluster_axis:i64",
        results="dispatched indices scores",
        summary=TTIR["all_to_all_dispatch_metadata"].summary,
    ),
    **{
        name: TTIR[name]
        for name in (
            "all_to_all_combine",
            "selective_reduce_combine",
            "moe_expert_token_remap",
            "moe_gpt",
            "topk_router_gpt",
        )
    },
    "moe_compute": _form(
        "tilize_input_tensor tilize_expert_indices_tensor tilize_expert_scores_tensor "
        "tilize_expert_mapping_tensor matmul_w0_w1_tensor matmul_w2_tensor "
        "optional_output_tensor? cross_device_semaphore?",
        "layer_id:ui32 output_height_shard_dim:ui32 intermediate_size:ui32 has_bias:bool "
        "cluster_axis?:ui32 activation_function?:#ttcore.moe_activation_function "
        "num_links?:ui32 topology?:#ttcore.topology "
        "mux_core_range_set:#ttnn.core_range_set rings?:ui32",
        results="combine_output",
        device=True,
        summary=TTIR["moe_compute"].summary,
    ),
    "prepare_moe_compute_w0_w1_weights": _form(
        "w0 w1 bias_0? bias_1?",
        "hidden_size:ui32 intermediate_size:ui32",
        device=True,
        summary="The first weights of experts as the library takes them.",
    ),
    "prepare_moe_compute_w2_weights": _form(
        "w2 bias_2?",
        "hidden_size:ui32 intermediate_size:ui32",
        device=True,
        summary="The last weights of experts as the library takes them.",
    ),
    # semaphores and traces
    "create_global_semaphore": _form(
        "",
        "core_range_set:#ttnn.core_range_set initial_value?:ui32",
        results="semaphore",
        device=True,
        summary="A number that cores of all devices count with.",
    ),
    "allocate_moe_compute_semaphore": _form(
        "",
        "mux_core_range_set:#ttnn.core_range_set output_height_shard_dim:ui32 "
        "hidden_size:ui32 initial_value?:ui32",
        results="semaphore",
        device=True,
        summary="The semaphore of `moe_compute`.",
    ),
    "reset_global_semaphore": _form(
        "semaphore", "value:ui32", results="", summary="A semaphore set to a number."
    ),
    "begin_trace_capture": _form(
        "", "cq_id:ui32=0", results="trace_id", device=True, summary="The start of a recording."
    ),
    "end_trace_capture": _form(
        "device trace_id", "cq_id:ui32=0", results="", summary="The end of a recording."
    ),
    "execute_trace": _form(
        "device trace_id",
        "cq_id:ui32=0 blocking:bool=false",
        results="",
        summary="What was recorded, done again.",
    ),
    "capture_or_execute_trace": _form(
        "device inputs* semaphores*",
        "allocate_slots_callee:symbol capture_callee:symbol execute_callee:symbol "
        "device_resident_input_count:i32",
        results="results*",
        summary="A recording, made at the first call and done again at others.",
    ),
    # others
    "assign": _form("input", "", summary="A copy."),
    "copy": _form("src dst", "", results="", summary="A tensor written to another."),
    "write_tensor": _form(
        "host_tensor device_tensor",
        "blocking:bool=false cq_id:ui32=0",
        results="",
        summary="A tensor of the host written to one of the device.",
    ),
    "dump_tensor": _form("input", "file_path:string", results="", summary="A tensor as a file."),
    "load_tensor": _form("device?", "file_path:string", summary="A tensor from a file."),
    "tt_lang_op": _form(
        "inputs*",
        "arg_roles:string kernel_artifact?:string kernel_id:string shard_spec?:string "
        "version_tag:string",
        results="results*",
        summary=TTIR["tt_lang_op"].summary,
    ),
    "d2m_subgraph": _form(
        "inputs* outs*",
        "d2m_func:symbol",
        results="results*",
        summary="A function that is compiled to kernels.",
    ),
    "yield": _form("values*", "", results="", summary="What a region gives."),
    "rng_bit_generator": TTIR["rng_bit_generator"],
    "sampling": TTIR["sampling"],
    "adamw": _form(
        "param grad exp_avg exp_avg_sq max_exp_avg_sq? lr beta1_pow beta2_pow",
        _ADAMW,
        results="",
        summary="A step of the optimizer AdamW, in place.",
    ),
    "sparse_matmul": _form(
        "a b sparsity",
        "is_input_a_sparse:bool=false is_input_b_sparse:bool=true nnz?:i64 "
        f"program_config?:#{_MATMUL_CONFIGS} {_CONFIG}",
        summary="Products of those matrices that a tensor of numbers names.",
    ),
    "paged_scaled_dot_product_attention_decode": _form(
        "query key value page_table attention_mask? cur_pos_tensor? attention_sink?",
        f"{_DECODED_ATTENTION} sliding_window_size?:ui32",
        summary="Attention of one position to a cache of pages.",
    ),
    "chunked_scaled_dot_product_attention": _form(
        "query key value page_table chunk_start_idx",
        "scale?:f32 program_config?:#ttnn.sdpa_program_config",
        summary="Attention of a part of the positions to a cache of pages.",
    ),
    "dropout": TTIR["dropout"],
}
"""Forms of ttnn operations, by the name in memory."""
