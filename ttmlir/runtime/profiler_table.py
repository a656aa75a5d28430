"""Operations as rows of tt-metal's table of operations, `ops_perf_results.csv`."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from ttmlir.layout.enums import DataType
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.op_definition import Family
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.timing.report import (
    MISSING,
    PROFILER_COLUMNS,
    TENSOR_COLUMNS,
    tensor_column_names,
)

TILE = 32
_TRAILING_COLUMNS = (
    "METAL TRACE ID",
    "METAL TRACE REPLAY SESSION ID",
    "COMPUTE KERNEL SOURCE",
    "COMPUTE KERNEL HASH",
    "DATA MOVEMENT KERNEL SOURCE",
    "DATA MOVEMENT KERNEL HASH",
    "PM IDEAL [ns]",
    "PM COMPUTE [ns]",
    "PM BANDWIDTH [ns]",
    "PM REQ I BW",
    "PM REQ O BW",
    "LOC",
)


def profiler_csv(
    rows: Iterable[Mapping[str, Any]], most_inputs: int, more_columns: Sequence[str] = ()
) -> str:
    """The table as text; columns without a value are empty."""
    # Readers look at two operands in any case.
    tensors = tensor_column_names(max(2, most_inputs))
    columns = (*PROFILER_COLUMNS, *tensors, *_TRAILING_COLUMNS, *more_columns)
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval=MISSING, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def tensor_columns(inputs: Sequence[TensorDesc], output: TensorDesc | None) -> dict[str, int | str]:
    """The columns of an operation's tensors."""
    columns: dict[str, int | str] = {}
    for k, desc in enumerate(inputs):
        columns |= _columns_of(f"INPUT_{k}", desc)
    if output is not None:
        columns |= _columns_of("OUTPUT_0", output)
    return columns


def _columns_of(prefix: str, desc: TensorDesc) -> dict[str, int | str]:
    # The four columns are the last four dimensions; those further out are folded into W.
    shape = (1,) * (4 - len(desc.shape)) + desc.shape
    logical = (math.prod(shape[:-3]), *shape[-3:])
    padded = logical
    if desc.is_tiled:
        padded = (*logical[:2], *(-(-extent // TILE) * TILE for extent in logical[2:]))
    values = (
        *(f"{whole}[{own}]" for whole, own in zip(padded, logical, strict=True)),
        "TILE" if desc.is_tiled else "ROW_MAJOR",
        data_type_name(desc.data_type),
        _memory_of(desc),
    )
    return {f"{prefix}_{name}": value for name, value in zip(TENSOR_COLUMNS, values, strict=True)}


def _memory_of(desc: TensorDesc) -> str:
    if desc.memory_space.is_system:
        return "HOST"
    kind = desc.memory_layout.keyword.upper()
    return f"DEV_0_{desc.memory_space.keyword.upper()}_{kind}"


def data_type_name(data_type: DataType) -> str:
    """What ttnn calls a format: `BFLOAT16`."""
    return _DATA_TYPES.get(data_type, data_type.schema_name.upper())


_DATA_TYPES = {
    DataType.BF16: "BFLOAT16",
    DataType.F32: "FLOAT32",
    DataType.BFP_BF8: "BFLOAT8_B",
    DataType.BFP_BF4: "BFLOAT4_B",
    DataType.U32: "UINT32",
    DataType.U16: "UINT16",
    DataType.U8: "UINT8",
    DataType.SI32: "INT32",
}

_DEVICE_OPERATIONS = {
    "AccumulationDeviceOperation": "cumsum cumprod",
    "ArgMaxDeviceOperation": "argmax",
    "BatchNormOperation": "batch_norm batch_norm_inference batch_norm_training",
    "ConcatDeviceOperation": "concat",
    "Conv2dDeviceOperation": "conv1d conv2d conv_transpose2d",
    "CopyDeviceOperation": "to_memory_config",
    "EmbeddingsDeviceOperation": "embedding",
    "GatherDeviceOperation": "gather",
    "GroupNormDeviceOperation": "group_norm",
    "LayerNormDeviceOperation": "layer_norm rms_norm",
    "MatmulDeviceOperation": "matmul linear",
    "NLPConcatHeadsDeviceOperation": "concatenate_heads nlp_concat_heads",
    "NlpCreateHeadsDeviceOperation": "split_query_key_value_and_split_heads",
    "PadDeviceOperation": "pad",
    "PermuteDeviceOperation": "permute",
    "Pool2D": "max_pool2d avg_pool2d",
    "ProdNcDeviceOperation": "prod",
    "ReduceDeviceOperation": "sum mean max min global_avg_pool2d",
    "RepeatDeviceOperation": "repeat repeat_interleave",
    "ReshapeViewDeviceOperation": "reshape",
    "RotaryEmbeddingDeviceOperation": "rotary_embedding rotary_embedding_llama",
    "SDPAOperation": "scaled_dot_product_attention",
    "ScatterDeviceOperation": "scatter",
    "SdpaDecodeDeviceOperation": "scaled_dot_product_attention_decode",
    "SliceDeviceOperation": "slice slice_static slice_dynamic",
    "SoftmaxDeviceOperation": "softmax",
    "SortDeviceOperation": "sort",
    "TernaryDeviceOperation": "where clamp_tensor",
    "TopKDeviceOperation": "topk",
    "TransposeDeviceOperation": "transpose",
    "TypecastDeviceOperation": "typecast",
    "UnaryDeviceOperation": "clamp clamp_scalar",
    "UpdateKVCacheOperation": "update_cache fill_cache",
    "UpsampleOperation": "upsample",
}
"""What the library's kernels are called in a profile, by names of operations in the IR.

Source: the graphs that ttnn 0.81.1 captures of calls.
"""


def device_operation(name: str, output: TensorDesc | None = None) -> str:
    """What a profile calls an operation of the IR, such as `ttnn.exp`: `UnaryDeviceOperation`.

    Changes of layout have names by their result.
    """
    mnemonic = name.partition(".")[2]
    if mnemonic == "to_layout" and output is not None:
        return _layout_change(output)
    return _named(mnemonic)


def _layout_change(output: TensorDesc) -> str:
    is_whole = all(extent % TILE == 0 for extent in output.shape[-2:])
    if output.is_tiled:
        return f"Tilize{'' if is_whole else 'WithValPadding'}DeviceOperation"
    return f"Untilize{'' if is_whole else 'WithUnpadding'}DeviceOperation"


@cache
def _named(mnemonic: str) -> str:
    for known, mnemonics in _DEVICE_OPERATIONS.items():
        if mnemonic in mnemonics.split():
            return known
    definition = DEFINITIONS.get(mnemonic)
    family = None if definition is None else definition.family
    if family is Family.UNARY:
        return "UnaryDeviceOperation"
    if family is Family.BINARY:
        return "BinaryNgDeviceOperation"
    return "".join(map(str.capitalize, mnemonic.split("_"))) + "DeviceOperation"
