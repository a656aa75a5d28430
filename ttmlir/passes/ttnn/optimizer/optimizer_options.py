"""Options by location that only ttnn of 2026 has: configurations of convolutions, and reshards.

`conv1=weights_dtype#bfp_bf8:act_block_h_override#64,conv2=shard_layout#height_sharded` sets fields
of the configurations of the convolutions at these locations; `add_1=0:1` has the operands 0 and 1
of the operation there moved to where its result is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ttmlir.layout.enums import DataType, TTNNTensorMemoryLayout
from ttmlir.mlir.option_values import BOOLEAN, ValueType, read_entries
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.op_definition import Family

if TYPE_CHECKING:
    from ttmlir.layout.enums import KeywordEnum

Configs = tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]
"""Pairs of a location name and the fields there with their values, in the order given."""
Reshards = tuple[tuple[str, tuple[int, ...]], ...]
"""Pairs of a location name and the indices of operands there, in the order given."""

_MAX_NUMBER = (1 << 31) - 1


def _number(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or not 0 <= int(text) <= _MAX_NUMBER:
        raise ValueError("a number is expected")
    return int(text)


def _word(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(f"one of {', '.join(words)} is expected")
        return text

    return parse


def _member(members: tuple[KeywordEnum, ...]) -> Callable[[str], KeywordEnum]:
    by_word = {each.keyword: each for each in members}

    def parse(text: str) -> KeywordEnum:
        return by_word[_word(*by_word)(text)]

    return parse


def _activation(text: str) -> str:
    definition = DEFINITIONS.get(text)
    if definition is None or definition.family is not Family.UNARY:
        raise ValueError("an operation of one tensor is expected, such as relu")
    return text


_DATA_TYPES = (DataType.F32, DataType.BF16, DataType.BFP_BF8, DataType.BFP_BF4)
_SPREADS = (
    TTNNTensorMemoryLayout.HEIGHT_SHARDED,
    TTNNTensorMemoryLayout.WIDTH_SHARDED,
    TTNNTensorMemoryLayout.BLOCK_SHARDED,
)
CONV2D_FIELDS: dict[str, Callable[[str], Any]] = {
    "weights_dtype": _member(_DATA_TYPES),
    "activation": _activation,
    **dict.fromkeys(
        (
            *("deallocate_activation", "reallocate_halo_output", "reshard_if_not_optimal"),
            *("override_sharding_config", "transpose_shards", "enable_act_double_buffer"),
            *("enable_weights_double_buffer", "enable_kernel_stride_folding"),
            "config_tensors_in_dram",
        ),
        BOOLEAN.parse,
    ),
    **dict.fromkeys(("act_block_h_override", "act_block_w_div"), _number),
    "shard_layout": _member(_SPREADS),
    "output_layout": _word("tile", "row_major"),
}
"""Fields of `#ttnn.conv2d_config` that can be given, and how their values are read."""
CONV3D_FIELDS: dict[str, Callable[[str], Any]] = {
    "weights_dtype": _member(_DATA_TYPES),
    **dict.fromkeys(
        tuple(f"{each}_block" for each in ("t_out", "w_out", "h_out", "c_out", "c_in")), _number
    ),
}
"""The same for `#ttnn.conv3d_config`."""


def _split(entry: str) -> tuple[str, str]:
    name, separator, words = entry.rpartition("=")
    if not separator or not name:
        raise ValueError(f"Invalid override format {entry}; give a location and fields, as in a=b")
    return name, words


def _configs_of(fields: dict[str, Callable[[str], Any]], example: str) -> ValueType:
    def parse(text: str) -> Configs:
        return read_entries(text, entry)

    def entry(part: str) -> tuple[str, tuple[tuple[str, Any], ...]]:
        name, words = _split(part)
        found: dict[str, Any] = {}
        for word in words.split(":"):
            field, separator, value = word.partition("#")
            if not separator or field not in fields:
                allowed = ", ".join(f"{each}#" for each in fields)
                raise ValueError(f"Invalid override parameter: {word}; give one of {allowed}")
            if field in found:
                raise ValueError(f"Duplicate {field}: {part}")
            try:
                found[field] = fields[field](value)
            except ValueError as error:
                raise ValueError(f"Invalid {field}: {value}; {error}") from error
        return name, tuple(found.items())

    def form(configs: Configs) -> str:
        return ",".join(
            f"{name}={':'.join(f'{field}#{_spell(value)}' for field, value in chosen)}"
            for name, chosen in configs
        )

    return ValueType(placeholder=f"<name={example},...>", parse=parse, format=form)


def _spell(value: Any) -> str:
    if isinstance(value, bool):
        return BOOLEAN.format(value)
    return str(getattr(value, "keyword", value))


def _parse_reshards(text: str) -> Reshards:
    return read_entries(text, _parse_reshard)


def _parse_reshard(entry: str) -> tuple[str, tuple[int, ...]]:
    name, words = _split(entry)
    indices = tuple(map(_operand_index, words.split(":")))
    return name, tuple(dict.fromkeys(indices))


def _operand_index(text: str) -> int:
    try:
        return _number(text)
    except ValueError as error:
        raise ValueError(f"Invalid operand index: {text}") from error


def _format_reshards(reshards: Reshards) -> str:
    return ",".join(f"{name}={':'.join(map(str, indices))}" for name, indices in reshards)


CONV2D_CONFIGS = _configs_of(CONV2D_FIELDS, "act_block_h_override#64")
CONV3D_CONFIGS = _configs_of(CONV3D_FIELDS, "c_in_block#32")
RESHARDS = ValueType(placeholder="<name=0:1,...>", parse=_parse_reshards, format=_format_reshards)
"""How `insert-memreconfig` is read and written."""
