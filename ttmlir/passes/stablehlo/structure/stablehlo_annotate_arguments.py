"""Say of the arguments and results of functions what they are on the devices of a mesh.

Before:

    func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      return %a : tensor<5x7xf32>
    }

After:

    module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
      func.func @main(%arg0: tensor<5x7xf32>
          {ttcore.argument_type = #ttcore.argument_type<input>,
          ttcore.local_shape = #ttcore<local_shape local_shape = tensor<5x7xf32>>,
          ttcore.shard_status = #ttcore.shard_status<unsharded>}) ->
          (tensor<5x7xf32>
          {ttcore.local_shape = #ttcore<local_shape local_shape = tensor<5x7xf32>>,
          ttcore.shard_status = #ttcore.shard_status<presharded>}) {
        return %arg0 : tensor<5x7xf32>
      }
    }

Requires: nothing.
Ensures: arguments of public functions have a type, and they and their results the shape that one
device has; the module names the mesh. The body of a `sdy.manual_computation` stands where that
stood.
Options: none.
Not done here: regions for several devices are refused (`stablehlo-mesh-borders`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    DictionaryAttr,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument

from ttmlir.dialects.sdy import count_devices
from ttmlir.dialects.sdy_canonical import enter, is_for_one_device
from ttmlir.dialects.ttcore import ArgumentTypeAttr, LocalShapeAttr, MeshesAttr, ShardStatusAttr
from ttmlir.ir.rewriting import refuse, replace, symbol_visibility
from ttmlir.layout.enums import ArgumentType, ShardStatus
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class StableHLOAnnotateArgumentsPass(ModulePass):
    """Say of arguments and results what they are on the devices of a mesh."""

    name = "stablehlo-annotate-arguments"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Annotate all functions."""
        _enter_regions(module)
        _ = module.attributes.setdefault("ttcore.meshes", MeshesAttr((("mesh", (1, 1)),)))
        is_program = "mhlo.num_partitions" in module.attributes
        for function in module.ops:
            if not isinstance(function, FuncOp):
                continue
            _take_marks(function)
            types = function.function_type
            status = ShardStatus.UNSHARDED if is_program else ShardStatus.PRESHARDED
            is_private = symbol_visibility(function) == "private"
            if not is_private and function.body.blocks and (end := function.body.block.last_op):
                # What returns was put around the body when the program was divided.
                end.location = UNKNOWN_LOC
            given = _annotate(types.inputs.data, function.arg_attrs, _ARGUMENT)
            function.arg_attrs = given
            more = {} if is_private else {_STATUS: ShardStatusAttr(status)}
            function.res_attrs = _annotate(types.outputs.data, function.res_attrs, more)


def _enter_regions(module: ModuleOp) -> None:
    for op in [op for op in module.walk() if op.name == "sdy.manual_computation"]:
        if not is_for_one_device(op):
            refuse(op, f"is for {count_devices(module)} devices; programs are compiled for one")
        enter(op)


_STATUS = "ttcore.shard_status"
_TYPE = "ttcore.argument_type"
_ARGUMENT: dict[str, Attribute] = {
    _TYPE: ArgumentTypeAttr(ArgumentType.INPUT),
    _STATUS: ShardStatusAttr(ShardStatus.UNSHARDED),
}
_MARK = "tt.mark_argument"


def _take_marks(function: FuncOp) -> None:
    """Let arguments have what calls of `tt.mark_argument` say of them."""
    for op in [op for op in function.walk() if op.name == "stablehlo.custom_call"]:
        (value, *_) = [*op.operands, None]
        target = op.properties.get("call_target_name")
        if not isinstance(target, StringAttr) or target.data != _MARK:
            continue
        if not isinstance(value, BlockArgument) or value.owner is not function.body.block:
            continue
        words = op.attributes.get("mhlo.frontend_attributes")
        marks = dict(words.data) if isinstance(words, DictionaryAttr) else {}
        kind = marks.get(_TYPE)
        if isinstance(kind, StringAttr):
            marks[_TYPE] = ArgumentTypeAttr(_KINDS[kind.data])
        count = len(function.function_type.inputs.data)
        own = function.arg_attrs
        given = [*own.data] if own is not None else [DictionaryAttr({})] * count
        given[value.index] = DictionaryAttr({**given[value.index].data, **marks})
        function.arg_attrs = ArrayAttr(given)
        replace(op, value)


_KINDS = {kind.keyword: kind for kind in ArgumentType}


def _annotate(
    types: Sequence[Attribute],
    known: ArrayAttr[DictionaryAttr] | None,
    more: Mapping[str, Attribute],
) -> ArrayAttr[DictionaryAttr]:
    own = known.data if known is not None else [DictionaryAttr({})] * len(types)
    found: list[DictionaryAttr] = []
    for type_, attributes in zip(types, own, strict=True):
        entries = {**more, **attributes.data}
        if isinstance(type_, TensorType):
            tensor = cast("TensorType[Attribute]", type_)
            entries["ttcore.local_shape"] = LocalShapeAttr(tensor)
        found.append(DictionaryAttr(dict(sorted(entries.items()))))
    return ArrayAttr(found)
