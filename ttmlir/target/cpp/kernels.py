"""The kernels of a module as C++: what `ttmlir-translate --ttkernel-to-cpp` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ttmlir.dialects import ttmetal
from ttmlir.dialects.definition.names import KERNEL_THREAD
from ttmlir.dialects.ttkernel import (
    EthernetConfigAttr,
    NocConfigAttr,
    TensixConfigAttr,
    ThreadTypeAttr,
    TTKernelOp,
)
from ttmlir.mlir.files.text_files import DEFAULT_MARKER
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.mlir.reporting.locations import file_line_col
from ttmlir.target.cpp.from_ttkernel import kernel_text


def write_kernels(module: ModuleOp) -> str:
    """The C++ of every kernel: regions of `ttmetal.dispatch`, and functions that are kernels.

    A function is a kernel if it has the attribute `ttkernel.thread`, which says for which
    processor. Several kernels are separated by the marker that `--split-input-file` knows, each
    after a line that says where it comes from. Raises OpError for what is no kernel in C++, and for
    a module without kernels.
    """
    kernels = list(_kernels(module))
    if not kernels:
        raise OpError(
            module,
            "has no kernels: no 'ttmetal.dispatch', and no function with the attribute "
            f"'{KERNEL_THREAD}'; lower the module with --ttir-to-ttmetal-backend-pipeline first",
        )
    if len(kernels) == 1:
        return kernels[0][1]
    return f"{DEFAULT_MARKER}\n".join(f"// {title}\n{text}" for title, text in kernels)


def _kernels(module: ModuleOp) -> Iterator[tuple[str, str]]:
    """Title and text of each kernel in the order of the module."""
    for op in module.walk():
        match op:
            case ttmetal.DispatchOp():
                yield from _dispatch(op)
            case FuncOp() if KERNEL_THREAD in op.attributes:
                yield f"@{op.sym_name.data}", _function(op)
            case FuncOp() if any(isinstance(each, TTKernelOp) for each in op.body.ops):
                raise OpError(
                    op,
                    f"has kernel calls, but no attribute '{KERNEL_THREAD}' with its processor; "
                    "give it #ttkernel.thread<noc>, #ttkernel.thread<tensix> or "
                    "#ttkernel.thread<ethernet>",
                )
            case _:
                pass


def _function(op: FuncOp) -> str:
    thread = op.attributes[KERNEL_THREAD]
    if not isinstance(thread, ThreadTypeAttr):
        raise OpError(op, f"has an attribute '{KERNEL_THREAD}' that is no #ttkernel.thread")
    return kernel_text(op, op.body, thread.data)


def _dispatch(op: Operation) -> Iterator[tuple[str, str]]:
    configs = cast(
        "ArrayAttr[TensixConfigAttr | NocConfigAttr | EthernetConfigAttr]",
        op.properties["kernelConfigs"],
    )
    if len(configs) != len(op.regions):
        raise OpError(op, f"has {len(op.regions)} kernels and {len(configs)} kernelConfigs")
    place = file_line_col(op.location)
    where = "" if place is None else f" at {place.file}:{place.line}:{place.column}"
    for index, (region, config) in enumerate(zip(op.regions, configs, strict=True)):
        title = f"kernel {index} of 'ttmetal.dispatch'{where}, {config.thread_type.keyword}"
        yield title, kernel_text(op, region, config.thread_type)
