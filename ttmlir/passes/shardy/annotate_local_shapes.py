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

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp, ReturnOp

from ttmlir.dialects.sdy import Mesh, meshes_in
from ttmlir.dialects.ttcore import LocalShapeAttr
from ttmlir.ir.rewriting import refuse_at
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.shardings import (
    Sharding,
    said_of,
    set_argument,
    set_result,
    sharding_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute

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
        known = said_of(function.arg_attrs, index)
        said = _local(function, types.inputs.data[index], sharding_of(argument), meshes)
        if said is None:
            refuse_at(
                function,
                f"Could not compute local sharded shape for argument {index}: tensor sharding is "
                "incompatible with tensor shape.",
            )
        if _LOCAL not in known:
            set_argument(function, index, ttcore__local_shape=said)
    end = block.last_op
    returned = end.operands if isinstance(end, ReturnOp) else ()
    for index, value in enumerate(returned):
        known = said_of(function.res_attrs, index)
        said = _local(function, types.outputs.data[index], sharding_of(value), meshes)
        if said is None:
            refuse_at(
                function,
                f"Could not compute local sharded shape for result {index}: tensor sharding is "
                "incompatible with tensor shape.",
            )
        if _LOCAL not in known:
            set_result(function, index, ttcore__local_shape=said)


def _local(
    function: FuncOp, type_: Attribute, sharding: Sharding | None, meshes: Mapping[str, Mesh]
) -> LocalShapeAttr | None:
    """The part of one device; None if the tensor cannot be cut so."""
    if not isinstance(type_, TensorType):
        refuse_at(function, f"only tensors have a local shape, got {type_}")
    tensor = cast("TensorType[Attribute]", type_)
    shape = tensor.get_shape()
    local = (
        shape if sharding is None else sharding.local_shape(shape, meshes.get(sharding.mesh, {}))
    )
    return None if local is None else LocalShapeAttr(TensorType(tensor.element_type, local))
