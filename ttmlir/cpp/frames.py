"""What stands around the body of a kernel: its headers, and the way in for each processor.

The frames are those of tt-mlir at 880154e3c2 (lib/Conversion/TTKernelToEmitC/TTKernelToEmitC.cpp).
"""

from __future__ import annotations

from collections.abc import Iterable

from ttmlir.cpp.tree import (
    Block,
    Evaluate,
    Function,
    FunctionCall,
    Include,
    Item,
    Name,
    Namespace,
    Position,
    TranslationUnit,
)
from ttmlir.layout.enums import ThreadType

ENTRY = "kernel_main"
"""The function that a kernel is."""

HEADERS = {
    ThreadType.NOC: ("dataflow_api.h",),
    ThreadType.TENSIX: (
        "compute_kernel_api/common.h",
        "compute_kernel_api/tilize.h",
        "compute_kernel_api/untilize.h",
        "compute_kernel_api/eltwise_binary.h",
    ),
    ThreadType.ETHERNET: (),
}
"""Headers that every kernel of a thread type includes."""

_COVERED = {
    ThreadType.NOC: ("compute_kernel_api/cb_api.h",),
    ThreadType.TENSIX: (
        "compute_kernel_api/cb_api.h",
        "compute_kernel_api/pack.h",
        "compute_kernel_api/reg_api.h",
        "dataflow_api.h",
    ),
    ThreadType.ETHERNET: (),
}
"""Headers whose calls come with others: `common.h` includes those of compute kernels, and
`dataflow_api.h` declares the calls for circular buffers, too."""

_EVERYWHERE = ("cstdint", "compile_time_args.h")


def frame(
    body: Block, thread: ThreadType, headers: Iterable[str], position: Position | None
) -> TranslationUnit:
    """The source of a kernel; `headers` are those that declare its calls."""
    covered = (*_COVERED[thread], *_EVERYWHERE)
    paths = dict.fromkeys((*HEADERS[thread], *(each for each in headers if each not in covered)))
    includes = (Include("cstdint", standard=True), *map(Include, paths))
    function = Function(ENTRY, definition=body, position=position)
    items: tuple[Item, ...] = (function,)
    if thread is ThreadType.TENSIX:
        # Each of the three compute processors is compiled from this text, in its own namespace.
        main = Function("MAIN", definition=Block((Evaluate(FunctionCall(Name(ENTRY))),)))
        items = (Namespace("NAMESPACE", (function, main)),)
    return TranslationUnit((*includes, *items), position=position)
