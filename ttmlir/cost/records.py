"""What records of files of 2026 are on a card: one program, where the runtime has several calls.

The runtime computes a normalization by means, differences and products, and the activation of a
product by a call of its own. ttnn has a program for each; estimates are of those.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ttmlir.cost.families.contraction import PACKED
from ttmlir.cost.work import TILE, MatmulConfig, Work, shard_cores
from ttmlir.layout.enums import MemorySpace
from ttmlir.optable import DEFINITIONS
from ttmlir.runtime.binary import Operation, TensorRef, compute_config_of
from ttmlir.runtime.tensor import TensorDesc

Place = Callable[[TensorRef], TensorDesc]
"""Where a tensor is, and how it is stored."""

_APPROXIMATE = "gelu"
"""The activation that ttnn's products compute by its fast form when it is named by a word."""
_FUNCTIONS = {"Relu6": "clamp", "LogicalNotUnary": "logical_not", "Recip": "reciprocal"}
_KINDS = {
    each.flatbuffer.kind: each.mnemonic
    for each in DEFINITIONS.values()
    if each.flatbuffer is not None and each.family.is_elementwise
}


def find_work(record: Operation, place: Place) -> Work | None:
    """The one program of a record; None where the calls of the runtime say what is done."""
    reader = _READERS.get(record.table)
    return None if reader is None else reader(record, place)


def _fields(record: Operation, place: Place, *names: str) -> tuple[TensorDesc, ...]:
    present = (name for name in names if record.optional_field(name) is not None)
    return tuple(place(record.tensor(name)) for name in present)


def _make(
    record: Operation,
    mnemonic: str,
    operands: tuple[TensorDesc, ...],
    output: TensorDesc,
    *,
    parameters: Mapping[str, Any] | None = None,
    activations: tuple[str, ...] = (),
    matmul: MatmulConfig | None = None,
) -> Work:
    config = compute_config_of(record.optional_field("compute_config"))
    return Work(
        mnemonic=mnemonic,
        operands=operands,
        output=output,
        parameters=parameters or {},
        fidelity=None if config is None else config.math_fidelity,
        wide_sums=config is not None and bool(config.fp32_dest_acc_en),
        activations=activations,
        matmul=matmul or MatmulConfig(),
    )


def _product(record: Operation, place: Place) -> Work | None:
    a, b, *bias = _fields(record, place, "a", "b", *_bias(record))
    out = record.tensor("out").desc
    if min(len(a.shape), len(b.shape)) < 2 or any(_rows(each) != 1 for each in bias):
        return None
    activation = str(record.scalar("activation") or "")
    matmul = MatmulConfig(activation=activation, approximate=activation == _APPROXIMATE)
    plan = record.optional_field("matmul_program_config")
    if (
        plan is not None
        and b.memory_space is MemorySpace.DEVICE_DRAM
        and b.memory_layout.is_sharded
    ):
        grid, depth = (1, shard_cores(b)), int(plan["in0_block_w"])
        matmul = replace(matmul, grid=grid, block_depth=depth, at_banks=True)
    if record.scalar("transpose_a"):
        a = _transposed(a)
    if record.scalar("transpose_b"):
        b = _transposed(b)
    return _make(record, "matmul", (a, b, *bias), out, matmul=matmul)


def _bias(record: Operation) -> tuple[str, ...]:
    return ("bias",) if record.table == "LinearOp" else ()


def _rows(desc: TensorDesc) -> int:
    return desc.volume // desc.shape[-1] if desc.shape and desc.shape[-1] else 0


def _transposed(desc: TensorDesc) -> TensorDesc:
    *outer, rows, columns = desc.shape
    return replace(desc, shape=(*outer, columns, rows))


