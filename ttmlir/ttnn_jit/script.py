"""Functions that are compiled to kernels as scripts, which run these kernels on a card."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import FunctionType, ModuleOp, NameLoc, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttmlir.compiler import transform
from ttmlir.dialects.ttnn import GetDeviceOp
from ttmlir.frontend.scripts import ScriptData, write_kernels_script
from ttmlir.ir.rewriting import erase
from ttmlir.mlir.xdsl_internals import retype

if TYPE_CHECKING:
    from ttmlir.runtime.tensor import Array

_CONVERT, _LOWER = "convert-ttnn-to-ttir", "ttir-to-ttmetal-pipeline"


def write_function_script(
    module: ModuleOp,
    path: str | Path,
    options: str,
    names: Sequence[str],
    inputs: Sequence[Array],
    outputs: Sequence[Array],
) -> Path:
    """Write a recorded function as a script of its kernels; returns the script's path.

    `options` are those of the pipeline to kernels, `names` those of the tensors. The script takes
    arrays of the host; in which memory tensors were, it does not say. DiagnosticError for what a
    pass or a script refuses.
    """
    [function] = [op for op in module.ops if isinstance(op, FuncOp)]
    transform(module, _CONVERT)
    _forget_layouts(module)
    for name, argument in zip(names, function.body.block.args, strict=False):
        argument.location = NameLoc(StringAttr(name), argument.location)
    source = function.clone()
    transform(module, f"{_LOWER}{{{options}}}")
    data = ScriptData(source.sym_name.data, inputs, outputs, None, True)
    return write_kernels_script(module, data, path, source)


def _forget_layouts(module: ModuleOp) -> None:
    """Leave shapes and elements of all tensors, and no device."""
    for op in [*module.walk()]:
        if isinstance(op, GetDeviceOp) and not op.results[0].uses:
            erase(op)
            continue
        blocks = [block for region in op.regions for block in region.blocks]
        for value in (*op.results, *(argument for block in blocks for argument in block.args)):
            retype(value, _plain(value.type))
        if isinstance(op, FuncOp):
            inputs, results = op.function_type.inputs.data, op.function_type.outputs.data
            op.function_type = FunctionType.from_lists(
                [_plain(each) for each in inputs], [_plain(each) for each in results]
            )


def _plain(type_: Attribute) -> Attribute:
    if not isinstance(type_, TensorType):
        return type_
    tensor = cast("TensorType[Attribute]", type_)
    return TensorType(tensor.element_type, tensor.get_shape())
