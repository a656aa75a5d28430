"""Models of operators of onnxruntime's own domain, and of regions of images, whose results
onnxruntime has recorded.

    python test/support/samples/onnx_runtime_models.py

runs all of them with onnxruntime, which nothing else needs, and writes its results to the file that
the suite compares with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from samples.onnx_graphs import helper, model, node, value

RECORD = Path(__file__).parents[2] / "frontend" / "onnx" / "Inputs" / "onnxruntime.npz"


@dataclass
class Case:
    """One operator, with the numbers of its inputs."""

    name: str
    operator: str
    inputs: tuple[Any, ...]
    """None for one that is left out."""
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    results: int = 1
    weights: tuple[int, ...] = ()
    """Which inputs are initializers."""
    compared: int = 99
    """How many results are compared."""
    domain: str = "com.microsoft"
    steps: float = 0
    """How far integers may be off: where onnxruntime rounds what tables and its own sums give."""
    tolerance: float = 2e-5
    """How far other numbers may be off."""

    def proto(self) -> Any:
        """The model."""
        names = ["-" if each is None else f"x{place}" for place, each in enumerate(self.inputs)]
        given = [(name, each) for name, each in zip(names, self.inputs, strict=True) if name != "-"]
        fixed = {f"x{place}" for place in self.weights}
        outputs = " ".join(f"y{place}" for place in range(self.results))
        proto = model(
            [node(self.operator, " ".join(names), outputs, domain=self.domain, **self.attributes)],
            [value(name, each.shape, _type_of(each)) for name, each in given if name not in fixed],
            [value(name, None, 0) for name in outputs.split()],
            {name: each for name, each in given if name in fixed},
        )
        proto.opset_import.append(helper.make_opsetid("com.microsoft", 1))
        for each in proto.graph.output:
            each.ClearField("type")
        return proto

    @property
    def arguments(self) -> list[NDArray[Any]]:
        """The inputs that are no initializers."""
        pairs = enumerate(self.inputs)
        return [each for place, each in pairs if each is not None and place not in self.weights]


def _type_of(array: NDArray[Any]) -> int:
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def _numbers(*shape: int, seed: int = 0, scale: float = 1) -> NDArray[Any]:
    random = np.random.default_rng([seed, *shape])
    return (random.standard_normal(shape) * scale).astype(np.float32)


def _whole(
    *shape: int, seed: int = 0, dtype: Any = np.uint8, low: int = 0, high: int = 256
) -> NDArray[Any]:
    return np.random.default_rng([seed, *shape]).integers(low, high, shape).astype(dtype)


def _cases_of_elements() -> Iterator[Case]:
    x, row = _numbers(2, 5, 12), _numbers(12, seed=1)
    yield Case("gelu", "Gelu", (x,))
    yield Case("fast_gelu", "FastGelu", (x, row))
    yield Case("bias_gelu", "BiasGelu", (x, row))
    yield Case("quick_gelu", "QuickGelu", (x,))
    yield Case("expand_dims", "ExpandDims", (x, np.array(-1, np.int32)), weights=(1,))
    shift = {"upper": 0}
    yield Case("trilu", "Trilu", (x, np.array(2)), shift, weights=(1,))
    index = np.array([[1, 0], [0, 4]])
    yield Case("gather_nd", "GatherND", (x, index), weights=(1,))
    grid = _numbers(2, 3, 4, 2)
    yield Case("grid_sample", "GridSample", (_numbers(2, 3, 5, 6), grid), {"mode": "bilinear"})
    yield Case("inverse", "Inverse", (_numbers(2, 5, 5) + 2 * np.eye(5, dtype=np.float32),))
    yield Case("cdist", "CDist", (_numbers(5, 7), _numbers(6, 7)), {"metric": "euclidean"})
    yield Case("fused_matmul", "FusedMatMul", (x, x), {"transB": 1, "alpha": 0.5})
    batches = {"transBatchA": 1, "transA": 1}
    yield Case(
        "fused_matmul_batches", "FusedMatMul", (_numbers(7, 3, 4), _numbers(3, 7, 2)), batches
    )
    gemm = {"transB": 1, "activation": "LeakyRelu", "activation_alpha": 0.3, "beta": 2.0}
    yield Case("fused_gemm", "FusedGemm", (x[0], _numbers(3, 12), _numbers(3)), gemm)
    convolution = {"activation": "Clip", "activation_params": [-0.5, 1.5], "pads": [1, 0, 1, 2]}
    image = _numbers(2, 4, 7, 9)
    yield Case("fused_conv", "FusedConv", (image, _numbers(6, 4, 3, 3), _numbers(6)), convolution)
    relu = {"activation": "Relu", "group": 2}
    shift = _numbers(2, 6, 5, 7)
    yield Case(
        "fused_conv_sum", "FusedConv", (image, _numbers(6, 2, 3, 3), _numbers(6), shift), relu
    )


def _cases_of_norms() -> Iterator[Case]:
    x, skip = _numbers(2, 5, 12), _numbers(2, 5, 12, seed=1)
    gamma, beta, bias = (_numbers(12, seed=seed) for seed in (2, 3, 4))
    inputs = (x, skip, gamma, beta, bias)
    yield Case("skip_norm", "SkipLayerNormalization", inputs, {"epsilon": 1e-5})
    inputs = (x, skip, gamma, bias)
    yield Case("skip_rms_norm", "SkipSimplifiedLayerNormalization", inputs, {"epsilon": 1e-5})
    rms = {"axis": -1, "epsilon": 1e-6}
    yield Case("rms_norm", "SimplifiedLayerNormalization", (x, gamma), rms, domain="")
    words = _whole(2, 7, high=20, dtype=np.int32)
    segments = _whole(2, 7, high=3, dtype=np.int32)
    tables = (_numbers(20, 12), _numbers(9, 12), _numbers(3, 12))
    mask = (np.arange(7) < np.array([[4], [7]])).astype(np.int32)
    inputs = (words, segments, *tables, gamma, beta, mask)
    yield Case("embed", "EmbedLayerNormalization", inputs, results=2)


def _cases_of_attention() -> Iterator[Case]:
    x, weight, bias = _numbers(2, 6, 16), _numbers(16, 24, scale=0.3), _numbers(24, scale=0.2)
    mask = (np.arange(6) < np.array([[3], [6]])).astype(np.int32)
    heads = {"num_heads": 2}
    yield Case("attention", "Attention", (x, weight, bias), heads)
    yield Case("attention_mask", "Attention", (x, weight, bias, mask), heads)
    lengths = np.array([4, 5], np.int32)
    causal = {**heads, "unidirectional": 1}
    yield Case("attention_lengths", "Attention", (x, weight, bias, lengths), causal)
    past = _numbers(2, 2, 2, 3, 4)
    yield Case("attention_past", "Attention", (x, weight, bias, None, past), causal, 2)
    sizes = {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 12], "scale": 0.3}
    wide = _numbers(16, 28, scale=0.3), _numbers(28, scale=0.2)
    added = _numbers(1, 2, 6, 6)
    yield Case("attention_sizes", "Attention", (x, *wide, None, None, added), sizes)
    q, k, v = _numbers(2, 5, 8), _numbers(2, 7, 8), _numbers(2, 7, 12)
    yield Case("multi_head", "MultiHeadAttention", (q, k, v), heads)
    padding = (np.arange(7) < np.array([[3], [7]])).astype(np.int32)
    inputs = (q, k, v, _numbers(28), padding, _numbers(1, 2, 5, 7))
    yield Case("multi_head_mask", "MultiHeadAttention", inputs, heads)
    cache = _numbers(2, 2, 3, 4)
    inputs = (q, k[:, :5], v[..., :8][:, :5], None, None, None, cache, cache + 1)
    yield Case("multi_head_past", "MultiHeadAttention", inputs, heads, 3)
    angles = np.outer(np.arange(20), [1.0, 0.3, 0.1, 0.03]).astype(np.float32)
    tables = np.cos(angles), np.sin(angles)
    for name, sequence, used, options in (
        ("prompt", 6, [5, 5], {}),
        ("step", 1, [6, 8], {"softcap": 2.0}),
        ("window", 1, [6, 8], {"local_window_size": 4}),
    ):
        total = max(used) + 1
        inputs = (
            _numbers(2, sequence, 64),
            _numbers(2, sequence, 32, seed=1),
            _numbers(2, sequence, 32, seed=2),
            *(_numbers(2, 2, 0 if sequence > 1 else 8, 16, seed=seed) for seed in (3, 4)),
            np.array(used, np.int32),
            np.array(total, np.int32),
            *(np.tile(each, 2) for each in tables),
        )
        given = {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1, **options}
        case = Case(f"grouped_{name}", "GroupQueryAttention", inputs, given, 3, (6,))
        # Rows of caches beyond those of a text are anything.
        case.compared = 3 if sequence > 1 else 1
        yield case
    yield from _cases_of_caches()
    places = np.array([[3, 4, 5, 6, 7], [0, 1, 2, 3, 4]])
    yield Case("rotary", "RotaryEmbedding", (_numbers(2, 5, 16), places, *tables))
    neighbours = {"interleaved": 1}
    inputs = (_numbers(2, 3, 5, 8), np.array([2]), *tables)
    yield Case("rotary_interleaved", "RotaryEmbedding", inputs, neighbours)


def _cases_of_caches() -> Iterator[Case]:
    """Attention in groups whose scores are shared with sinks, and whose cache is of integers."""
    rows = (_numbers(1, 1, 64), _numbers(1, 1, 32, seed=1), _numbers(1, 1, 32, seed=2))
    counts = np.array([9], np.int32), np.array(10, np.int32)
    heads: dict[str, Any] = {"num_heads": 4, "kv_num_heads": 2}
    caches = _numbers(1, 2, 9, 16, seed=3), _numbers(1, 2, 9, 16, seed=4)
    inputs = (*rows, *caches, *counts)
    sinks = (*inputs, None, None, None, None, _numbers(4))
    yield Case("grouped_sinks", "GroupQueryAttention", sinks, heads, 3, (6, 11))
    yield Case("grouped_smooth", "GroupQueryAttention", inputs, {**heads, "smooth_softmax": 1}, 3)
    whole = [_whole(1, 2, 9, 16, seed=seed, dtype=np.int8, low=-127, high=128) for seed in (5, 6)]
    for kind, extent in (("PER_TENSOR", 1), ("PER_CHANNEL", 32)):
        steps = [np.abs(_numbers(extent, seed=seed, scale=0.02)) + 0.01 for seed in (7, 8)]
        inputs = (*rows, *whole, *counts, *(None,) * 5, *(each.astype("f") for each in steps))
        given = {"k_quant_type": kind, "v_quant_type": kind, "kv_cache_bit_width": 8}
        name = f"grouped_{kind.lower()}"
        yield Case(name, "GroupQueryAttention", inputs, {**heads, **given}, 3, (6, 12, 13), steps=1)


def _scalar(number: float) -> NDArray[Any]:
    return np.array(number, np.float32)


def _zero(number: int, dtype: Any = np.uint8) -> NDArray[Any]:
    return np.array(number, dtype)


def _cases_of_integers() -> Iterator[Case]:
    a, b = _whole(2, 5, 12), _whole(1, 12, seed=1)
    sides = (a, _scalar(0.02), _zero(120), b, _scalar(0.03), _zero(90))
    for operator in ("QLinearAdd", "QLinearMul"):
        yield Case(operator, operator, (*sides, _scalar(0.05), _zero(130)), steps=1)
    one = (a, _scalar(0.02), _zero(120), _scalar(0.01), _zero(30))
    yield Case("QLinearSigmoid", "QLinearSigmoid", one, weights=(1, 2, 3, 4), steps=1)
    slope = {"alpha": 0.2}
    yield Case("QLinearLeakyRelu", "QLinearLeakyRelu", one, slope, weights=(1, 2, 3, 4), steps=1)
    shares = (a, _scalar(0.02), _zero(120), _scalar(1 / 256), _zero(0))
    options = {"axis": -1, "opset": 13}
    yield Case("QLinearSoftmax", "QLinearSoftmax", shares, options, weights=(1, 2, 3, 4), steps=1)
    image = _whole(2, 3, 6, 8)
    means = (image, _scalar(0.02), _zero(120), _scalar(0.03), _zero(100))
    yield Case("QLinearGlobalAveragePool", "QLinearGlobalAveragePool", means, steps=1)
    options = {"kernel_shape": [3, 2], "pads": [1, 0, 1, 0], "strides": [2, 1]}
    yield Case("QLinearAveragePool", "QLinearAveragePool", means, options, steps=1)
    joined = (_scalar(0.04), _zero(128), a, *sides[1:3], a[:, :2], _scalar(0.03), _zero(90))
    yield Case("QLinearConcat", "QLinearConcat", joined, {"axis": 1}, steps=1)
    condition = _whole(2, 5, 12, high=2).astype(bool)
    chosen = (condition, *sides[:3], _whole(2, 5, 12, seed=3), *sides[4:], _scalar(0.04), _zero(9))
    yield Case("QLinearWhere", "QLinearWhere", chosen, steps=1)
    right = _whole(12, 7, dtype=np.int8, low=-128, high=128)
    columns = np.linspace(0.01, 0.05, 7, dtype=np.float32)
    inputs = (a[0], right, _scalar(0.02), columns, _zero(120), _zero(0, np.int8), _numbers(7))
    yield Case("MatMulIntegerToFloat", "MatMulIntegerToFloat", inputs)
    inputs = (_numbers(5, 12), right, _scalar(0.03), _zero(3, np.int8), _numbers(7))
    yield Case("DynamicQuantizeMatMul", "DynamicQuantizeMatMul", inputs, weights=(1,))
    bias = _whole(7, low=-900, high=900, dtype=np.int32)
    scales = _scalar(0.02), _zero(120)
    inputs = (a[0], *scales, right, _scalar(0.03), _zero(2, np.int8), bias, _scalar(0.9), _zero(99))
    yield Case("QGemm", "QGemm", inputs, steps=1)
    gates = _whole(1, 4, 24), _whole(1, 6, 24, seed=1), _numbers(1, 48, scale=0.1)
    points = [np.array([each]) for each in (_scalar(0.01), _zero(128), _scalar(0.01), _zero(120))]
    inputs = (_numbers(5, 2, 4), *gates, *(None,) * 4, *points)
    case = Case("lstm", "DynamicQuantizeLSTM", inputs, {"hidden_size": 6}, 3, (1, 2, 8, 9, 10, 11))
    case.tolerance = 0.02  # onnxruntime also rounds the input and the state.
    yield case
    inputs = (
        _whole(2, 6, 16),
        _whole(16, 24, dtype=np.int8, low=-128, high=128),
        _numbers(24, scale=0.2),
        *(_scalar(0.01), _scalar(0.004)),
        None,
        *(_zero(128), _zero(0, np.int8)),
    )
    yield Case("QAttention", "QAttention", inputs, {"num_heads": 2}, weights=(1,))


def _cases_of_packed_weights() -> Iterator[Case]:
    x = _numbers(3, 40)
    sizes = {"K": 40, "N": 6, "block_size": 16}
    packed, scales = _whole(6, 3, 8), _numbers(18, scale=0.1)
    yield Case("bits_4", "MatMulNBits", (x, packed, scales), {**sizes, "bits": 4}, weights=(1, 2))
    inputs = (x, packed, scales, _whole(12, seed=4), None, _numbers(6))
    yield Case("bits_4_zeros", "MatMulNBits", inputs, {**sizes, "bits": 4}, weights=(1, 2, 3))
    inputs = (x, _whole(6, 3, 16), scales, _whole(18, seed=5))
    yield Case("bits_8", "MatMulNBits", inputs, {**sizes, "bits": 8}, weights=(1, 2, 3))
    sizes = {"K": 45, "N": 6, "block_size": 16}
    inputs = (_numbers(3, 45), _whole(135), _numbers(17, scale=0.1))
    for kind in (0, 1):
        options = {**sizes, "quant_type": kind}
        yield Case(f"steps_{kind}", "MatMulBnb4", inputs, options, weights=(1, 2))
    table, index = _whole(9, 16), np.array([[3, 8, 0]])
    inputs = (table, index, _numbers(9, 2, scale=0.1), _whole(9, 1, seed=6))
    options = {"bits": 4, "block_size": 16, "gather_axis": 0, "quantize_axis": 1}
    yield Case("gather_bits", "GatherBlockQuantized", inputs, options, weights=(0, 2, 3))


def _cases_of_experts() -> Iterator[Case]:
    x, router = _numbers(2, 3, 8), _numbers(6, 4)
    layers = (_numbers(4, 12, 8), _numbers(4, 12), _numbers(4, 8, 12), _numbers(4, 8))
    options: dict[str, Any] = {"k": 2, "activation_type": "gelu"}
    yield Case("experts", "MoE", (x, router, *layers), options, weights=(2, 3, 4, 5))
    layers = (_numbers(4, 24, 8), None, _numbers(4, 8, 12))
    options = {"k": 3, "activation_type": "swiglu", "swiglu_fusion": 1, "swiglu_limit": 0.7}
    options |= {"activation_alpha": 1.7, "activation_beta": 1.0, "normalize_routing_weights": 1}
    yield Case("experts_swiglu", "MoE", (x, router, *layers), options, weights=(2, 4))
    x, places = _numbers(6, 32), (2, 3, 5, 6)
    packed = _whole(4, 64, 16), _numbers(4, 64, scale=0.02)
    packed = (*packed, None, _whole(4, 32, 32), _numbers(4, 32, scale=0.02))
    options = {"k": 2, "activation_type": "silu", "expert_weight_bits": 4}
    yield Case("experts_4_bits", "QMoE", (x, router, *packed), options, weights=places)
    packed = _whole(4, 64, 16), _numbers(4, 64, 2, scale=0.02)
    packed = (*packed, None, _whole(4, 32, 32), _numbers(4, 32, 4, scale=0.02))
    zeros = (None,) * 4 + (_whole(4, 64, 1, seed=5), _whole(4, 32, 2, seed=6))
    options |= {"block_size": 16}
    places = (*places, 11, 12)
    yield Case("experts_blocks", "QMoE", (x, router, *packed, *zeros), options, weights=places)


def _cases_of_channels_last() -> Iterator[Case]:
    image = _whole(1, 8, 9, 3)
    scales = np.linspace(0.01, 0.03, 6, dtype=np.float32)
    weight = _whole(6, 1, 3, 2, dtype=np.int8, low=-128, high=128), scales, np.zeros(6, np.int8)
    bias = _whole(6, low=-900, high=900, dtype=np.int32)
    inputs = (image, _scalar(0.02), _zero(114), *weight, _scalar(0.1), _zero(127), bias)
    options = {"channels_last": 1, "group": 3, "strides": [2, 1], "pads": [1, 0, 0, 1]}
    places = tuple(range(1, 9))
    yield Case("integers_last", "QLinearConv", inputs, options, weights=places, steps=1)
    options = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 0]}
    yield Case("maxima_last", "NhwcMaxPool", (image,), options)


def _cases_of_regions() -> Iterator[Case]:
    x, images = _numbers(2, 3, 9, 11), np.array([1, 0, 1])
    corners = np.array([[-3, 1, 7, 12], [2, 2.5, 3, 3], [4, 0, 18, 30]], np.float32)
    sizes = {"output_height": 4, "output_width": 3, "spatial_scale": 0.6}
    for mode in ("avg", "max"):
        options = {**sizes, "mode": mode}
        yield Case(f"align_{mode}", "RoiAlign", (x, corners, images), options, domain="")
    numbered = np.concatenate([images[:, None], corners.round()], 1, dtype=np.float32)
    options = {"pooled_shape": [4, 3], "spatial_scale": 0.6}
    yield Case("pool_regions", "MaxRoiPool", (x, numbered), options, domain="")
    inputs = (
        _numbers(2, 4, 7, 9),
        _numbers(6, 2, 3, 2),
        _numbers(2, 24, 4, 8),
        _numbers(6),
        _numbers(2, 12, 4, 8, seed=1),
    )
    options = {"group": 2, "offset_group": 2, "pads": [1, 0, 1, 0], "strides": [2, 1]}
    yield Case("deformed", "DeformConv", inputs, options, domain="")
    inputs = (_numbers(3, 5, 5),)
    yield Case("determinant", "Det", inputs, domain="")


def cases() -> Iterator[Case]:
    """All of them."""
    for made in (
        _cases_of_elements,
        _cases_of_norms,
        _cases_of_attention,
        _cases_of_integers,
        _cases_of_packed_weights,
        _cases_of_experts,
        _cases_of_channels_last,
        _cases_of_regions,
    ):
        yield from made()


def main() -> None:
    """Record what onnxruntime gives."""
    import onnxruntime  # type: ignore[import-not-found]

    found: dict[str, NDArray[Any]] = {}
    for case in cases():
        proto = case.proto()
        session: Any = onnxruntime.InferenceSession(
            proto.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        names = [each.name for each in proto.graph.input]
        results = session.run(None, dict(zip(names, case.arguments, strict=True)))
        for place, each in enumerate(results):
            found[f"{case.name}.{place}"] = each
    np.savez_compressed(RECORD, **found)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
