"""The forms of tt-metal's API for kernels: that of 2024, which the table of calls has, and 2026's.

Since 2026 compute kernels are plain `void kernel_main()`, circular buffers are numbers, headers lie
under `api`, and preparing a call no longer configures the processors: that is
`compute_kernel_hw_startup`, once. A call of 2024 is one or several of 2026.

Source: the headers of tt-metal 0.81, tt_metal/hw/inc/api.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from ttmlir.cpp.render import render
from ttmlir.cpp.tree import Braces, Expression, FunctionCall, Name


class KernelApi(Enum):
    """The form in which kernels are written, by the year of tt-metal that compiles it."""

    OF_2024 = "2024"
    OF_2026 = "2026"


@dataclass(frozen=True)
class _Call:
    """A call of 2026: its name, which operands it takes, and which template arguments.

    None stands for those of the call of 2024.
    """

    name: str
    operands: tuple[int, ...] | None = None
    templates: tuple[str, ...] | None = None


def _start(*operands: int, order: tuple[str, ...] = ()) -> _Call:
    return _Call("compute_kernel_hw_startup", operands, order)


_REVERSE = ("SrcOrder::Reverse",)
"""Products of matrices take their first operand as source B."""

_RENAMED = {
    "add_tiles_init": "add_init",
    "copy_block_matmul_partials": "copy_block",
    "copy_tile_init": "copy_init",
    "copy_tile_to_dst_init_short": "copy_init",
    "mm_block_init_short": "matmul_block_init",
    "mm_init_short": "matmul_init",
    "mul_tiles_bcast_scalar_init_short": "mul_bcast_scalar_init",
    "mul_tiles_init": "mul_init",
    "pack_tile_block": "pack_block",
    "sub_tiles_bcast_scalar_init_short": "sub_bcast_scalar_init",
    "sub_tiles_init": "sub_init",
    "transpose_wh_init_short": "transpose_init",
    "transpose_wh_tile": "transpose_tile",
    **{
        f"{op}_bcast_{dim}_init_short": f"{op}_bcast_{dim}_init"
        for op in ("add", "sub", "mul")
        for dim in ("rows", "cols", "scalar")
    },
}

_INT32 = ("DataFormat::Int32",)
_COMPARISONS = ("eq", "ne", "lt", "gt", "le", "ge")

_CALLS: Mapping[str, tuple[_Call, ...]] = {
    **{name: (_Call(late),) for name, late in _RENAMED.items()},
    **{
        f"{name}_int32_{part}": (_Call(f"{name}_int_{part}", templates=_INT32),)
        for name in _COMPARISONS
        for part in ("tile", "tile_init")
    },
    **{
        name: (_Call(name, templates=_INT32),)
        for name in (
            "binary_left_shift_tile",
            "binary_logical_right_shift_tile",
            "binary_right_shift_tile",
            "bitwise_and_binary_tile",
            "bitwise_and_tile",
            "bitwise_or_binary_tile",
            "bitwise_or_tile",
            "bitwise_xor_binary_tile",
            "bitwise_xor_tile",
            "fill_tile_int",
            "left_shift_tile",
            "right_shift_tile",
        )
    },
    "binary_op_init_common": (_start(0, 1, 2),),
    "copy_tile_to_dst_init_short_with_dt": (
        _Call("reconfig_data_format_srca", (0, 1)),
        _Call("copy_init", (1, 2)),
    ),
    **{name: (_Call(name, templates=()),) for name in ("erfc_tile", "erfc_tile_init")},
    "init_bcast": (_start(0, 1, 2), _Call("bcast_init", (0, 1))),
    "init_sfpu": (_start(0, 1), _Call("copy_init", (0,))),
    "logical_not_tile": (_Call("logical_not_tile", templates=("DataFormat::Float16_b",)),),
    "logical_not_tile_int32": (_Call("logical_not_tile", templates=_INT32),),
    "matmul_tiles": (_Call("matmul_tiles", (0, 1, 2, 3, 4)),),
    "mm_block_init": (
        _start(0, 1, 2, order=_REVERSE),
        _Call("matmul_block_init", (0, 1, 3, 4, 5, 6)),
    ),
    "mm_block_init_short_with_dt": (
        _Call("reconfig_data_format_srca", (2, 1)),
        _Call("matmul_block_init", (0, 1, 3, 4, 5, 6)),
    ),
    "mm_init": (_start(0, 1, 2, order=_REVERSE), _Call("matmul_init", (0, 1, 3))),
    "mm_init_short_with_dt": (
        _Call("reconfig_data_format_srca", (2, 1)),
        _Call("matmul_init", (0, 1, 3)),
    ),
    "reduce_uninit": (_Call("reduce_uninit", templates=()),),
    "tilize_uninit_with_dt": (
        _Call("tilize_uninit", (0, 2)),
        _Call("reconfig_data_format_srca", (0, 1)),
    ),
    "transpose_wh_init": (_start(0, 1), _Call("transpose_init", (0,))),
    "unary_bcast_init": (
        _Call("reconfig_data_format", (0, 0), ()),
        _Call("pack_reconfig_data_format", (1,), ()),
        _Call("unary_bcast_init", (0,)),
    ),
    "unary_op_init_common": (_start(0, 1), _Call("copy_init", (0,))),
}
"""What calls of 2024 are in 2026, where it is not the same."""


_HELPERS = Path(__file__).parent / "helpers"
_ENTRY = "void kernel_main() {"


def with_whole_rows(source: str) -> str:
    """A kernel of 2026 whose DST has 32 bits, which spreads rows of 16-bit floats right.

    `unary_bcast` moves them as if DST had 16 bits (tt-llk, llk_math_eltwise_unary_datacopy.h of
    tt-metal 0.81: only UInt16 is treated).
    """
    head, entry, body = source.partition(_ENTRY)
    helper = (_HELPERS / "rows.hpp").read_text(encoding="utf-8")
    return f"{head}{helper}{entry}{body.replace(_SPREADS_ROW, 'spread_row(')}"


_SPREADS_ROW = "unary_bcast<BroadcastType::ROW>("


def calls_of_2026(call: FunctionCall) -> Iterator[FunctionCall]:
    """A call of 2024 in the form of 2026."""
    name = call.callee.text if isinstance(call.callee, Name) else ""
    if name in _REUSES:
        known = _reuse(call, _REUSES[name])
    else:
        known = _exponential(call, name) if name in _EXPONENTIALS else _CALLS.get(name)
    if known is None:
        yield call
        return
    for each in known:
        yield FunctionCall(
            Name(each.name, position=call.callee.position),
            call.arguments if each.operands is None else _pick(call, each.operands),
            call.template_arguments if each.templates is None else tuple(map(Name, each.templates)),
            position=call.position,
        )


def _pick(call: FunctionCall, operands: Sequence[int]) -> tuple[Expression | Braces, ...]:
    """Operands by number; those at the end may be left out in both forms."""
    given = call.arguments
    return tuple(given[each] for each in operands if each < len(given))  # type: ignore[misc]


_REUSES = {
    "binary_dest_reuse_tiles": "reuse_dest_tiles",
    "binary_dest_reuse_tiles_init": "reuse_dest_init",
}
"""Ends of the names of calls that have the name of their operation in 2026."""


def _reuse(call: FunctionCall, end: str) -> tuple[_Call, ...]:
    """`mul_reuse_dest_tiles<side>` for `binary_dest_reuse_tiles<ELWMUL, side>`."""
    kind, side = (render(each) for each in call.template_arguments)
    return (_Call(f"{kind.rpartition('ELW')[2].lower()}_{end}", templates=(side,)),)


_EXPONENTIALS: Mapping[str, tuple[str, ...]] = {
    "exp_tile": ("false", "InputClamping::ClampToNegative", "8", "false"),
    "exp_tile_init": ("0x3F800000", "InputClamping::ClampToNegative", "false"),
}
"""Template arguments after the first that ask for exponentials of 16 bits: no factor, and the last
one says that DST has 16 bits."""


def _exponential(call: FunctionCall, name: str) -> tuple[_Call, ...]:
    """`exp_tile<approx, ...>`: the fast form is asked for by `approx` alone."""
    approx, _, narrow = (*map(render, call.template_arguments), "false", "true", "false")[:3]
    if narrow == "true":
        return (_Call(name, templates=(approx, *_EXPONENTIALS[name])),)
    return (_Call(name, templates=(approx,) if approx == "true" else ()),)


_OF_2024 = "compute_kernel_api/"
_MOVED = {
    "compute_kernel_api.h": "api/compute/compute_kernel_api.h",
    "compute_kernel_api/transpose_wh.h": "api/compute/transpose.h",
    "dataflow_api.h": "api/dataflow/dataflow_api.h",
    "debug/assert.h": "api/debug/assert.h",
    "debug/dprint.h": "api/debug/device_print.h",
    "tensor/tensor_accessor.h": "api/tensor/tensor_accessor.h",
    "tensor/tensor_accessor_args.h": "api/tensor/tensor_accessor_args.h",
    **{
        f"compute_kernel_api/eltwise_unary/bitwise_{name}.h": "api/compute/eltwise_unary/bitwise.h"
        for name in ("and", "or", "xor")
    },
    **{
        f"compute_kernel_api/eltwise_unary/{side}_shift.h": "api/compute/eltwise_unary/shift.h"
        for side in ("left", "right")
    },
}
_COMPARES = "api/compute/eltwise_binary_sfpu.h"
_DECLARED: Mapping[str, tuple[str, ...]] = {
    **{f"{name}_binary_tile": (_COMPARES,) for name in _COMPARISONS},
    **{f"{name}_binary_tile_init": (_COMPARES,) for name in _COMPARISONS},
    "compute_kernel_hw_startup": ("api/compute/compute_kernel_hw_startup.h",),
    "copy_init": ("api/compute/tile_move_copy.h",),
    "reconfig_data_format": ("api/compute/reconfig_data_format.h",),
    "pack_reconfig_data_format": ("api/compute/reconfig_data_format.h",),
    "reconfig_data_format_srca": ("api/compute/reconfig_data_format.h",),
}
"""Headers of calls that others than the call's of 2024 declare, besides that one."""


def headers_of_2026(header: str, calls: Sequence[FunctionCall]) -> Iterator[str]:
    """The headers that declare calls, of which the table's has `header`."""
    yield header_of_2026(header)
    for call in calls:
        if isinstance(call.callee, Name):
            yield from _DECLARED.get(call.callee.text, ())


def header_of_2026(path: str) -> str:
    """Where a header of 2024 lies in 2026."""
    if path.startswith(_OF_2024) and path not in _MOVED:
        return f"api/compute/{path.removeprefix(_OF_2024)}"
    return _MOVED.get(path, path)