def convolution_config(record: Operation) -> MatmulConfig:
    """How a convolution is cut: its activation, and rows of its blocks, if it says so."""
    config = record.optional_field("conv2d_config")
    if config is None:
        return MatmulConfig()
    table, height = config["activation"], config["act_block_h_override"] or 0
    kind = "Identity" if table is None else table["op_type"]
    activation = "" if kind == "Identity" else _function(kind)
    return MatmulConfig(activation=activation, block_rows=height // TILE or None)


def convolution_operands(record: Operation, place: Place) -> tuple[TensorDesc, ...]:
    """The image, the weight and the bias as the library takes them."""
    return _fields(record, place, "input", "weight", "bias")


def _convolution(record: Operation, place: Place) -> Work | None:
    """A convolution whose margins differ, which the runtime pads itself; others are one call."""
    padding = [int(each) for each in record.numbers("padding")]
    if len(padding) != 4 or padding[0::2] == padding[1::2]:
        return None
    told = ("in_channels", "out_channels", "input_width", "groups")
    parameters = {name: record.scalar(name) for name in told}
    for name, field in (("kernel", "kernel_size"), ("stride", "stride"), ("dilation", "dilation")):
        extents = zip(("height", "width"), record.numbers(field), strict=True)
        parameters |= {f"{name}_{side}": extent for side, extent in extents}
    operands = convolution_operands(record, place)
    out, matmul = record.tensor("out").desc, convolution_config(record)
    return _make(record, "conv2d", operands, out, parameters=parameters, matmul=matmul)


def _pool(record: Operation, place: Place) -> Work | None:
    """A pool of the largest numbers whose margins differ, which the runtime pads itself."""
    padding = [int(each) for each in record.numbers("padding")]
    uneven = len(padding) == 4 and padding[0::2] != padding[1::2]
    if not uneven or record.enumerator("type") != "MaxPool2d":
        return None
    height, width = record.numbers("kernel_size")
    parameters = {"kernel_height": height, "kernel_width": width}
    parameters["input_width"] = record.scalar("input_width")
    operands, out = _fields(record, place, "in"), record.tensor("out").desc
    return _make(record, "max_pool2d", operands, out, parameters=parameters)


def _norm(mnemonic: str) -> Callable[[Operation, Place], Work | None]:
    def read(record: Operation, place: Place) -> Work | None:
        operands = _fields(record, place, "input", "weight", "bias")
        return _make(record, mnemonic, operands, record.tensor("out").desc)

    return read


def _attention(record: Operation, place: Place) -> Work | None:
    operands = _fields(record, place, "query", "key", "value", "attention_mask")
    parameters = {"is_causal": bool(record.scalar("is_causal"))}
    out = record.tensor("out").desc
    return _make(record, "scaled_dot_product_attention", operands, out, parameters=parameters)


def _rotation(record: Operation, place: Place) -> Work | None:
    operands = _fields(record, place, "input", "cos_cache", "sin_cache")
    return _make(record, "rotary_embedding", operands, record.tensor("out").desc)


def _decode(record: Operation, place: Place) -> Work | None:
    """Attention of one position of each sequence, whose heads share keys in groups of rows."""
    query, key, value, *masks = _fields(record, place, *("query", "key", "value", "attention_mask"))
    if min(len(each.shape) for each in (query, key)) < 4 or not key.shape[1]:
        return None
    _, users, heads, size = query.shape
    if record.optional_field("page_table") is not None:
        # The pages of a sequence are read as if they lay side by side.
        count = record.tensor("page_table").desc.shape[-1] * key.shape[2]
        key, value = (
            replace(each, shape=(users, *each.shape[1:2], count, size)) for each in (key, value)
        )
    rows = -(-heads // key.shape[1])
    grouped = replace(query, shape=(users, key.shape[1], rows, size))
    masks = [replace(each, shape=(users, 1, rows, key.shape[2])) for each in masks]
    chunk = _chunk_of(key.shape[2])
    parameters = {"is_causal": False, "k_chunk": chunk}
    out = replace(record.tensor("out").desc, shape=grouped.shape)
    operands = (grouped, key, value, *masks)
    return _make(record, "scaled_dot_product_attention", operands, out, parameters=parameters)


def _chunk_of(positions: int) -> int:
    """Rows of keys that ttnn's attention of one position takes at once, if it is not told: the
    largest power of two that divides them, up to 512."""
    return min(512, positions & -positions) or 1


def _movement(mnemonic: str, source: str, *parameters: str) -> Callable[[Operation, Place], Work]:
    """Tiles, or rows, that are moved."""

    def read(record: Operation, place: Place) -> Work:
        operands, out = (place(record.tensor(source)),), record.tensor("out").desc
        given = {name: record.scalar(name) for name in parameters}
        return Work(mnemonic=mnemonic, operands=operands, output=out, parameters=given)

    return read


def _binary(record: Operation, place: Place) -> Work | None:
    fields = ("input_tensor_a_activations", "input_tensor_b_activations", "activations")
    kinds = [each["op_type"] for name in fields for each in record.optional_field(name) or ()]
    mnemonic = _KINDS.get(_ENUMERATORS.get(record.enumerator("type"), record.enumerator("type")))
    functions = tuple(_function(kind) for kind in kinds if kind != "Identity")
    if not functions or mnemonic is None:
        return None
    if functions == (PACKED,) and record.optional_field("activations"):
        functions = ()
    operands = _fields(record, place, "lhs", "rhs")
    return _make(record, mnemonic, operands, record.tensor("out").desc, activations=functions)


_ENUMERATORS = {"Divide": "Div", "BitwiseRightShift": "RightShift"}


def _function(kind: str) -> str:
    return _FUNCTIONS.get(kind) or _KINDS.get(kind) or kind.lower()


_READERS: Mapping[str, Callable[[Operation, Place], Work | None]] = {
    **dict.fromkeys(("MatmulOp", "LinearOp"), _product),
    "Conv2dOp": _convolution,
    "Pool2dOp": _pool,
    "LayerNormOp": _norm("layer_norm"),
    "RMSNormOp": _norm("rms_norm"),
    "PagedScaledDotProductAttentionDecodeOp": _decode,
    "RotaryEmbeddingOp": _rotation,
    "ScaledDotProductAttentionDecodeOp": _decode,
    "ScaledDotProductAttentionOp": _attention,
    "BatchNormInferenceOp": _norm("batch_norm_inference"),
    **dict.fromkeys(
        ("ConcatenateHeadsOp", "NLPConcatHeadsOp"), _movement("concatenate_heads", "in")
    ),
    "RepeatInterleaveOp": _movement("repeat_interleave", "input", "dim"),
    "EltwiseBinaryOp": _binary,
}
