"""Say of arguments and results what shape the part of one device has.

Before:

    sdy.mesh @mesh = <["x"=1, "y"=2]>
    func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
        -> tensor<64x32xf32> {
      %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
          : tensor<64x32xf32>
      return %0 : tensor<64x32xf32>
    }

After:

    ...
      func.func @main(%arg0: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>,
          ttcore.local_shape = #ttcore<local_shape local_shape = tensor<32x32xf32>>}) ->
          (tensor<64x32xf32>
          {ttcore.local_shape = #ttcore<local_shape local_shape = tensor<32x32xf32>>}) {
        ...

Requires: shardings of arguments and of what is returned; without one a tensor is not spread.
Ensures: each argument and result of a function has a `ttcore.local_shape`.
Options: none.
Not done here: what is known already stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType, UnknownLoc
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import OpResult

from ttmlir.dialects.sdy import Mesh, meshes_in
from ttmlir.dialects.ttcore import LocalShapeAttr
from ttmlir.ir.rewriting import refuse_at
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.spreading.shardings import (
    said_of,
    set_argument,
    set_result,
    sharding_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

_LOCAL = "ttcore.local_shape"


@dataclass(frozen=True)
class AnnotateLocalShapesPass(ModulePass):
    """Say what shape the part of one device has."""

    name = "annotate-local-shapes"
    title = "AnnotateLocalShapesPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Annotate every function with a body."""
        meshes = meshes_in(module)
        for function in [op for op in module.body.block.ops if isinstance(op, FuncOp)]:
            if function.body.blocks:
                _annotate(function, meshes)


def _annotate(function: FuncOp, meshes: Mapping[str, Mesh]) -> None:
    types, block = function.function_type, function.body.block
    for index, argument in enumerate(block.args):
        said = _local(function, f"argument {index}", argument, meshes)
        if _LOCAL not in said_of(function.arg_attrs, index):
            set_argument(function, index, ttcore__local_shape=said)
    end = block.last_op
    returned = end.operands if isinstance(end, ReturnOp) else ()
    assert len(returned) in (0, len(types.outputs)), "functions are verified"
    for index, value in enumerate(returned):
        said = _local(function, f"result {index}", value, meshes)
        if _LOCAL not in said_of(function.res_attrs, index):
            set_result(function, index, ttcore__local_shape=said)


def _local(
    function: FuncOp, what: str, value: SSAValue, meshes: Mapping[str, Mesh]
) -> LocalShapeAttr:
    """The part of one device."""
    type_: Attribute = value.type
    if not isinstance(type_, TensorType):
        refuse_at(function, f"only tensors have a local shape, got {type_}")
    tensor = cast("TensorType[Attribute]", type_)
    shape, sharding = tensor.get_shape(), sharding_of(value)
    if sharding is None:
        return LocalShapeAttr(TensorType(tensor.element_type, shape))
    mesh = meshes.get(sharding.mesh, {})
    local = sharding.local_shape(shape, mesh)
    if local is None:
        refuse_at(
            _place_of(function, value),
            f"Could not compute local sharded shape for {what}: tensor sharding is incompatible "
            f"with tensor shape.{sharding.describe_uneven(shape, mesh)}",
        )
    return LocalShapeAttr(TensorType(tensor.element_type, local))


def _place_of(function: FuncOp, value: SSAValue) -> Operation:
    """Where to say something of an argument or result: functions of models stand in no line."""
    if not isinstance(function.location, UnknownLoc):
        return function
    # What wraps the program, or is put in it by the compiler, stands in no line either.
    while isinstance(value, OpResult):
        op = value.op
        if not isinstance(op.location, UnknownLoc):
            return op
        end = op.regions[0].blocks[-1].last_op if op.name == "sdy.manual_computation" else None
        if end is not None:
            value = end.operands[value.index]
        elif op.operands:
            value = op.operands[0]
        else:
            return op
    return next((use.operation for use in value.uses), function)
