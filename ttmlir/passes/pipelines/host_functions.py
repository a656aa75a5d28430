"""Functions of the host as programs of ttnn, which `.ttnn` files hold in place of machine code.

The host's module holds ttir (`ttmlir.passes.general.cpu_hoist`). Each of its functions is lowered
as one of the device's and becomes a private program of the device's module; calls stay calls of the
host, and a runtime that has no machine code runs the program of that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp

from ttmlir.dialects.ttcore import CpuModuleOp, DeviceModuleOp, DeviceOp
from ttmlir.passes.general.cpu_hoist import DECLARATION, DEFINITION
from ttmlir.passes.general.ttcore_mark_functions_as_forward import FUNCTION_TYPE

if TYPE_CHECKING:
    from xdsl.ir import Operation


def lower_host_functions(module: ModuleOp) -> ModuleOp:
    """The module with the host's functions as private ones of the device's, or itself.

    It stays as it is without functions of the host, or where these are of another dialect than
    ttir. Raises DiagnosticError for what ttnn has no operation for.
    """
    if not _functions_of_host(module):
        return module
    whole = module.clone()
    whole.location = module.location
    device = next(op for op in whole.body.block.ops if isinstance(op, DeviceModuleOp)).module
    for function in _functions_of_host(whole):
        name = function.sym_name.data
        lowered = _lowered(device, function)
        for declared in [op for op in device.body.block.ops if _declares(op, name)]:
            declared.detach()
            declared.drop_all_references()
        device.body.block.add_op(lowered)
    for op in [op for op in whole.body.block.ops if isinstance(op, CpuModuleOp)]:
        op.detach()
        op.drop_all_references()
    return whole


def _functions_of_host(module: ModuleOp) -> list[FuncOp]:
    holders = [op for op in module.body.block.ops if isinstance(op, CpuModuleOp)]
    functions = [op for holder in holders for op in holder.module.body.block.ops]
    is_ttir = all(
        isinstance(op, FuncOp)
        and all(
            isinstance(each, ReturnOp) or each.name.startswith("ttir.")
            for block in op.body.blocks
            for each in block.ops
        )
        for op in functions
    )
    return cast("list[FuncOp]", functions) if is_ttir else []


def _declares(op: Operation, name: str) -> bool:
    return (
        isinstance(op, FuncOp)
        and op.sym_name.data == name
        and op.attributes.get(FUNCTION_TYPE) == StringAttr(DECLARATION)
    )


def _lowered(device: ModuleOp, function: FuncOp) -> FuncOp:
    """The function in ttnn, for the device of a module."""
    from ttmlir.dialects import DIALECTS
    from ttmlir.mlir.context import make_context
    from ttmlir.passes.pipelines.ttir_to_ttnn import (
        TTIRToTTNNCommonPipeline,
        TTNNCommonToRuntimePipeline,
    )

    alone = FuncOp(function.sym_name.data, function.function_type, function.body.clone())
    alone.location = function.location
    machine = [op.clone() for op in device.body.block.ops if isinstance(op, DeviceOp)]
    module = ModuleOp([*machine, alone], attributes=dict(device.attributes))
    module.location = device.location
    context = make_context(DIALECTS)
    common = TTIRToTTNNCommonPipeline(enable_const_eval=False)
    for step in (*common.passes(), *TTNNCommonToRuntimePipeline().passes()):
        if step.applies(module):
            step.run(context, module)
    found = next(
        op
        for op in module.walk()
        if isinstance(op, FuncOp) and op.sym_name.data == function.sym_name.data
    )
    found.detach()
    found.properties["sym_visibility"] = StringAttr("private")
    found.attributes[FUNCTION_TYPE] = StringAttr(DEFINITION)
    return found
