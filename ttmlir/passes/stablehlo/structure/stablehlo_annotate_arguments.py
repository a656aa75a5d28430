"""Say of the arguments and results of functions what they are on the devices of a mesh.

Before:

    func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      return %a : tensor<5x7xf32>
    }

After:

    ...

Requires: nothing.
Ensures: arguments of public functions have a type, and they and their results the shape that one
device has; the module names the mesh.
Options: none.
Not done here: there is one device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttmlir.dialects.ttcore import ArgumentTypeAttr, LocalShapeAttr, MeshesAttr, ShardStatusAttr
from ttmlir.ir.rewriting import symbol_visibility
from ttmlir.layout.enums import ArgumentType, ShardStatus
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class StableHLOAnnotateArgumentsPass(ModulePass):
    """Say of arguments and results what they are on the devices of a mesh."""

    name = "stablehlo-annotate-arguments"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Annotate all functions."""
        module.attributes["ttcore.meshes"] = MeshesAttr((("mesh", (1, 1)),))
        for function in module.ops:
            if isinstance(function, FuncOp) and symbol_visibility(function) == "public":
                types = function.function_type
                function.arg_attrs = _annotate(types.inputs.data, function.arg_attrs, True)
                function.res_attrs = _annotate(types.outputs.data, function.res_attrs, False)


def _annotate(
    types: Sequence[Attribute], known: ArrayAttr[DictionaryAttr] | None, is_argument: bool
) -> ArrayAttr[DictionaryAttr]:
    own = known.data if known is not None else [DictionaryAttr({})] * len(types)
    found: list[DictionaryAttr] = []
    for type_, attributes in zip(types, own, strict=True):
        more: dict[str, Attribute] = {}
        if is_argument:
            more["ttcore.argument_type"] = ArgumentTypeAttr(ArgumentType.INPUT)
        if isinstance(type_, TensorType):
            tensor = cast("TensorType[Attribute]", type_)
            more["ttcore.local_shape"] = LocalShapeAttr(tensor)
        is_whole = is_argument or "jax.result_info" in attributes.data
        status = ShardStatus.UNSHARDED if is_whole else ShardStatus.PRESHARDED
        more["ttcore.shard_status"] = ShardStatusAttr(status)
        found.append(DictionaryAttr(dict(sorted({**more, **attributes.data}.items()))))
    return ArrayAttr(found)
