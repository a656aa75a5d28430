"""What the files of all kinds of programs take from the module around their operations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from ttmlir.dialects import tt
from ttmlir.dialects.definition.ods import DEVICE_NAME, SYSTEM_DESC
from ttmlir.layout.device import DeviceView
from ttmlir.layout.system import SystemDesc, system_desc_to_table
from ttmlir.mlir.printing import DEFAULT_ELISION_LIMIT, PrintOptions
from ttmlir.mlir.reporting import LocatedError, OpError
from ttmlir.schema import PackError, load_schema
from ttmlir.schema.packer import Packing
from ttmlir.schema.versions import version_stamp
from ttmlir.target.flatbuffer.tensors import FileKind, Table

PRIVATE = StringAttr("private")
"""The visibility of functions that only the module itself calls."""

DEBUG_TEXT = PrintOptions(
    debuginfo=True, elide_larger_than=DEFAULT_ELISION_LIMIT, skip_regions=True
)
"""How the line of an operation is printed that stands in a file for people to read."""
FILE_TEXT_LIMIT = 1024
FILE_TEXT = PrintOptions(
    elide_larger_than=FILE_TEXT_LIMIT, elide_resources_larger_than=8 * FILE_TEXT_LIMIT
)
"""How the module is printed that stands in a file: its numbers are in the file already."""


LATE_FILE_TEXT = replace(FILE_TEXT, debuginfo=True)
"""The same in a file of 2026, which names the places of operations."""


def pack_file(
    module: ModuleOp,
    kind: FileKind,
    programs: Iterable[Table],
    functions: Iterable[Table] = (),
    system: SystemDesc | None = None,
    packing: Packing | None = None,
) -> bytes:
    """Bytes of the file with these programs of a module, and the functions that they call.

    They are for the `system`, by default that which the module names. The module is checked before
    the first of them is asked for, functions before programs. `packing` has what they have packed
    already.
    """
    machine = system_desc_to_table(system_desc_of(module) if system is None else system)
    packing = packing or load_schema(kind.schema).packing()
    try:
        called = [*functions]
        root = version_stamp() | {"system_desc": machine, "programs": [*programs]}
        if called:
            root["functions"] = called
        return packing.finish(root)
    except PackError as error:
        message = f"the module {kind.refused}: {error}"
        raise LocatedError(module.location, message) from error


def system_desc_of(module: ModuleOp) -> SystemDesc:
    """The machine of the first module, from the outside in, that names one."""
    modules = (op for op in module.walk() if isinstance(op, ModuleOp))
    found = (op.attributes.get(SYSTEM_DESC) for op in modules)
    attr = next((each for each in found if isinstance(each, tt.SystemDescAttr)), None)
    if attr is None:
        raise OpError(
            module,
            f"has no attribute '{SYSTEM_DESC}' with the system to run on; "
            "add it with --ttir-load-system-desc",
        )
    return attr.data


def is_of_2026(module: ModuleOp) -> bool:
    """True for a module whose machine is described as since 2026, with its banks of DRAM."""
    found = (op.attributes.get(SYSTEM_DESC) for op in module.walk() if isinstance(op, ModuleOp))
    attr = next((each for each in found if isinstance(each, tt.SystemDescAttr)), None)
    chips = () if attr is None else attr.data.chip_descs
    return any(chip.late is not None and chip.late.dram_grid is not None for chip in chips)


def public_functions(functions: Sequence[FuncOp]) -> list[FuncOp]:
    """The functions that users run."""
    return [op for op in functions if op.sym_visibility != PRIVATE]


def device_of(function: FuncOp, kind: FileKind) -> DeviceView:
    """The device of the nearest operation around a function that has one."""
    op: Operation | None = function
    while op is not None:
        attr: Any = op.attributes.get(DEVICE_NAME)
        if isinstance(attr, tt.DeviceAttr):
            return attr.data
        if isinstance(op, ModuleOp) and (device := _device_operation(op)) is not None:
            return device
        op = op.parent_op()
    raise OpError(
        function,
        f"has no attribute '{DEVICE_NAME}' around it with the device to run on; add it with "
        f"--ttir-implicit-device, or lower the module with {kind.pipeline}",
    )


def _device_operation(module: ModuleOp) -> DeviceView | None:
    """The device that a `ttcore.device` in a module names, as modules have it since 2025."""
    for op in module.body.ops:
        if op.name == "ttcore.device":
            attr: Any = op.properties.get("device_attr")
            return attr.data
    return None


def body_of(function: FuncOp) -> Block:
    """The operations of a function, which are one block."""
    if len(function.body.blocks) != 1:
        count = len(function.body.blocks)
        reason = f"has {count} blocks; a program is one sequence of operations"
        raise OpError(function, "has no body to run" if count == 0 else reason)
    return function.body.blocks[0]
