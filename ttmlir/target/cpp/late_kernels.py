"""Kernels of 2026 as C++: functions of emitc in the frames of tt-metal of 2026.

A function is what convert-ttkernel-to-emitc makes of a kernel. Around it stand the headers that
declare what it calls. Those of computing calls lie under `api/compute` since 2025, and have the
names that they had before, with a few exceptions (tt-lang 1.1.1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import cast

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ttmlir.dialects.emitc import CallOpaqueOp, VerbatimOp
from ttmlir.layout.enums import ThreadType
from ttmlir.mlir.reporting import OpError
from ttmlir.optable.kernel import CALLS
from ttmlir.target.cpp.emitter import emit_cpp

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

_HELPERS: Mapping[str, str] = {
    "experimental::get_noc_multicast_addr": """
namespace experimental {
template <typename... Places>
FORCE_INLINE uint64_t get_noc_multicast_addr(Places... places) {
  return ::get_noc_multicast_addr(places...);
}
}  // namespace experimental
""",
    "experimental::semaphore_wait": """
namespace experimental {
FORCE_INLINE void semaphore_wait(volatile tt_l1_ptr uint32_t *semaphore, uint32_t value) {
  noc_semaphore_wait(semaphore, value);
}
}  // namespace experimental
""",
    "experimental::semaphore_wait_min": """
namespace experimental {
FORCE_INLINE void semaphore_wait_min(volatile tt_l1_ptr uint32_t *semaphore, uint32_t value) {
  noc_semaphore_wait_min(semaphore, value);
}
}  // namespace experimental
""",
    "ttmlir::dprint": """
namespace ttmlir {
template <typename... Values>
void dprint(Values &&...values) {
  (DPRINT << ... << values);
}
}  // namespace ttmlir
""",
}
"""What calls are in terms of tt-metal, which has no functions of their names."""


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


def _headers(function: FuncOp, thread: ThreadType) -> Iterable[str]:
    known = _compute_headers()
    found = {known[callee] for _, callee in _callees(function) if callee in known}
    if any(isinstance(op, VerbatimOp) and _declares_buffer(op) for op in function.walk()):
        found.add(_BUFFER)
    return sorted({*found, *_HEADERS[thread], _PROFILER})


def _declares_buffer(op: VerbatimOp) -> bool:
    return op.pieces()[0].startswith("experimental::CircularBuffer ")


def _helpers(function: FuncOp) -> str:
    """Definitions of the helpers that a kernel calls."""
    found: dict[str, str] = {}
    for op, callee in _callees(function):
        if callee in _HELPERS:
            found[callee] = _HELPERS[callee]
        elif callee.startswith(("experimental::", "ttmlir::")):
            raise OpError(
                op,
                f"calls '{callee}', a helper that tt-mlir writes into kernels and that is not "
                "known here; ttmlir-translate --mlir-to-cpp writes the function without headers",
            )
    return "".join(found.values())


def late_kernel_text(function: FuncOp, thread: ThreadType) -> str:
    """The source of a kernel that is a function of emitc."""
    includes = "".join(f'#include "{path}"\n' for path in _headers(function, thread))
    helpers = _COMPUTE_HELPERS if thread is ThreadType.TENSIX else ""
    defines = ""
    if _REDUCE in includes:
        # The header takes its defaults from these, which the template arguments replace.
        defines = "#define REDUCE_OP PoolType::SUM\n#define REDUCE_DIM ReduceDim::REDUCE_COL\n"
    body = emit_cpp(ModuleOp([function.clone()]), late=True).lstrip("\n")
    if any(callee.startswith("std::") for _, callee in _callees(function)):
        defines += "#include <algorithm>\n"
    name = re.escape(function.sym_name.data)
    body = re.sub(rf"^void {name}\(\) ", "void kernel_main() ", body, count=1)
    return (
        f"// {function.sym_name.data}\n{defines}#include <cstdint>\n{includes}{helpers}"
        f"{_helpers(function)}{body.rstrip()}\n"
    )
