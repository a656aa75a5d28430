"""Kernels of 2026 as C++: functions of emitc in the frames of tt-metal of 2026.

A function is what convert-ttkernel-to-emitc makes of a kernel. Around it stand the headers that
declare what it calls. Those of computing calls lie under `api/compute` since 2025, and have the
names that they had before, with a few exceptions (tt-lang 1.1.1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ttmlir.dialects.emitc import CallOpaqueOp, VerbatimOp
from ttmlir.layout.enums import ThreadType
from ttmlir.mlir.reporting import OpError
from ttmlir.optable.kernel import CALLS
from ttmlir.target.cpp.emitter import emit_cpp
from ttmlir.target.cpp.kernel_api import KernelApi
from ttmlir.target.cpp.late_api import use_installed_api

_HEADERS: Mapping[ThreadType, tuple[str, ...]] = {
    ThreadType.NOC: ("api/dataflow/dataflow_api.h",),
    ThreadType.TENSIX: ("api/compute/common.h", "api/compute/compute_kernel_api.h"),
    ThreadType.ETHERNET: (),
}
"""Headers that every kernel of a thread type includes."""

_PROFILER = "tools/profiler/kernel_profiler.hpp"
_OF_2024 = "compute_kernel_api/"
_MOVED = {
    "tanh_tile": "api/compute/eltwise_unary/trigonometry.h",
    "tanh_tile_init": "api/compute/eltwise_unary/trigonometry.h",
    "ttmlir::dprint": "api/debug/dprint.h",
}
_REDUCE = "api/compute/reduce.h"
_BUFFER = "experimental/circular_buffer.h"

_COMPUTE_HELPERS = """\
inline uint32_t float_to_bits(const float f) { \
uint32_t r; __builtin_memcpy(&r, &f, sizeof(r)); return r; }
#ifndef INFINITY
#define INFINITY __builtin_inff()
#endif
"""


@dataclass(frozen=True)
class _Helper:
    """What tt-metal has no function for: a file in `helpers`, and the headers that it needs."""

    file: str
    calls: tuple[str, ...]
    headers: tuple[str, ...] = ()


_HELPERS = (
    _Helper(
        "fabric.hpp",
        (
            *("close_fabric_connections", "fabric_fast_write_any_len", "fabric_sem_inc"),
            *("fabric_mcast_fast_write_any_len", "fabric_mcast_sem_inc"),
            *("get_device_id_from_logical_mesh_position", "get_my_device_id"),
            *("get_my_logical_mesh_position", "setup_fabric_connections"),
        ),
        (
            "tt_metal/fabric/hw/inc/edm_fabric/routing_plane_connection_manager.hpp",
            "tt_metal/fabric/hw/inc/packet_header_pool.h",
            "tt_metal/fabric/hw/inc/tt_fabric_api.h",
        ),
    ),
    _Helper("masks.hpp", ("fill_arange_tile", "write_col_mask_tile", "write_row_mask_tile")),
    _Helper("multicast.hpp", ("get_noc_multicast_addr",)),
    _Helper("ordering.hpp", ("unpack_stall_on_pack",)),
    _Helper(
        "packing.hpp",
        ("pack_untilize_block",),
        ("api/compute/pack_untilize.h", "api/compute/tile_move_copy.h"),
    ),
    _Helper("places.hpp", ("convert_logical_x_to_translated", "convert_logical_y_to_translated")),
    _Helper("products.hpp", ("matmul_block",), ("api/compute/matmul.h",)),
    _Helper("semaphores.hpp", ("semaphore_wait", "semaphore_wait_min")),
    _Helper("tilizing.hpp", ("tilize_block",), ("api/compute/tilize.h",)),
    _Helper("untilizing.hpp", ("untilize_block",), ("api/compute/untilize.h",)),
)
_PRINTING = _Helper("printing.hpp", ())
_HELPER_OF: Mapping[str, _Helper] = {
    **{f"experimental::{call}": helper for helper in _HELPERS for call in helper.calls},
    **dict.fromkeys(("ttmlir::CBPrinter", "ttmlir::dprint"), _PRINTING),
}
_FOLDER = Path(__file__).parent / "helpers"


@cache
def _compute_headers() -> Mapping[str, str]:
    """The headers of calls that not every kernel includes."""
    found = {
        call.mnemonic: f"api/compute/{call.header.removeprefix(_OF_2024)}"
        for call in CALLS
        if call.header.startswith(_OF_2024)
    }
    return {**found, **_MOVED}


def _callees(function: FuncOp) -> Iterator[tuple[Operation, str]]:
    for op in function.walk():
        if isinstance(op, CallOpaqueOp):
            yield op, cast("StringAttr", op.properties["callee"]).data


def _headers(function: FuncOp, thread: ThreadType, helpers: Iterable[_Helper]) -> Iterable[str]:
    known = _compute_headers()
    found = {known[callee] for _, callee in _callees(function) if callee in known}
    found.update(header for helper in helpers for header in helper.headers)
    if any(isinstance(op, VerbatimOp) and _declares_buffer(op) for op in function.walk()):
        found.add(_BUFFER)
    return sorted({*found, *_HEADERS[thread], _PROFILER})


def _declares_buffer(op: VerbatimOp) -> bool:
    return op.pieces()[0].startswith("experimental::CircularBuffer ")


def _helpers(function: FuncOp) -> list[_Helper]:
    """The helpers that a kernel calls."""
    found: dict[str, _Helper] = {}
    for op, callee in _callees(function):
        helper = _HELPER_OF.get(callee)
        if helper is not None:
            found[helper.file] = helper
        elif callee.startswith(("experimental::", "ttmlir::")):
            raise OpError(
                op,
                f"calls '{callee}', a helper that tt-mlir writes into kernels and that is not "
                "known here; ttmlir-translate --mlir-to-cpp writes the function without headers",
            )
    return list(found.values())


def late_kernel_text(function: FuncOp, thread: ThreadType, api: KernelApi | None = None) -> str:
    """The source of a kernel that is a function of emitc.

    Without `api` in the words of tt-lang 1.1.1; with that of 2026 in those of tt-metal 0.81.
    """
    function = function.clone()
    helpers = _helpers(function)
    if api is KernelApi.OF_2026:
        helpers = [helper for helper in helpers if helper is not _PRINTING]
        found = use_installed_api(function, thread)
        headers = dict.fromkeys((*found, *(h for each in helpers for h in each.headers)))
    else:
        headers = _headers(function, thread, helpers)
    includes = "".join(f'#include "{path}"\n' for path in headers)
    prelude = _COMPUTE_HELPERS if thread is ThreadType.TENSIX else ""
    defines = ""
    if _REDUCE in includes:
        # The header takes its defaults from these, which the template arguments replace.
        defines = "#define REDUCE_OP PoolType::SUM\n#define REDUCE_DIM ReduceDim::REDUCE_COL\n"
    body = emit_cpp(ModuleOp([function]), late=True).lstrip("\n")
    if any(callee.startswith("std::") for _, callee in _callees(function)):
        defines += "#include <algorithm>\n"
    name = re.escape(function.sym_name.data)
    body = re.sub(rf"^void {name}\(\) ", "void kernel_main() ", body, count=1)
    texts = "".join(f"\n{(_FOLDER / each.file).read_text(encoding='utf-8')}" for each in helpers)
    return (
        f"// {function.sym_name.data}\n{defines}#include <cstdint>\n{includes}{prelude}"
        f"{texts}{body.rstrip()}\n"
    )
