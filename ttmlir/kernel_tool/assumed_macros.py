"""Macros that host programs pass to kernels, and what they are taken as where nobody gives them.

Only names that a kernel does not compile without are defined: one that asks `#ifdef BCAST_OP`, and
nothing else, gets none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class MacroDefault:
    """What a macro is taken as, and for what kernels a host program passes it."""

    value: str
    purpose: str


_REDUCING = "reductions"
_ELTWISE = "elementwise kernels of two operands"
_BCAST = "kernels that broadcast an operand"
_CHAIN = "functions behind or before the operation of a kernel"
_BINARY = "elementwise kernels that compute in DST"
_TERNARY = "kernels of three operands"

_SPREADING = "kernels that spread an element, a row or a column over its tile"
_SPREAD = {
    f"FILL_TILE_WITH_FIRST_{part}{operand}": MacroDefault(
        f"fill_tile_with_first_{part.lower()}_bfloat16", _SPREADING
    )
    for part in ("ELEMENT", "ROW", "COLUMN")
    for operand in ("", "_B", "_C")
}

MACRO_DEFAULTS: Mapping[str, MacroDefault] = {
    "REDUCE_OP": MacroDefault("PoolType::SUM", _REDUCING),
    "REDUCE_DIM": MacroDefault("ReduceDim::REDUCE_ROW", _REDUCING),
    "REDUCE_GRANULARITY": MacroDefault("1", "attention"),
    "LOG2_REDUCE_GRANULARITY": MacroDefault("0", "attention"),
    "SUB_EXP_GRANULARITY": MacroDefault("1", "attention"),
    "LOG2_SUB_EXP_GRANULARITY": MacroDefault("0", "attention"),
    "STATS_GRANULARITY": MacroDefault("1", "attention"),
    "LOG2_STATS_GRANULARITY": MacroDefault("0", "attention"),
    "DHT_GRANULARITY": MacroDefault("1", "attention"),
    "LOG2_DHT_GRANULARITY": MacroDefault("0", "attention"),
    "EXP_APPROX": MacroDefault("false", "attention"),
    "ELTWISE_OP": MacroDefault("add_tiles", _ELTWISE),
    "ELTWISE_OP_TYPE": MacroDefault("EltwiseBinaryType::ELWADD", _ELTWISE),
    "BINARY_OP": MacroDefault("add_tiles", _ELTWISE),
    "BINARY_OP_TYPE": MacroDefault("EltwiseBinaryType::ELWADD", _ELTWISE),
    "BCAST_OP": MacroDefault("add_tiles_bcast", _BCAST),
    "BCAST_LLKOP": MacroDefault("EltwiseBinaryType::ELWADD", _BCAST),
    "BCAST_DIM": MacroDefault("BroadcastType::COL", _BCAST),
    "BCAST_INPUT": MacroDefault("0", _BCAST),
    "SRC_BCAST": MacroDefault("1", _BCAST),
    **_SPREAD,
    "TYPECAST_LLK_INIT": MacroDefault("typecast_tile_init<5u, 0u>", "bf16 that becomes f32"),
    "TYPECAST_LLK": MacroDefault("typecast_tile<5u, 0u>", "bf16 that becomes f32"),
    "BINARY_SFPU_INIT": MacroDefault("add_binary_tile_init();", _BINARY),
    "BINARY_SFPU_OP": MacroDefault("add_binary_tile", _BINARY),
    "TERNARY_SFPU_OP_INIT": MacroDefault("where_tile_init", _TERNARY),
    "TERNARY_SFPU_OP_FUNC": MacroDefault("where_tile<DataFormat::Float16_b>", _TERNARY),
    "SFPU_OP_CHAIN_0": MacroDefault("", _CHAIN),
    "SFPU_OP_INIT_0": MacroDefault("", _CHAIN),
    "SFPU_OP_FUNC_0": MacroDefault("", _CHAIN),
    "SFPU_OP_INIT_ACTIVATION": MacroDefault("", _CHAIN),
    "SFPU_OP_FUNC_ACTIVATION": MacroDefault("", _CHAIN),
    "SFPU_OP_INIT_PRE_IN0_0": MacroDefault("", _CHAIN),
    "SFPU_OP_FUNC_PRE_IN0_0": MacroDefault("", _CHAIN),
    "SFPU_OP_INIT_PRE_IN1_0": MacroDefault("", _CHAIN),
    "SFPU_OP_FUNC_PRE_IN1_0": MacroDefault("", _CHAIN),
    "PROCESS_LHS_ACTIVATIONS(i)": MacroDefault("", _CHAIN),
    "PROCESS_RHS_ACTIVATIONS(i)": MacroDefault("", _CHAIN),
    "PROCESS_POST_ACTIVATIONS(i)": MacroDefault("", _CHAIN),
    "FP32_DEST_ACC": MacroDefault("false", "accumulation in float32"),
    "ENABLE_FP32_DEST_ACC": MacroDefault("false", "accumulation in float32"),
    "EXP_APPROX_MODE": MacroDefault("false", "attention"),
}
"""By name; a name with parameters is a macro that takes arguments."""

_PASTED = ("BCAST_INPUT",)
"""Macros from whose values other names are made by `##`."""
_WORD = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
_CONDITION = re.compile(r"^\s*#\s*if\s+([A-Z][A-Z0-9_]+)\s*$", re.MULTILINE)
_UNDECLARED = re.compile(r"'(\w+)' is not declared")
"""Errors of texts in which one of two macros declares a variable."""
_QUOTED = re.compile(r"'([A-Z][A-Z0-9_]+)'")
_UNREADABLE = re.compile(r"expected '|.* is not expected here|the text ends too early")
"""Errors of texts that a macro without value, such as `SFPU_OP_CHAIN_0`, makes no C++."""


def find_missing_macros(
    text: str, messages: Iterable[str], defined: Mapping[str, str]
) -> dict[str, str]:
    """The macros of the table that errors of a kernel are about, with their defaults."""
    names = set[str]()
    for each in messages:
        quoted = _QUOTED.findall(each)
        names.update(quoted)
        names.update(name for name in _PASTED if any(name in each for each in quoted))
        if _UNREADABLE.match(each):
            names.update(_WORD.findall(text))
        undeclared = _UNDECLARED.match(each)
        if undeclared is not None and re.search(rf"\b{undeclared[1]}\s*=", text):
            names.update(_CONDITION.findall(text))
    known = {each.partition("(")[0] for each in defined}
    return {
        name: each.value
        for name, each in MACRO_DEFAULTS.items()
        if (bare := name.partition("(")[0]) in names and bare not in known
    }
