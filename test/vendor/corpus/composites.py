"""Composites and custom calls that the vendor's compiler knows by name.

Composites carry what they mean, so they run anywhere; custom calls are understood by it alone.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from corpus.program import Family, argument

FAMILY = Family()


def _compose(name: str, function: Any, **attributes: Any) -> Any:
    """A function as a composite of this name with attributes."""

    def called(*values: Array) -> Any:
        return lax.composite(function, f"tenstorrent.{name}")(*values, **attributes)

    return called


def _rms_norm(x: Array, w: Array | None = None, **attributes: Any) -> Array:
    scaled = x * lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-5)
    return scaled if w is None else scaled * w


def _layer_norm(x: Array, w: Array, b: Array, **attributes: Any) -> Array:
    centered = x - jnp.mean(x, axis=-1, keepdims=True)
    return centered * lax.rsqrt(jnp.mean(centered**2, axis=-1, keepdims=True) + 1e-5) * w + b


def _group_norm(x: Array, w: Array, b: Array, **attributes: Any) -> Array:
    grouped = x.reshape(x.shape[0], -1, 2, x.shape[-1] // 2)
    centered = grouped - jnp.mean(grouped, axis=(1, 3), keepdims=True)
    normed = centered * lax.rsqrt(jnp.mean(centered**2, axis=(1, 3), keepdims=True) + 1e-5)
    return normed.reshape(x.shape) * w + b


def _attend(q: Array, k: Array, v: Array, mask: Array | None = None, **attributes: Any) -> Array:
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores + mask
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), v)


def _attend_causally(q: Array, k: Array, v: Array, **attributes: Any) -> Array:
    ahead = jnp.triu(jnp.full((q.shape[2], k.shape[2]), -1e9, q.dtype), 1)
    return _attend(q, k, v, ahead)


def _composites() -> None:
    add = FAMILY.add
    for dtype in ("f32", "bf16"):
        gelu = _compose("gelu", lambda x: jax.nn.gelu(x, approximate=False))
        add("composite_gelu", gelu, f"{dtype} 33x70")
        tanh = _compose("gelu_tanh", lambda x: jax.nn.gelu(x, approximate=True))
        add("composite_gelu_tanh", tanh, f"{dtype} 33x70")
        shape = np.array([64], np.int64)
        norm = _compose("rms_norm", _rms_norm, epsilon=np.float32(1e-5), normalized_shape=shape)
        add("composite_rms_norm", norm, f"{dtype} 33x64", f"{dtype} 64", wide=True)
        norm = _compose("layer_norm", _layer_norm, epsilon=np.float32(1e-5), normalized_shape=shape)
        add(
            "composite_layer_norm",
            norm,
            f"{dtype} 2x33x64",
            f"{dtype} 64",
            f"{dtype} 64",
            wide=True,
        )
        attend = _compose(
            "scaled_dot_product_attention", _attend, is_causal=False, scale=np.float32(0.125)
        )
        add("composite_attention", attend, *[f"{dtype} 1x4x32x64"] * 3)
    norm = _compose(
        "rms_norm", _rms_norm, epsilon=np.float32(1e-5), normalized_shape=np.array([64], np.int64)
    )
    add("composite_rms_norm", norm, "bf16 1x33x64", variant="without_weight", wide=True)
    norm = _compose("group_norm", _group_norm, epsilon=np.float32(1e-5), num_groups=np.int64(2))
    add("composite_group_norm", norm, "f32 1x8x8x64", "f32 64", "f32 64", wide=True)
    attend = _compose(
        "scaled_dot_product_attention", _attend, is_causal=False, scale=np.float32(0.125)
    )
    add("composite_attention", attend, *["bf16 1x4x32x64"] * 3, "bf16 1x1x32x32", variant="mask")
    attend = _compose(
        "scaled_dot_product_attention", _attend_causally, is_causal=True, scale=np.float32(0.125)
    )
    add("composite_attention", attend, *["bf16 1x4x32x64"] * 3, variant="causal")
    top = {"k": np.int64(4), "dim": np.int64(-1), "largest": True, "sorted": True}
    add(
        "composite_topk",
        _compose("topk", lambda x, **_: tuple(lax.top_k(x, 4)), **top),
        "f32 5x64 distinct",
        wide=True,
    )
    add(
        "composite_topk_values",
        _compose("topk_values", lambda x, **_: lax.top_k(x, 4)[0], **top),
        "bf16 5x64 distinct",
        wide=True,
    )
    add(
        "composite_topk_indices",
        _compose("topk_indices", lambda x, **_: lax.top_k(x, 4)[1], **top),
        "bf16 5x64 distinct",
        wide=True,
    )
    argmax = _compose(
        "argmax",
        lambda x, **_: jnp.argmax(x, axis=-1).astype(jnp.int32),
        dim=np.int64(-1),
        keepdim=False,
    )
    add("composite_argmax", argmax, "bf16 5x64 distinct", wide=True)
    gather = _compose(
        "gather",
        lambda x, i, **_: jnp.take_along_axis(x, i, axis=1),
        dim=np.int64(1),
        sparse_grad=False,
    )
    add("composite_gather", gather, "f32 5x33", "i32 5x3 in 0 33", variant="meaning")
    gather = _compose(
        "gather_dim", lambda x, i, **_: jnp.take_along_axis(x, i, axis=1), dim=np.int64(1)
    )
    add("composite_gather_dim", gather, "bf16 32x64", "u32 32x32 in 0 64", variant="meaning")


_ALIAS = (
    ", output_operand_aliases = [#stablehlo.output_operand_alias<"
    "output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]"
)


def _call(
    target: str,
    result: str,
    *arguments: str,
    variant: str = "",
    frontend: str | None = None,
    backend: str | None = None,
    updates: bool = False,
) -> None:
    """Add a program that is one custom call, whose result may update its first operand."""
    types = [argument(each).mlir_type for each in arguments]
    operands = ", ".join(f"%arg{number}" for number in range(len(types)))
    version, words = (0, f"mhlo.frontend_attributes = {{{frontend}}}")
    if backend is not None:
        version, words = 4, f"backend_config = {{{backend}}}"
    returned = argument(result).mlir_type
    FAMILY.write(
        f"call_{target}",
        f"%0 = stablehlo.custom_call @tt.{target}({operands}) {{api_version = {version} : i32, "
        f"{words}{_ALIAS if updates else ''}}} : ({', '.join(types)}) -> {returned}\n"
        f"return %0 : {returned}",
        *arguments,
        variant=variant,
    )


def _calls() -> None:
    cache, blocks = "bf16 1x4x64x32", "bf16 8x4x32x32"
    offset = 'batch_offset = "0"'
    _call("fill_cache", cache, cache, "bf16 1x4x33x32", frontend=offset, updates=True)
    _call("fill_cache", cache, cache, "bf16 1x4x33x32", frontend=offset, variant="no_alias")
    step = "i32 1 in 0 64"
    _call("update_cache", cache, cache, "bf16 1x4x1x32", step, frontend=offset, updates=True)
    table, places = "i32 2x4 in 0 8", "i32 2 in 0 64"
    share = 'share_cache = "false"'
    new = "bf16 1x2x4x32"
    _call("paged_update_cache", blocks, blocks, new, places, table, frontend=share, updates=True)
    _call("paged_fill_cache", blocks, blocks, cache, table, frontend="", updates=True)
    _call(
        "paged_fill_cache",
        blocks,
        blocks,
        cache,
        table,
        "i32 1 in 0 2",
        frontend="",
        updates=True,
        variant="index",
    )
    query = "bf16 1x4x32x64"
    for causal in ("true", "false"):
        words = f'is_causal = "{causal}", scale = "0.125"'
        _call(
            "scaled_dot_product_attention",
            query,
            *[query] * 3,
            frontend=words,
            variant=f"causal_{causal}",
        )
    words = 'is_causal = "false", scale = "0.125"'
    _call(
        "scaled_dot_product_attention",
        query,
        *[query] * 3,
        "bf16 1x1x32x32",
        frontend=words,
        variant="mask",
    )
    words = (
        'is_causal = "true", has_attention_mask = "false", has_attention_sink = "false", '
        'scale = "0.125"'
    )
    one = "bf16 1x1x4x64"
    _call(
        "scaled_dot_product_attention_decode",
        one,
        one,
        *["bf16 1x2x64x64"] * 2,
        step,
        frontend=words,
    )
    words = (
        "is_causal = true, has_attention_mask = false, has_cur_pos_tensor = true, "
        "has_attention_sink = false, scale = 0.125 : f32"
    )
    one, pages = "bf16 1x2x4x64", "bf16 8x2x32x64"
    _call(
        "paged_scaled_dot_product_attention_decode",
        one,
        one,
        pages,
        pages,
        table,
        places,
        backend=words,
    )
    pages = "bf16 8x4x32x64"
    _call(
        "chunked_scaled_dot_product_attention",
        query,
        query,
        pages,
        pages,
        "i32 1x4 in 0 8",
        "i32 1 in 0 32",
        backend="scale = 0.125 : f32",
    )
    _call(
        "sampling",
        "i32 32",
        "bf16 32x64",
        "i32 32x64 in 0 64",
        "i32 32 in 1 9",
        "bf16 32 in 0 1",
        "bf16 32 in 0.5 1",
        frontend='seed = "3"',
    )
    words = 'is_input_a_sparse = "false", is_input_b_sparse = "true", nnz = "0"'
    _call(
        "sparse_matmul",
        "bf16 2x1x1x4x32x96",
        "bf16 2x1x32x64",
        "bf16 1x4x64x96",
        "bf16 2x1x1x4 in 0 1",
        frontend=words,
    )
    words = (
        'head_dim_v = "32", is_causal = "true", has_value = "false", '
        'has_attention_mask = "false", scale = "0.125"'
    )
    _call("flash_mla_prefill", "bf16 1x4x32x32", query, "bf16 1x1x32x64", frontend=words)
    _call(
        "weight_dtype_override",
        "bf16 64x32",
        "bf16 64x32",
        frontend='ttcore.weight_dtype = "bfp_bf8"',
    )


def _written_composite(
    name: str, attributes: str, arguments: list[str], results: list[str]
) -> None:
    """Add a composite that JAX cannot say, or has no short meaning for: it gives zeros there."""
    taken = [argument(each).mlir_type for each in arguments]
    given = [argument(each).mlir_type for each in results]
    operands = ", ".join(f"%arg{number}" for number in range(len(taken)))
    parameters = ", ".join(f"%arg{number}: {each}" for number, each in enumerate(taken))
    outside = ["%0"] if len(given) == 1 else [f"%0#{number}" for number in range(len(given))]
    inside = [f"%{number}" for number in range(len(given))]
    zeros = [
        f"  %{number} = stablehlo.constant dense<{0 if 'i' in each[-3:] else 0.0}> : {each}"
        for number, each in enumerate(given)
    ]
    listed = ", ".join(given)
    FAMILY.write(
        f"composite_{name}",
        f"%0{f':{len(given)}' if len(given) > 1 else ''} = stablehlo.composite "
        f'"tenstorrent.{name}" {operands} {{composite_attributes = {{{attributes}}}, '
        f"decomposition = @meaning}} : ({', '.join(taken)}) -> ({listed})\n"
        f"return {', '.join(outside)} : {listed}",
        *arguments,
        functions="\n".join(
            [
                f"func.func private @meaning({parameters}) -> ({listed}) {{",
                *zeros,
                f"  return {', '.join(inside)} : {listed}",
                "}",
            ]
        ),
    )


def _written() -> None:
    write = _written_composite
    epsilon = "epsilon = 1.0e-5 : f32"
    rows, columns, narrow = "f32 1x1x32x64", "f32 1x1x1x64", "f32 1x1x32x1"
    write("layernorm_fw", epsilon, [rows, columns, columns], [rows, narrow, narrow])
    write("layernorm_bw", "", [rows, columns, narrow, narrow, rows], [rows, columns, columns])
    weights = "bf16 1x1x32x64"
    rates = (
        "beta1 = 0.9 : f32, beta2 = 0.999 : f32, epsilon = 1.0e-8 : f32, weight_decay = 0.01 : f32"
    )
    write(
        "adamw",
        rates,
        [*[weights] * 3, f"{weights} in 0 1", *["f32 scalar in 0 1"] * 3],
        [weights] * 3,
    )
    labels = "u32 1x32 in 0 64"
    write("cross_entropy_fw", "", [weights, labels], ["bf16 1x1x32x1"])
    write("cross_entropy_bw", "scaler = 1.0 : f32", [weights, labels, "bf16 1x1x32x1"], [weights])
    for name in ("gather", "gather_dim"):
        write(name, "dim = 1 : i64", ["f32 5x33", "i32 5x3 in 0 33"], ["f32 5x3"])
    query = "bf16 1x4x32x64"
    write(
        "sdpa_fw",
        "mask_type = 1 : i32, dropout_probability = 0.0 : f32",
        [query] * 3,
        [query, "f32 1x4x32x64"],
    )
    write("sdpa_bw", "mask_type = 1 : i32", [*[query] * 5, "bf16 1x4x32x32"], [query] * 3)


def _marks() -> None:
    write = FAMILY.write
    for kind in ("input", "parameter", "constant"):
        attributes = f'{{ttcore.argument_type = "{kind}", ttir.name = "weight"}}'
        write(
            "call_mark_argument",
            f"""
            %0 = stablehlo.custom_call @tt.mark_argument(%arg1)
                {{api_version = 0 : i32, mhlo.frontend_attributes = {attributes}}}
                : (tensor<64x31xbf16>) -> tensor<64x31xbf16>
            %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0]
                : (tensor<33x64xbf16>, tensor<64x31xbf16>) -> tensor<33x31xbf16>
            return %1 : tensor<33x31xbf16>
            """,
            "bf16 33x64",
            "bf16 64x31",
            variant=kind,
        )
    write(
        "call_argument_types",
        """
        %0 = stablehlo.custom_call @tt.mark_argument(%arg1) {api_version = 0 : i32,
            mhlo.frontend_attributes = {ttcore.argument_type = "parameter",
            ttir.name = "layer.weight"}} : (tensor<31x64xbf16>) -> tensor<31x64xbf16>
        %1 = stablehlo.custom_call @tt.mark_argument(%arg2) {api_version = 0 : i32,
            mhlo.frontend_attributes = {ttcore.argument_type = "parameter",
            ttir.name = "layer.bias"}} : (tensor<31xbf16>) -> tensor<31xbf16>
        %2 = stablehlo.transpose %0, dims = [1, 0] : (tensor<31x64xbf16>) -> tensor<64x31xbf16>
        %3 = stablehlo.dot_general %arg0, %2, contracting_dims = [1] x [0]
            : (tensor<33x64xbf16>, tensor<64x31xbf16>) -> tensor<33x31xbf16>
        %4 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<31xbf16>) -> tensor<33x31xbf16>
        %5 = stablehlo.add %3, %4 : tensor<33x31xbf16>
        return %5 : tensor<33x31xbf16>
        """,
        "bf16 33x64",
        "bf16 31x64",
        "bf16 31",
        variant="constant_evaluation",
    )


def _weight_types() -> None:
    for kind in ("bfp_bf8", "bfp_bf4"):
        FAMILY.write_module(
            "weight_dtype",
            f"""module @weight_dtype {{
  func.func public @main(%x: tensor<33x64xbf16>, %w: tensor<64x32xbf16>
      {{ttcore.weight_dtype = "{kind}"}}) -> tensor<33x32xbf16> {{
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<33x64xbf16>, tensor<64x32xbf16>) -> tensor<33x32xbf16>
    return %0 : tensor<33x32xbf16>
  }}
}}
""",
            "bf16 33x64",
            "bf16 64x32",
            variant=kind,
        )


_composites()
_calls()
_written()
_marks()
_weight_types()
PROGRAMS = FAMILY.programs
